//! Stored requests are sent again where that is safe, and only there.

use std::time::Duration;

use tower_outcome::{Code, StoredRequests};
use tower_outcome_core::ledger::State;
use tower_outcome_testkit::{Reply, Step};
use tower_outcome_tools::{Report, Resender};

use crate::support::{Bench, Blind, IGNORED, LOST, http, is, key, order, request};

fn confirmed() -> Report {
    let mut report = Report::default();
    report.confirmed.push(key());
    report.resent.push(key());
    report
}

fn open() -> Report {
    let mut report = Report::default();
    report.open.push(key());
    report
}

fn resent() -> Report {
    let mut report = open();
    report.resent.push(key());
    report
}

#[tokio::test]
async fn a_write_that_was_done_is_replayed_and_not_done_twice() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    bench.let_land();
    assert_eq!(bench.resend().await, confirmed());
    assert_eq!(
        (bench.state().await, bench.billing.commits()),
        (State::Done, 1)
    );
    let again = bench.client();
    let again = again.send(request(&bench.billing, &order())).await;
    is(&again, Code::AlreadyDone);
    let body = again.reply().unwrap().body().bytes().unwrap().clone();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        (&body["id"], &body["amount"]),
        (&"re_1".into(), &1000.into())
    );
}

#[tokio::test]
async fn a_write_that_was_not_done_is_done_once() {
    let bench = Bench::scripted([IGNORED]).await;
    bench.lose().await;
    bench.let_land();
    assert_eq!(bench.resend().await, confirmed());
    assert_eq!(bench.billing.commits(), 1);
    let requests = bench.billing.received();
    assert_eq!(requests[0].key(), requests[1].key());
    assert_eq!(requests[0].body, requests[1].body);
}

#[tokio::test]
async fn nothing_is_sent_again_while_its_owner_may_be_sending() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    assert_eq!(bench.resend().await, open());
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn what_the_profile_does_not_promise_keeps_a_write_from_being_sent_again() {
    for promises in [
        "",
        "retention_s = 86400",
        "stored_failures = 'replay'",
        "retention_s = 86400\nstored_failures = 're_execute'",
        // Five minutes have passed, and the resend has to land.
        "retention_s = 380\nstored_failures = 'replay'",
    ] {
        let bench = Bench::with_profile([LOST], promises).await;
        bench.lose().await;
        bench.let_land();
        assert_eq!(bench.resend().await, open(), "{promises}");
        assert_eq!(bench.billing.received().len(), 1, "{promises}");
    }
    for promises in [
        "retention_s = 400\nstored_failures = 'replay'",
        "retention_s = 'forever'\nstored_failures = 'poison'",
        "retention_s = 86400\nstored_failures = 'redrive'",
        "retention_s = 86400\nstored_failures = 'latest_state'",
    ] {
        let bench = Bench::with_profile([LOST], promises).await;
        bench.lose().await;
        bench.let_land();
        assert_eq!(bench.resend().await, confirmed(), "{promises}");
    }
}

#[tokio::test]
async fn another_account_sends_nothing_again() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    bench.let_land();
    for requests in [
        StoredRequests::new([7; 32]).with_credential("globex"),
        StoredRequests::new([8; 32]).with_credential("acme"),
        StoredRequests::new([7; 32]),
    ] {
        let resender = Resender::new(bench.profile.clone(), requests, http());
        let reconciler = bench.reconciler(Blind).with_resender(resender);
        assert_eq!(reconciler.pass().await.unwrap(), open());
        bench.let_rest();
    }
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_refusal_of_a_resend_is_no_proof_unless_it_speaks_of_the_first() {
    let refused = || Reply::new(400).with_body(r#"{"error":"no such order"}"#);
    let bench = Bench::scripted([IGNORED, Step::AnswerWith(refused())]).await;
    bench.lose().await;
    bench.let_land();
    assert_eq!(bench.resend().await, resent());
    assert_eq!(bench.state().await, State::Unknown);

    let stored = refused().with_header("idempotent-replayed", "true");
    let bench = Bench::scripted([IGNORED, Step::AnswerWith(stored)]).await;
    bench.lose().await;
    bench.let_land();
    let report = bench.resend().await;
    assert_eq!((report.failed, report.resent), (vec![key()], vec![key()]));
    assert_eq!(bench.state().await, State::Failed);
    // Under a key of the next generation it can succeed.
    assert_eq!(bench.refund().await, Code::Done);
    let keys: Vec<_> = bench
        .billing
        .received()
        .iter()
        .map(|it| it.key().map(str::to_owned))
        .collect();
    assert_eq!(keys[0], keys[1]);
    assert_ne!(keys[1], keys[2]);
}

#[tokio::test]
async fn an_error_of_the_provider_changes_nothing() {
    for step in [
        Step::AnswerWith(Reply::new(500)),
        Step::AnswerWith(Reply::new(401)),
        Step::AnswerWith(Reply::new(409)),
        Step::AnswerWith(Reply::new(429)),
        Step::AnswerWith(Reply::new(202)),
        LOST,
    ] {
        let bench = Bench::scripted([LOST, step]).await;
        bench.lose().await;
        let before = bench.entry().await;
        bench.let_land();
        assert_eq!(bench.resend().await, resent());
        let after = bench.entry().await;
        assert_eq!((after.state, after.code), (before.state, before.code));
        assert_eq!(after.generation, before.generation);
        bench.let_rest();
        assert_eq!(bench.resend().await, confirmed());
        assert_eq!(bench.billing.commits(), 1);
    }
}

#[tokio::test]
async fn a_key_that_may_be_forgotten_is_not_sent_again_later_on() {
    let bench = Bench::with_profile(
        [IGNORED, IGNORED],
        "retention_s = 3600\nstored_failures = 'replay'",
    )
    .await;
    bench.lose().await;
    bench.let_land();
    assert_eq!(bench.resend().await, resent());
    bench.clock.advance(Duration::from_hours(1));
    assert_eq!(bench.resend().await, open());
    assert_eq!(bench.billing.commits(), 0);
}
