//! What the layers cost in heap allocations: nothing for a read.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use http_body_util::Full;
use serde_json::json;
use tokio::runtime::Runtime;
use tower::retry::RetryLayer;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt as _};
use tower_outcome::{
    Audit, ClaimLayer, DeadlineLayer, Intent, KeyLayer, KeyedRetry, MemoryLedger, OutcomeBody,
    OutcomeLayer, Profile, ReplyBody, RequestExt as _, ShieldLayer,
};

/// Does nothing, after it has waited once for each thing that it is told to.
#[derive(Clone, Copy)]
struct Idle {
    ready_at_once: bool,
    answers_at_once: bool,
}

impl Service<Request<OutcomeBody>> for Idle {
    type Response = Response<ReplyBody<Full<bytes::Bytes>>>;
    type Error = BoxError;
    type Future = Answer;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        once(&mut self.ready_at_once, cx).map(Ok)
    }

    fn call(&mut self, _: Request<OutcomeBody>) -> Answer {
        Answer(self.answers_at_once)
    }
}

struct Answer(bool);

impl Future for Answer {
    type Output = Result<Response<ReplyBody<Full<bytes::Bytes>>>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        once(&mut self.0, cx).map(|()| Ok(Response::new(ReplyBody::whole(bytes::Bytes::new()))))
    }
}

/// Pending the first time.
fn once(ready: &mut bool, cx: &mut Context<'_>) -> Poll<()> {
    if std::mem::replace(ready, true) {
        return Poll::Ready(());
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}

fn idle() -> [Idle; 4] {
    [(true, true), (true, false), (false, true), (false, false)].map(|(ready, answers)| Idle {
        ready_at_once: ready,
        answers_at_once: answers,
    })
}

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().build().unwrap()
}

/// How many allocations one call makes once things have warmed up.
fn allocations<S>(service: &S, request: impl Fn() -> Request<OutcomeBody>) -> u64
where
    S: Service<Request<OutcomeBody>> + Clone,
{
    let runtime = runtime();
    let counts: Vec<u64> = (0..WARM_UP + 3)
        .map(|_| {
            let (service, request) = (service.clone(), request());
            let call = async {
                let answer = service.oneshot(request).await;
                assert!(answer.is_ok());
                // Lets the task of a write end as well.
                tokio::task::yield_now().await;
            };
            allocation_counter::measure(|| runtime.block_on(call)).count_total
        })
        .collect();
    let counts = &counts[WARM_UP..];
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    counts[0]
}

fn read() -> Request<OutcomeBody> {
    Request::get("http://billing/refunds")
        .body(().into())
        .unwrap()
}

#[test]
fn a_read_through_all_layers_allocates_nothing() {
    for idle in idle() {
        let client = ServiceBuilder::new()
            .layer(OutcomeLayer::new().with_profile(Profile::idempotency_key()))
            .layer(DeadlineLayer::new(LIMIT))
            .layer(ShieldLayer::new())
            .layer(ClaimLayer::new(MemoryLedger::default()))
            .layer(KeyLayer::new())
            .layer(RetryLayer::new(KeyedRetry::new(3)))
            .service(idle);
        let bare = allocations(&idle, read);
        assert_eq!(allocations(&client, read), bare);
    }
}

#[test]
fn a_read_through_two_audits_allocates_nothing() {
    for idle in idle() {
        let audit = Audit::new();
        let layers = ServiceBuilder::new()
            .layer(audit.layer())
            .layer(audit.layer());
        let client = layers.service(idle);
        assert_eq!(allocations(&client, read), allocations(&idle, read));
    }
}

fn intended() -> Request<OutcomeBody> {
    let intent = Intent::new("acme", "refund", &json!({ "order": number() })).unwrap();
    Request::post("http://billing/refunds")
        .body("{}")
        .unwrap()
        .with_intent(intent)
}

/// Another one each time, so that each write is a new one to a ledger.
fn number() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// Not what it should cost, but what it does: it may only become less.
#[test]
fn a_write_with_a_key_allocates_no_more_than_it_did() {
    for idle in idle() {
        let bare = allocations(&idle, intended);
        let outcome = OutcomeLayer::new().with_profile(Profile::idempotency_key());
        let deadline = DeadlineLayer::new(LIMIT);
        let retry = RetryLayer::new(KeyedRetry::new(3));
        let attempts = ServiceBuilder::new().layer(KeyLayer::new()).layer(retry);
        let claim = ClaimLayer::new(MemoryLedger::default());
        let above = ServiceBuilder::new().layer(outcome).layer(deadline);

        let plain = above.clone().layer(attempts.clone()).service(idle);
        let plain = allocations(&plain, intended) - bare;
        let shielded = above.layer(ShieldLayer::new());
        let recorded = shielded.clone().layer(ClaimLayer::without_ledger());
        let recorded = recorded.layer(attempts.clone()).service(idle);
        let recorded = allocations(&recorded, intended) - bare;
        let claimed = shielded.layer(claim).layer(attempts).service(idle);
        let claimed = allocations(&claimed, intended) - bare;
        println!("plain {plain}, shielded {recorded}, with a ledger in memory {claimed}");
        assert!(plain <= 18 && recorded <= 19 && claimed <= 47);
    }
}

const LIMIT: Duration = Duration::from_secs(10);
const WARM_UP: usize = 8;
