//! Tools whose rules have several versions, in processes that know different ones.

use std::sync::Arc;

use serde_json::json;
use tower_outcome::{Code, Envelope, Outcome};
use tower_outcome_core::IntentRules;
use tower_outcome_core::ledger::{EntryKey, Ledger as _, State, alias};
use tower_outcome_testkit::{Step, What};
use tower_outcome_tools::{Executor, Operator, Tool};

use crate::claiming::Claiming;
use crate::claims::Handle;
use crate::support::{Bench, SHORT, call, failing, is, order, rejected};

const FORMER: &[u8] = &[1];
const OVERLAP: &[u8] = &[1, 2];
const NEW: &[u8] = &[2];
/// Rules that were taken back.
const BACK: &[u8] = &[2, 1];

/// Versions that know of each other, of the call around and of the one inside.
const PAIRS: [(&[u8], &[u8]); 6] = [
    (FORMER, OVERLAP),
    (OVERLAP, FORMER),
    (OVERLAP, NEW),
    (NEW, OVERLAP),
    (OVERLAP, BACK),
    (BACK, OVERLAP),
];

#[tokio::test]
async fn each_version_answers_with_the_result_of_the_other() {
    for (first, second) in [
        (FORMER, OVERLAP),
        (OVERLAP, FORMER),
        (OVERLAP, NEW),
        (NEW, OVERLAP),
    ] {
        let bench = Bench::start().await;
        let done = run(&bench, first).await;
        is(&done, Outcome::Ok, Code::Done);
        let met = run(&bench, second).await;
        is(&met, Outcome::AlreadyDone, Code::AlreadyDone);
        assert_eq!(met.data(), done.data());
        assert_eq!(met.key(), done.key(), "{first:?}, then {second:?}");
        assert_eq!(bench.billing.received().len(), 1);
    }
}

#[tokio::test]
async fn two_versions_that_run_at_once_send_once() {
    for (first, second) in [(FORMER, OVERLAP), (NEW, OVERLAP), (OVERLAP, FORMER)] {
        let bench = Bench::scripted([Step::CommitThenHold]).await;
        let executor = executor(&bench, first);
        let running = tokio::spawn(async move { executor.run(call("refund")).await });
        let holding = |event: &tower_outcome_testkit::Event| event.what == What::Holding;
        bench.billing.wait_for(holding).await;
        let skipped = run(&bench, second).await;
        is(&skipped, Outcome::Skipped, Code::AlreadyInProgress);
        let status = self::executor(&bench, second).status(&call("refund")).await;
        is(&status, Outcome::Skipped, Code::AlreadyInProgress);
        bench.billing.release();
        let done = running.await.unwrap();
        is(&done, Outcome::Ok, Code::Done);
        assert_eq!(status.key(), done.key());
        assert_eq!(bench.billing.received().len(), 1);
    }
}

#[tokio::test]
async fn what_is_sent_has_the_key_of_the_entry() {
    // Refused, so that the generation moves and each may send.
    let bench = Bench::scripted([rejected(), rejected()]).await;
    run(&bench, OVERLAP).await;
    run(&bench, NEW).await;
    let entry = bench.ledger.read(&key(FORMER)).await.unwrap().unwrap();
    assert_eq!((entry.state, entry.generation), (State::Failed, 2));
    is(&run(&bench, NEW).await, Outcome::Ok, Code::Done);
    let entry = bench.ledger.read(&key(FORMER)).await.unwrap().unwrap();
    let sent = bench.billing.received();
    assert_eq!(sent[2].key(), Some(&*entry.writes[0].wire_key));
    let keys: std::collections::BTreeSet<_> = sent.iter().map(|it| it.key()).collect();
    assert_eq!(keys.len(), 3, "one of each generation");
}

