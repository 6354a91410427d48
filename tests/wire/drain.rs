//! A process that goes down: what has not left never will, and what has is taken down.

use std::time::Duration;

use serde_json::json;
use tower_outcome::{Code, Intent, Outcome, RequestExt as _, Stack};
use tower_outcome_core::ledger::State;
use tower_outcome_testkit::{Billing, Step, Unreachable};

use crate::clients::{hyper, over_each, write};
use crate::ledger::Watched;
use crate::once;

fn intent() -> Intent {
    Intent::new("acme", "refund", &json!({ "order": "A-1", "amount": 1000 })).unwrap()
}

#[tokio::test]
async fn a_drained_stack_refuses_writes_and_lets_reads_pass() {
    for which in 0..2 {
        let stack = once();
        let (client, service) = over_each(&stack).into_iter().nth(which).unwrap();
        let billing = Billing::start_without_keys().await.unwrap();
        // A connection is open, and nothing would hold the next write back.
        let verdict = service.send(write(&billing.url())).await;
        assert_eq!(verdict.code(), Code::Done, "{client}");

        assert_eq!(stack.drain(PATIENCE).await, 0, "{client}");
        let verdict = service.send(write(&billing.url())).await;
        assert_eq!(verdict.code(), Code::ShuttingDown, "{client}");
        assert_eq!(verdict.outcome(), Outcome::Failed, "{client}");
        assert_eq!(billing.received().len(), 1, "{client}");

        let read = http::Request::get(format!("{}/refunds", billing.url()));
        let verdict = service.send(read.body(()).unwrap()).await;
        assert_eq!(verdict.code(), Code::Done, "{client}");
    }
}

#[tokio::test]
async fn draining_takes_back_what_never_left() {
    let unreachable = Unreachable::start().await.unwrap();
    for which in 0..2 {
        let stack = once();
        let (client, service) = over_each(&stack).into_iter().nth(which).unwrap();
        let sending = service.send(write(&unreachable.url()));
        let draining = async {
            // The write has begun by now: it stands first in the line.
            tokio::task::yield_now().await;
            stack.drain(PATIENCE).await
        };
        let (verdict, left) = tokio::join!(sending, draining);
        assert_eq!(verdict.code(), Code::ShuttingDown, "{client}");
        assert_eq!(left, 0, "{client}");
    }
}

#[tokio::test]
async fn draining_takes_down_what_may_have_left_and_waits_for_its_answer() {
    for which in 0..2 {
        let ledger = Watched::new();
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::CommitThenHold]);
        let stack = once().with_ledger(ledger.clone());
        let (client, service) = over_each(&stack).into_iter().nth(which).unwrap();

        let sending = service.send(write(&billing.url()).with_intent(intent()));
        let draining = async {
            billing.wait_commits(1).await;
            assert_eq!(stack.drain(Duration::ZERO).await, 1, "{client}");
            ledger.wait_for(&intent(), State::Unknown).await;
            billing.release();
            stack.drain(PATIENCE).await
        };
        let (verdict, left) = tokio::join!(sending, draining);
        assert_eq!(verdict.code(), Code::Done, "{client}");
        assert_eq!(left, 0, "{client}");
        ledger.wait_for(&intent(), State::Done).await;
    }
}

#[tokio::test]
async fn a_write_without_a_free_slot_is_refused_before_it_leaves() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let client = Stack::new().with_slots(1).over(hyper());
    let first = client.send(write(&billing.url()));
    let second = async {
        billing.wait_commits(1).await;
        let verdict = client.send(write(&billing.url())).await;
        billing.release();
        verdict
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.code(), Code::Done);
    assert_eq!(second.code(), Code::Overloaded);
    assert_eq!(second.outcome(), Outcome::Failed);
    assert_eq!(billing.received().len(), 1);

    let third = client.send(write(&billing.url())).await;
    assert_eq!(third.code(), Code::Done);
}

const PATIENCE: Duration = Duration::from_secs(20);
