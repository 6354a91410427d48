//! Law 5 under retries that are not ours, inside the stack and above it.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower::retry::{Policy, RetryLayer};
use tower::{ServiceBuilder, ServiceExt as _};
use tower_outcome::retry::ReplayBody;
use tower_outcome::transport::Wire;
use tower_outcome::{
    Client, Code, Error, KeyLayer, Outcome, OutcomeLayer, Profile, ShieldLayer, Stack, Watch,
};
use tower_outcome_testkit::{Billing, Refusing, Reply, Step};

use crate::clients::{hyper, write};

/// Repeats whatever did not end in a 2xx, up to three attempts in all.
#[derive(Clone)]
struct Naive {
    left: usize,
}

impl<B: ReplayBody, T, E> Policy<Request<B>, Response<T>, E> for Naive {
    type Future = std::future::Ready<()>;

    fn retry(
        &mut self,
        _: &mut Request<B>,
        result: &mut Result<Response<T>, E>,
    ) -> Option<Self::Future> {
        let done = result
            .as_ref()
            .is_ok_and(|answer| answer.status().is_success());
        self.left = self.left.saturating_sub(1);
        (!done && self.left > 0).then(|| std::future::ready(()))
    }

    fn clone_request(&mut self, request: &Request<B>) -> Option<Request<B>> {
        let mut clone = Request::new(request.body().replay()?);
        clone.method_mut().clone_from(request.method());
        clone.uri_mut().clone_from(request.uri());
        clone.headers_mut().clone_from(request.headers());
        clone.extensions_mut().clone_from(request.extensions());
        Some(clone)
    }
}

const NAIVE: Naive = Naive { left: 3 };

fn faults() -> [Step; 3] {
    [
        Step::CommitThenClose,
        Step::CommitThenReset,
        Step::CommitThenAnswerWith(Reply::new(503)),
    ]
}

async fn keyless(step: &Step) -> Billing {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([step.clone(), step.clone(), step.clone()]);
    billing
}

fn plain(url: &str) -> Request<Full<Bytes>> {
    write(url).map(|_| Full::from(r#"{"order":"A-1","amount":1000}"#))
}

#[tokio::test]
async fn law_5_a_retry_inside_the_stack_makes_no_second_unkeyed_attempt() {
    for step in faults() {
        let billing = keyless(&step).await;
        let client = Client::new(
            ServiceBuilder::new()
                .layer(OutcomeLayer::new())
                .layer(ShieldLayer::new())
                .layer(KeyLayer::new())
                .layer(RetryLayer::new(NAIVE))
                .service(Wire::hyper(hyper())),
        );
        let verdict = client.send(write(&billing.url())).await;
        assert_eq!(verdict.outcome(), Outcome::Unknown, "{step:?}");
        assert_eq!(billing.received().len(), 1, "{step:?}");
    }
}

#[tokio::test]
async fn law_5_a_retry_inside_the_stack_may_repeat_what_never_left() {
    let refusing = Refusing::start().unwrap();
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(RetryLayer::new(NAIVE))
            .service(Wire::hyper(hyper())),
    );
    let verdict = client.send(write(&refusing.url())).await;
    assert_eq!(verdict.code(), Code::ConnectFailed);
}

/// Sends through a naive retry above the stack.
async fn retried_above(
    stack: &Stack,
    request: Request<Full<Bytes>>,
) -> Result<Response<()>, Error> {
    let service = ServiceBuilder::new()
        .layer(RetryLayer::new(NAIVE))
        .service(stack.keep(hyper()));
    service
        .oneshot(request)
        .await
        .map(|answer| answer.map(drop))
}

#[tokio::test]
async fn law_5_a_retry_above_that_carries_the_watch_of_an_open_write_is_refused() {
    for step in faults() {
        let billing = keyless(&step).await;
        let watch = Watch::new();
        let mut request = plain(&billing.url());
        request.extensions_mut().insert(watch.clone());
        let error = retried_above(&Stack::new(), request).await.unwrap_err();
        assert_eq!(error.code(), Code::StillConfirming, "{step:?}");
        assert_eq!(billing.received().len(), 1, "{step:?}");
        let word = watch.verdict().unwrap().outcome();
        assert_eq!(word, Outcome::Unknown, "{step:?}");
    }
}

#[tokio::test]
async fn law_5_a_retry_above_under_a_key_that_nobody_honours_is_refused() {
    for step in faults() {
        let billing = keyless(&step).await;
        let mut request = plain(&billing.url());
        let key = "refund-7".parse().unwrap();
        request.headers_mut().insert("idempotency-key", key);
        let error = retried_above(&Stack::new(), request).await.unwrap_err();
        assert_eq!(error.code(), Code::StillConfirming, "{step:?}");
        assert_eq!(billing.received().len(), 1, "{step:?}");
    }
}

#[tokio::test]
async fn law_5_a_retry_above_under_a_key_that_is_honoured_happens_once() {
    for step in faults() {
        let billing = Billing::start().await.unwrap();
        billing.script([step.clone(), step.clone()]);
        let stack = Stack::new().with_profile(Profile::idempotency_key());
        let mut request = plain(&billing.url());
        let key = "refund-7".parse().unwrap();
        request.headers_mut().insert("idempotency-key", key);
        let answer = retried_above(&stack, request).await.unwrap();
        assert_eq!(answer.status(), 201, "{step:?}");
        assert_eq!(billing.commits_of("refund-7"), 1, "{step:?}");
    }
}

#[tokio::test]
async fn a_key_is_free_again_once_its_write_is_known_to_have_failed() {
    let refusing = Refusing::start().unwrap();
    let stack = Stack::new();
    let mut request = plain(&refusing.url());
    let key = "refund-7".parse().unwrap();
    request.headers_mut().insert("idempotency-key", key);
    let mut client = stack.keep(hyper());
    let first: Result<_, Error> = (&mut client).oneshot(request.clone()).await;
    assert_eq!(first.unwrap_err().code(), Code::ConnectFailed);

    let billing = refusing.open().unwrap();
    let second: Result<_, Error> = (&mut client).oneshot(request).await;
    assert_eq!(second.unwrap().status(), 201);
    assert_eq!(billing.commits(), 1);
}

/// The type of a stack that keeps answers can be named, cloned and shared.
#[test]
fn a_drop_in_stack_can_stand_in_a_shared_state() {
    fn shared<T: Clone + Send + Sync + 'static>(_: &T) {}
    shared(&Stack::new().keep(hyper()));
}
