//! Law 4: the key of a write is made once.

use tower_outcome::{
    Code, Context, Gate, Intent, KeyFormat, KeyedRetry, MemoryLedger, Profile, RequestExt as _,
    Stack,
};
use tower_outcome_sqlite::SqliteLedger;
use tower_outcome_testkit::{Billing, Refusing, Reply, Step};

use crate::clients::{over_each, write};
use crate::intent;

fn keys(billing: &Billing) -> Vec<String> {
    let received = billing.received();
    received
        .iter()
        .map(|request| request.key().unwrap().to_owned())
        .collect()
}

fn keyed() -> Stack {
    Stack::new()
        .with_profile(Profile::idempotency_key())
        .with_retry(KeyedRetry::new(3).with_first_delay(std::time::Duration::ZERO))
}

#[tokio::test]
async fn law_4_every_attempt_carries_the_same_key_and_bytes() {
    for (client, stack) in over_each(&keyed()) {
        let billing = Billing::start().await.unwrap();
        billing.script([
            Step::AnswerWith(Reply::new(503)),
            Step::CommitThenClose,
            Step::Answer,
        ]);
        let verdict = stack
            .send(write(&billing.url()).with_intent(intent()))
            .await;
        assert_eq!(verdict.code(), Code::Done, "{client}");
        assert_eq!(keys(&billing), [KEY; 3], "{client}");
        let received = billing.received();
        assert!(
            received.iter().all(|it| it.body == received[0].body),
            "{client}"
        );
        assert_eq!(billing.commits(), 1, "{client}");
    }
}

/// Known to every process, on every day: nothing but the intent goes into it.
#[tokio::test]
async fn law_4_the_key_is_the_same_in_every_process() {
    assert_eq!(intent().key().wire(0).render(KeyFormat::Uuid), KEY);
    for (client, stack) in over_each(&keyed()) {
        let billing = Billing::start_without_keys().await.unwrap();
        for _ in 0..2 {
            stack
                .send(write(&billing.url()).with_intent(intent()))
                .await
                .into_json()
                .unwrap();
        }
        assert_eq!(keys(&billing), [KEY; 2], "{client}");
    }
}

#[tokio::test]
async fn law_4_a_claim_after_one_that_sent_nothing_has_the_same_key() {
    for which in 0..2 {
        let stack = keyed().with_ledger(MemoryLedger::default());
        let (client, stack) = over_each(&stack).into_iter().nth(which).unwrap();
        let refusing = Refusing::start().unwrap();
        let verdict = stack
            .send(write(&refusing.url()).with_intent(intent()))
            .await;
        assert_eq!(verdict.code(), Code::ConnectFailed, "{client}");

        let billing = refusing.open().unwrap();
        let verdict = stack
            .send(write(&billing.url()).with_intent(intent()))
            .await;
        assert_eq!(verdict.code(), Code::Done, "{client}");
        assert_eq!(keys(&billing), [KEY], "{client}");
    }
}

/// The provider may have stored its refusal under the first key.
#[tokio::test]
async fn law_4_only_a_proven_refusal_moves_the_key_on() {
    let ledger = format!("{}/law-4.sqlite", env!("CARGO_TARGET_TMPDIR"));
    let _ = std::fs::remove_file(&ledger);
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerWith(Reply::new(422))]);
    for code in [Code::Rejected, Code::Done, Code::AlreadyDone] {
        // Each as a process of its own would open it.
        let stack = keyed().with_ledger(SqliteLedger::open(&ledger).unwrap());
        let [_, (_, stack)] = over_each(&stack);
        let verdict = stack
            .send(write(&billing.url()).with_intent(intent()))
            .await;
        assert_eq!(verdict.code(), code);
    }
    let keys = keys(&billing);
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], KEY);
    assert_ne!(keys[1], KEY);
}

#[tokio::test]
async fn law_4_a_write_of_a_tool_call_made_again_has_its_first_key() {
    for (client, stack) in over_each(&keyed()) {
        let billing = Billing::start_without_keys().await.unwrap();
        let context = Context::new(&intent(), 0, Gate::new());
        for _ in 0..2 {
            let send = context.clone().scope(stack.send(write(&billing.url())));
            send.await.into_json().unwrap();
        }
        let other = context
            .step("other")
            .scope(stack.send(write(&billing.url())));
        other.await.into_json().unwrap();
        let keys = keys(&billing);
        assert_eq!(keys[0], keys[1], "{client}");
        assert_ne!(keys[0], keys[2], "{client}");
    }
}

#[tokio::test]
async fn law_4_another_occurrence_is_another_key() {
    let again = |n| -> Intent { intent().with_occurrence(n) };
    assert_ne!(again(1).key(), intent().key());
    assert_eq!(again(0).key(), intent().key());
}

/// The key of [`intent`] as a provider sees it.
const KEY: &str = "980c0939-a7a2-86ec-8ed6-fbafa2537e4b";
