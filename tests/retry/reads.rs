//! A POST that the provider's profile calls a read travels as one, and a GET that it calls a write
//! does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower::retry::RetryLayer;
use tower::{BoxError, Layer as _, ServiceExt as _, service_fn};
use tower_outcome::transport::Wire;
use tower_outcome::{
    Client, Code, Context, Gate, OutcomeBody, Profile, RequestExt as _, Stack, Watch,
};
use tower_outcome_testkit::{Billing, Reply, Step};

use crate::clients::{over_each, write};
use crate::{at_once, intent, profile};

fn searching(attempts: u32) -> Stack {
    let searches = "[[route]]\npaths = '/refunds'\neffect = 'read'";
    Stack::new()
        .with_profile(profile(searches))
        .with_retry(at_once(attempts))
}

#[tokio::test]
async fn its_answer_once_lost_is_a_read_that_failed() {
    for (client, stack) in over_each(&searching(1)) {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::CommitThenClose]);
        let watch = Watch::new();
        let mut request = write(&billing.url());
        request.extensions_mut().insert(watch.clone());
        assert_eq!(
            stack.send(request).await.code(),
            Code::ReadFailed,
            "{client}"
        );
        assert!(watch.call().is_none(), "{client}");
    }
}

#[tokio::test]
async fn it_is_repeated_without_a_key() {
    for (client, stack) in over_each(&searching(3)) {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::AnswerWith(Reply::new(503)), Step::CommitThenClose]);
        let verdict = stack.send(write(&billing.url())).await;
        assert_eq!(verdict.code(), Code::Done, "{client}");
        let received = billing.received();
        assert_eq!(received.len(), 3, "{client}");
        assert!(received.iter().all(|it| it.key().is_none()), "{client}");
    }
}

#[tokio::test]
async fn a_tool_that_only_reads_may_make_it() {
    for (client, stack) in over_each(&searching(1)) {
        let billing = Billing::start_without_keys().await.unwrap();
        let context = Context::new(&intent(), 0, Gate::new()).reads_only();
        let send = context.clone().scope(stack.send(write(&billing.url())));
        assert_eq!(send.await.code(), Code::Done, "{client}");
        assert!(context.writes().is_empty(), "{client}");
    }
}

/// What a GET of `path` comes to where one of two paths writes, and how often it was sent. All
/// answers are lost.
async fn got(path: &str, alone: bool) -> (Option<Code>, usize) {
    let routed = profile("[[route]]\npaths = '/cancel'\neffect = 'write'");
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let provider = service_fn(move |_: Request<OutcomeBody>| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Err::<Response<Full<Bytes>>, _>(BoxError::from("reset")) }
    });
    let request = Request::get(format!("http://acme.test{path}"));
    let request = request.body(OutcomeBody::empty()).unwrap();
    let code = if alone {
        let policy = at_once(3).with_profile(routed);
        let lost = RetryLayer::new(policy).layer(provider).oneshot(request);
        assert!(lost.await.is_err(), "{path}");
        None
    } else {
        let stack = Stack::new().with_profile(routed).with_retry(at_once(3));
        let client = Client::new(stack.layer(Wire::unknown(provider)));
        Some(client.send(request).await.code())
    };
    (code, sent.load(Ordering::SeqCst))
}

#[tokio::test(start_paused = true)]
async fn a_get_that_writes_is_sent_once() {
    assert_eq!(got("/cancel", false).await, (Some(Code::ResponseLost), 1));
    assert_eq!(got("/status", false).await, (Some(Code::ReadFailed), 3));
    assert_eq!(got("/cancel", true).await, (None, 1));
    assert_eq!(got("/status", true).await, (None, 3));
}

/// The first answer is lost, the second comes when the key may have been forgotten in between.
async fn late(profile: Profile) -> Code {
    let mut attempts = 0..;
    let provider = service_fn(move |_: Request<OutcomeBody>| {
        let first = attempts.next() == Some(0);
        async move {
            if first {
                return Err(BoxError::from("reset"));
            }
            tokio::time::sleep(Duration::from_secs(200)).await;
            Ok(Response::new(Full::new(Bytes::from("{}"))))
        }
    });
    let stack = Stack::new()
        .with_deadline(Duration::from_mins(10))
        .with_profile(profile)
        .with_retry(at_once(2));
    let client = Client::new(stack.layer(Wire::unknown(provider)));
    let request = Request::post("http://acme.test/refunds")
        .body("{}")
        .unwrap();
    client.send(request.with_intent(intent())).await.code()
}

#[tokio::test(start_paused = true)]
async fn a_success_that_may_be_a_second_one_is_no_proof() {
    let known_for = |seconds: u32| profile(&format!("retention_s = {seconds}"));
    assert_eq!(late(known_for(200)).await, Code::ConflictAmbiguous);
    assert_eq!(late(known_for(201)).await, Code::Done);
    // Nobody says: the time of the call is taken for it.
    assert_eq!(late(Profile::idempotency_key()).await, Code::Done);
}
