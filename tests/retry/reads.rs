//! A POST that the provider's profile calls a read travels as one, and a GET that it calls a write
//! does not.

use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use tower::retry::RetryLayer;
use tower::{BoxError, Layer as _, Service, ServiceExt as _, service_fn};
use tower_outcome::transport::Wire;
use tower_outcome::{
    Client, Code, Context, Gate, OutcomeBody, Profile, RequestExt as _, Stack, Watch,
};
use tower_outcome_testkit::{Billing, Frames, Reply, Step};

use crate::clients::{over_each, over_each_http2, write};
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

/// An answer that never ends: server-sent events, for instance.
#[tokio::test]
async fn its_answer_is_handed_on_at_its_head() {
    for (client, stack) in over_each_http2(&searching(1)) {
        let billing = Billing::start_without_keys().await.unwrap();
        let begun = Frames::on_commit().start(Reply::new(200).with_body("data: 1"));
        billing.script([Step::Frames(begun)]);
        let verdict = stack.send(write(&billing.url())).await;
        assert_eq!(verdict.code(), Code::Done, "{client}");
        let mut body = verdict.into_reply().unwrap().into_body();
        let first = body.frame().await.unwrap().unwrap();
        assert_eq!(first.into_data().unwrap(), "data: 1", "{client}");
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

/// A provider that loses all answers, and how often it was sent something.
fn losing() -> (Losing, Arc<AtomicUsize>) {
    let sent = Arc::new(AtomicUsize::new(0));
    (Losing(Arc::clone(&sent)), sent)
}

#[derive(Clone)]
struct Losing(Arc<AtomicUsize>);

impl Service<Request<OutcomeBody>> for Losing {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = Ready<Result<Response<Full<Bytes>>, BoxError>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<OutcomeBody>) -> Self::Future {
        self.0.fetch_add(1, Ordering::SeqCst);
        ready(Err("reset".into()))
    }
}

fn to(method: Method, path: &str) -> Request<OutcomeBody> {
    let mut request = Request::new(OutcomeBody::empty());
    *request.method_mut() = method;
    *request.uri_mut() = format!("http://acme.test{path}").parse().unwrap();
    request
}

/// How often the policy alone sends it.
async fn sent_alone(profile: Profile, request: Request<OutcomeBody>) -> usize {
    let (provider, sent) = losing();
    let policy = RetryLayer::new(at_once(3).with_profile(profile));
    assert!(policy.layer(provider).oneshot(request).await.is_err());
    sent.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn a_get_that_writes_is_sent_once() {
    let cancels = || profile("[[route]]\npaths = '/cancel'\neffect = 'write'");
    for (path, code, times) in [
        ("/cancel", Code::ResponseLost, 1),
        ("/status", Code::ReadFailed, 3),
    ] {
        let (provider, sent) = losing();
        let stack = Stack::new().with_profile(cancels()).with_retry(at_once(3));
        let client = Client::new(stack.layer(Wire::unknown(provider)));
        let verdict = client.send(to(Method::GET, path)).await;
        assert_eq!(verdict.code(), code, "{path}");
        assert_eq!(sent.load(Ordering::SeqCst), times, "{path}");
        let alone = sent_alone(cancels(), to(Method::GET, path)).await;
        assert_eq!(alone, times, "{path}, alone");
    }
}

#[tokio::test(start_paused = true)]
async fn a_route_counts_where_the_api_honours_no_keys() {
    let searches = "name = 'acme'\n[[route]]\npaths = '/search'\neffect = 'read'";
    for (path, times) in [("/search", 3), ("/refunds", 1)] {
        let profile = Profile::from_toml(searches).unwrap();
        let alone = sent_alone(profile, to(Method::POST, path)).await;
        assert_eq!(alone, times, "{path}");
    }
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