#[tokio::test]
async fn a_doubt_is_told_under_the_key_of_its_entry_and_resolved_there() {
    let bench = Bench::scripted([failing()]).await;
    let doubt = run(&bench, OVERLAP).await;
    is(&doubt, Outcome::Unknown, Code::ServerError);
    for versions in [FORMER, OVERLAP, NEW] {
        let again = run(&bench, versions).await;
        is(&again, Outcome::Unknown, Code::StillConfirming);
        assert_eq!(again.key(), doubt.key(), "{versions:?}");
        let executor = executor(&bench, versions);
        let status = executor.status_of("acme", &key(NEW).key).await;
        is(&status, Outcome::Unknown, Code::StillConfirming);
        assert_eq!(status.key(), doubt.key(), "{versions:?}");
    }
    let operator = Operator::new(bench.ledger.clone());
    let entry = operator.show(&key(NEW)).await.unwrap();
    assert_eq!(entry.key, key(FORMER));
    operator
        .resolve_done(&entry, None, "mia", "it is in the dashboard")
        .await
        .unwrap();
    let status = executor(&bench, NEW).status(&call("refund")).await;
    is(&status, Outcome::AlreadyDone, Code::ResultOmitted);
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn an_alias_without_an_entry_leads_to_the_one_that_is_to_come() {
    let bench = Bench::start().await;
    let overlap = rules(OVERLAP).intent("acme", &order()).unwrap();
    alias::place(&*bench.ledger, &overlap).await.unwrap();
    // The process that placed it is gone.
    is(&run(&bench, NEW).await, Outcome::Ok, Code::Done);
    let entry = bench.ledger.read(&key(FORMER)).await.unwrap().unwrap();
    assert_eq!(entry.state, State::Done);
    is(
        &run(&bench, FORMER).await,
        Outcome::AlreadyDone,
        Code::AlreadyDone,
    );
}

/// The worker derives another key than the one that the gateway has claimed. It is the same call.
#[tokio::test(start_paused = true)]
async fn a_worker_that_knows_another_version_is_a_part_of_the_gateways_call() {
    for (outer, inner) in PAIRS {
        let bench = Bench::start().await;
        let worker = executor(&bench, inner);
        let gateway = Tool::write("refund", move |_| {
            let worker = worker.clone();
            async move { Ok(json!(worker.run(call("refund")).await)) }
        });
        let gateway = bench.executor().with_tool(gateway.with_rules(rules(outer)));
        let started = tokio::time::Instant::now();
        let envelope = gateway.run(call("refund")).await;
        is(&envelope, Outcome::Ok, Code::Done);
        assert_eq!(
            envelope.data()["code"],
            "done",
            "{outer:?} around {inner:?}"
        );
        assert!(started.elapsed() < SHORT, "{outer:?} around {inner:?}");
        assert_eq!(bench.billing.received().len(), 1);
    }
}

#[tokio::test]
async fn a_client_that_knows_another_version_does_not_wait_for_its_tools_claim() {
    for (outer, inner) in PAIRS {
        for same in [true, false] {
            let bench = Bench::start().await;
            let ledger = Arc::clone(&bench.ledger);
            let writer = if same {
                Claiming::new(&bench, ledger)
            } else {
                Claiming::new(&bench, Handle::new(&ledger))
            };
            let writer = Claiming {
                rules: rules(inner),
                ..writer
            };
            let tool = writer.tool().with_rules(rules(outer));
            let executor = bench.executor().with_tool(tool);
            let envelope = executor.run(call("refund")).await;
            is(&envelope, Outcome::Ok, Code::Done);
            assert_eq!(bench.billing.received().len(), 1, "{outer:?} {inner:?}");
        }
    }
}

async fn run(bench: &Bench, versions: &[u8]) -> Envelope {
    executor(bench, versions).run(call("refund")).await
}

fn executor(bench: &Bench, versions: &[u8]) -> Executor {
    let tool = bench.refund().with_rules(rules(versions));
    bench.executor().with_tool(tool).with_patience(SHORT)
}

fn rules(versions: &[u8]) -> IntentRules {
    let rules = versions
        .iter()
        .map(|version| IntentRules::new("refund").with_version(version.to_string()));
    let rules = rules.reduce(|former, rules| rules.succeeding(former));
    rules.expect("there is a version")
}

fn key(versions: &[u8]) -> EntryKey {
    EntryKey::of(&rules(versions).intent("acme", &order()).unwrap())
}
