//! The key travels as metadata, and a ledger answers for it.

use std::time::Duration;

use tower_outcome::{Code, KeyedRetry, MemoryLedger, Outcome, Profile, Stack};
use tower_outcome_testkit::{Billing, ErrorCode, Frames, Reply, Step};

use crate::channel::{Refunds, refund};
use crate::{channel, intent};

fn eager() -> KeyedRetry {
    KeyedRetry::new(3).with_first_delay(Duration::ZERO)
}

fn honouring() -> Stack {
    Stack::new()
        .with_profile(Profile::idempotency_key())
        .with_retry(eager())
}

#[tokio::test]
async fn the_key_is_metadata_and_the_same_on_each_attempt() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenClose, Step::CommitThenReset]);
    let mut client = Refunds::over(&honouring(), channel(&billing.url()));
    let (mut request, watch) = refund();
    request.extensions_mut().insert(intent());
    client.refund(request).await.unwrap();
    assert_eq!(watch.verdict().unwrap().outcome(), Outcome::Ok);

    let received = billing.received();
    assert_eq!(received.len(), 3);
    let keys: Vec<_> = received.iter().map(|it| it.key().unwrap()).collect();
    assert!(keys.iter().all(|key| key.len() == 36 && *key == keys[0]));
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_second_identical_call_gets_the_stored_message_and_sends_nothing() {
    let billing = Billing::start_without_keys().await.unwrap();
    let stack = Stack::new().with_ledger(MemoryLedger::default());
    let mut client = Refunds::over(&stack, channel(&billing.url()));
    let mut answers = Vec::new();
    for code in [Code::Done, Code::AlreadyDone] {
        let (mut request, watch) = refund();
        request.extensions_mut().insert(intent());
        answers.push(client.refund(request).await.unwrap().into_inner());
        assert_eq!(watch.verdict().unwrap().code(), code);
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(billing.received().len(), 1);
}

#[tokio::test]
async fn a_server_that_asks_for_another_pace_or_none_is_heard() {
    let unavailable = |pushback: &str| {
        let reply = Reply::grpc_status(14, "busy").with_header("grpc-retry-pushback-ms", pushback);
        Step::AnswerWith(reply)
    };
    for (pushback, attempts) in [("0", 2), ("-1", 1), ("soon", 1)] {
        let billing = Billing::start().await.unwrap();
        billing.script([unavailable(pushback)]);
        let mut client = Refunds::over(&honouring(), channel(&billing.url()));
        let (mut request, _) = refund();
        request.extensions_mut().insert(intent());
        let answer = client.refund(request).await;
        assert_eq!(answer.is_ok(), attempts == 2, "{pushback}");
        assert_eq!(billing.received().len(), attempts, "{pushback}");
    }
}

#[tokio::test]
async fn what_the_protocol_refused_is_repeated_without_a_key_where_that_is_asked_for() {
    for (retry, attempts) in [(eager(), 1), (eager().with_unsent_retries(), 2)] {
        let billing = Billing::start_without_keys().await.unwrap();
        let refused = Frames::on_head().reset_stream(ErrorCode::REFUSED_STREAM);
        billing.script([Step::Frames(refused)]);
        let stack = Stack::new().with_retry(retry);
        let mut client = Refunds::over(&stack, channel(&billing.url()));
        let (request, watch) = refund();
        let answer = client.refund(request).await;
        assert_eq!(answer.is_ok(), attempts == 2);
        assert_eq!(billing.received().len(), attempts);
        let word = watch.verdict().unwrap().outcome();
        let expected = if attempts == 2 {
            Outcome::Ok
        } else {
            Outcome::Failed
        };
        assert_eq!(word, expected);
    }
}
