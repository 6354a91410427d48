//! Answers that come after the caller was told, and those that never come.

use std::time::Duration;

use serde_json::json;
use tower_outcome::{Code, Intent, Outcome, RequestExt as _};
use tower_outcome_core::ledger::State;
use tower_outcome_testkit::{Billing, Step, What};

use crate::clients::{over_each, write};
use crate::ends::Ends as _;
use crate::ledger::Watched;
use crate::{DEADLINE, once};

fn intent() -> Intent {
    Intent::new("acme", "refund", &json!({ "order": "A-1", "amount": 1000 })).unwrap()
}

#[tokio::test]
async fn an_answer_after_the_deadline_settles_the_ledger() {
    for which in 0..2 {
        let ledger = Watched::new();
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::CommitThenHold]);
        let stack = once().with_deadline(DEADLINE).with_ledger(ledger.clone());
        let (client, stack) = over_each(&stack).into_iter().nth(which).unwrap();

        let verdict = stack
            .send(write(&billing.url()).with_intent(intent()))
            .await;
        assert_eq!(verdict.code(), Code::TimeoutAfterSend, "{client}");
        let row = ledger.wait_for(&intent(), State::Unknown).await;
        assert_eq!(row.code, Some(Code::TimeoutAfterSend), "{client}");

        let again = stack
            .send(write(&billing.url()).with_intent(intent()))
            .await;
        assert_eq!(again.code(), Code::StillConfirming, "{client}");

        billing.release();
        ledger.wait_for(&intent(), State::Done).await;
        let again = stack
            .send(write(&billing.url()).with_intent(intent()))
            .await;
        assert_eq!(again.code(), Code::AlreadyDone, "{client}");
        assert_eq!(again.into_json().unwrap()["id"], "re_1", "{client}");
        assert_eq!(billing.received().len(), 1, "{client}");
    }
}

#[tokio::test]
async fn the_hard_limit_closes_the_connection_and_settles_nothing() {
    for which in 0..2 {
        let ledger = Watched::new();
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::CommitThenSilence]);
        let stack = once()
            .with_deadline(DEADLINE)
            .with_hard_limit(Duration::from_millis(200))
            .with_ledger(ledger.clone());
        let (client, stack) = over_each(&stack).into_iter().nth(which).unwrap();

        let verdict = stack
            .send(write(&billing.url()).with_intent(intent()))
            .await;
        assert_eq!(verdict.code(), Code::TimeoutAfterSend, "{client}");
        billing
            .wait_for(|event| event.what == What::ClientClosed)
            .ends()
            .await;

        let again = stack
            .send(write(&billing.url()).with_intent(intent()))
            .await;
        assert_eq!(again.outcome(), Outcome::Unknown, "{client}");
        assert_eq!(billing.commits(), 1, "{client}");
    }
}

#[tokio::test]
async fn an_answer_within_the_deadline_is_not_hurried() {
    for (client, stack) in over_each(&once()) {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::AnswerAfter(Duration::from_millis(50))]);
        let verdict = stack.send(write(&billing.url())).await;
        assert_eq!(verdict.code(), Code::Done, "{client}");
    }
}
