//! The keys of the writes that a tool call makes, over real sockets.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::Request;
use tower_outcome::context::Recorder;
use tower_outcome::{
    Code, Context, Envelope, Gate, Intent, Outcome, OutcomeBody, OutcomeClient, Profile,
    RequestExt as _, Stack,
};
use tower_outcome_core::ledger::{LedgerFuture, WriteRecord};
use tower_outcome_testkit::{Billing, Received, Step};

use crate::clients::over_each;
use crate::{at_once, intent, profile};

fn honoured() -> Stack {
    Stack::new()
        .with_profile(Profile::idempotency_key())
        .with_retry(at_once(1))
}

fn context() -> Context {
    Context::new(&intent(), 0, Gate::new())
}

fn post(billing: &Billing, path: &str, order: &str) -> Request<OutcomeBody> {
    Request::post(format!("{}/{path}", billing.url()))
        .body(format!(r#"{{"order":"{order}","amount":1000}}"#).into())
        .unwrap()
}

async fn send(client: &OutcomeClient, request: Request<OutcomeBody>) -> Envelope {
    client.send(request).await.into_envelope()
}

fn keys(received: &[Received]) -> BTreeSet<&str> {
    received.iter().map(|it| it.key().unwrap()).collect()
}

/// A client that repeats its own POST, as many do, and knows nothing of us.
async fn sdk(client: &OutcomeClient, billing: &Billing) -> Code {
    let mut code = Code::NotSent;
    for _ in 0..4 {
        code = send(client, post(billing, "refunds", "A-1")).await.code();
        if code.outcome().is_done() {
            break;
        }
    }
    code
}

#[tokio::test]
async fn a_post_that_an_sdk_repeats_by_itself_is_one_write() {
    for (client, stack) in over_each(&honoured()) {
        let billing = Billing::start().await.unwrap();
        billing.script([Step::CommitThenClose, Step::CommitThenReset]);
        let context = context();
        let code = context.clone().scope(sdk(&stack, &billing)).await;
        assert!(code.outcome().is_done(), "{client} {code}");
        let received = billing.received();
        assert_eq!((received.len(), keys(&received).len()), (3, 1), "{client}");
        assert_eq!(billing.commits(), 1, "{client}");
        assert_eq!(context.writes().len(), 1, "{client}");
    }
}

#[tokio::test]
async fn a_post_that_an_sdk_repeats_by_itself_leaves_once_where_no_key_counts() {
    for (client, stack) in over_each(&Stack::new()) {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::CommitThenClose]);
        let code = context().scope(sdk(&stack, &billing)).await;
        assert_eq!(code.outcome(), Outcome::Unknown, "{client} {code}");
        assert_eq!(billing.commits(), 1, "{client}");
    }
}

#[tokio::test]
async fn parallel_posts_of_equal_bytes_to_one_route_are_one_write() {
    for (client, stack) in over_each(&honoured()) {
        let billing = Billing::start().await.unwrap();
        let one = || send(&stack, post(&billing, "refunds", "A-1"));
        let both = async { tokio::join!(one(), one()) };
        let (first, second) = context().scope(both).await;
        assert!(first.outcome().is_done(), "{client} {first:?}");
        assert!(second.outcome().is_done(), "{client} {second:?}");
        assert_eq!(keys(&billing.received()).len(), 1, "{client}");
        assert_eq!(billing.commits(), 1, "{client}");
    }
}

#[tokio::test]
async fn of_parallel_posts_of_equal_bytes_one_leaves_where_no_key_counts() {
    for (client, stack) in over_each(&Stack::new()) {
        let billing = Billing::start_without_keys().await.unwrap();
        let one = || send(&stack, post(&billing, "refunds", "A-1"));
        let both = async { tokio::join!(one(), one()) };
        let (first, second) = context().scope(both).await;
        assert_eq!(first.code(), Code::Done, "{client}");
        assert_eq!(second.code(), Code::StillConfirming, "{client}");
        assert_eq!(billing.received().len(), 1, "{client}");
    }
}

/// Takes every write down, but not at once.
struct Slow;

impl Recorder for Slow {
    fn before_send(&self, _: WriteRecord) -> LedgerFuture<'_, ()> {
        Box::pin(async {
            tokio::task::yield_now().await;
            Ok(())
        })
    }
}

#[tokio::test]
async fn of_equal_posts_that_wait_for_their_turn_together_one_leaves_where_no_key_counts() {
    for (client, stack) in over_each(&Stack::new()) {
        let billing = Billing::start_without_keys().await.unwrap();
        let one = || send(&stack, post(&billing, "refunds", "A-1"));
        let both = async { tokio::join!(one(), one()) };
        let context = context().with_recorder(Arc::new(Slow));
        let (first, second) = context.scope(both).await;
        let codes = (first.code(), second.code());
        assert_eq!(codes, (Code::Done, Code::StillConfirming), "{client}");
        assert_eq!(billing.received().len(), 1, "{client}");
    }
}

#[tokio::test]
async fn parallel_posts_of_other_bytes_to_one_route_need_labels() {
    for (client, stack) in over_each(&honoured()) {
        let billing = Billing::start().await.unwrap();
        let one = |order| send(&stack, post(&billing, "refunds", order));
        let both = async { tokio::join!(one("A-1"), one("A-2")) };
        let (first, second) = context().scope(both).await;
        assert_eq!(first.code(), Code::Done, "{client}");
        assert_eq!(second.code(), Code::NotSent, "{client}");
        let told = second.to_json();
        assert!(told.contains("Context::step"), "{client} {told}");
        assert_eq!(billing.received().len(), 1, "{client}");
    }
}

#[tokio::test]
async fn parallel_posts_of_other_bytes_under_labels_are_two_writes() {
    for (client, stack) in over_each(&honoured()) {
        let billing = Billing::start().await.unwrap();
        let context = context();
        let one = |label| {
            let request = post(&billing, "refunds", label);
            context.step(label).scope(send(&stack, request))
        };
        let (first, second) = tokio::join!(one("A-1"), one("A-2"));
        let codes = (first.code(), second.code());
        assert_eq!(codes, (Code::Done, Code::Done), "{client}");
        assert_eq!(keys(&billing.received()).len(), 2, "{client}");
        assert_eq!(billing.commits(), 2, "{client}");
    }
}

/// As after a crash: the same wish, run again from its start.
#[tokio::test]
async fn a_handler_that_takes_another_branch_lends_no_write_the_key_of_another() {
    for (client, stack) in over_each(&honoured()) {
        let billing = Billing::start().await.unwrap();
        let run = |branch: &'static [(&str, &str)]| {
            let (stack, billing) = (&stack, &billing);
            context().scope(async move {
                for (path, order) in branch {
                    send(stack, post(billing, path, order)).await;
                }
            })
        };
        run(&[("refunds", "A-1"), ("notices", "A-1")]).await;
        // The other way round, with a step that was not there, and without one that was.
        run(&[("credits", "A-1"), ("notices", "A-1"), ("refunds", "A-1")]).await;
        run(&[("notices", "A-1")]).await;
        for path in ["refunds", "notices", "credits"] {
            assert_eq!(
                billing.commits_at(&format!("/{path}")),
                1,
                "{client} {path}"
            );
        }
        let received = billing.received();
        assert_eq!((received.len(), keys(&received).len()), (6, 3), "{client}");
    }
}

#[tokio::test]
async fn a_handler_that_sends_other_bytes_on_its_second_run_is_not_told_that_it_failed() {
    let tells = profile("[[rule]]\nmeans = 'mismatch'\nstatus = 422");
    for (client, stack) in over_each(&honoured().with_profile(tells)) {
        let billing = Billing::start().await.unwrap();
        let run = |order| context().scope(send(&stack, post(&billing, "refunds", order)));
        assert_eq!(run("A-1").await.code(), Code::Done, "{client}");
        let second = run("A-2").await;
        assert_eq!(second.code(), Code::KeyConflictUnresolved, "{client}");
        assert_eq!(billing.commits(), 1, "{client}");
    }
}

#[tokio::test]
async fn a_key_that_the_caller_chose_and_the_provider_knows_otherwise_failed() {
    let tells = profile("[[rule]]\nmeans = 'mismatch'\nstatus = 422");
    for (client, stack) in over_each(&honoured().with_profile(tells)) {
        let billing = Billing::start().await.unwrap();
        let chosen = Intent::explicit("acme", "refund", "7").unwrap();
        let run = |order| {
            let request = post(&billing, "refunds", order);
            send(&stack, request.with_intent(chosen.clone()))
        };
        assert_eq!(run("A-1").await.code(), Code::Done, "{client}");
        assert_eq!(run("A-2").await.code(), Code::KeyConflict, "{client}");
    }
}
