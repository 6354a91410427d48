//! What the layers cost in heap allocations: nothing for a read.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tokio::runtime::Runtime;
use tower::retry::RetryLayer;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt as _};
use tower_outcome::transport::Wire;
use tower_outcome::{
    Audit, ClaimLayer, DeadlineLayer, Intent, KeyLayer, KeyedRetry, MemoryLedger, OutcomeBody,
    OutcomeLayer, Profile, RequestExt as _, ShieldLayer,
};

/// Does nothing, after it has waited once for each thing that it is told to.
#[derive(Clone, Copy)]
struct Idle {
    ready_at_once: bool,
    answers_at_once: bool,
}

impl Service<Request<OutcomeBody>> for Idle {
    type Response = Response<Full<Bytes>>;
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
    type Output = Result<Response<Full<Bytes>>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        once(&mut self.0, cx).map(|()| Ok(Response::default()))
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

/// What one call costs once things have warmed up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Cost {
    allocations: u64,
    bytes: u64,
}

impl std::ops::Sub for Cost {
    type Output = Self;

    fn sub(self, bare: Self) -> Self {
        Self {
            allocations: self.allocations - bare.allocations,
            bytes: self.bytes - bare.bytes,
        }
    }
}

/// The same each time.
fn cost<S, B>(service: &S, request: impl Fn() -> Request<B>) -> Cost
where
    S: Service<Request<B>> + Clone,
{
    let costs = costs(service, WARM_UP + 3, request).split_off(WARM_UP);
    assert!(costs.iter().all(|cost| *cost == costs[0]), "{costs:?}");
    costs[0]
}

/// Without what the tables of a ledger cost when they grow, which they do here and there.
fn least_cost<S, B>(service: &S, request: impl Fn() -> Request<B>) -> Cost
where
    S: Service<Request<B>> + Clone,
{
    let costs = costs(service, 500, request).into_iter();
    costs.min_by_key(|cost| cost.allocations).unwrap()
}

fn costs<S, B>(service: &S, calls: usize, request: impl Fn() -> Request<B>) -> Vec<Cost>
where
    S: Service<Request<B>> + Clone,
{
    let runtime = runtime();
    (0..calls)
        .map(|_| {
            let (service, request) = (service.clone(), &request);
            let call = async {
                let answer = service.oneshot(request()).await;
                assert!(answer.is_ok());
                // Lets the task of a write end as well.
                tokio::task::yield_now().await;
            };
            let seen = allocation_counter::measure(|| runtime.block_on(call));
            Cost {
                allocations: seen.count_total,
                bytes: seen.bytes_total,
            }
        })
        .collect()
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
            .layer(KeyedRetry::new(3).into_layer())
            .service(Wire::unknown(idle));
        assert_eq!(cost(&client, read), cost(&idle, read));
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
        assert_eq!(cost(&client, read), cost(&idle, read));
    }
}

/// With a header of its own, as most writes have.
fn write() -> Request<OutcomeBody> {
    Request::post("http://billing/refunds")
        .header("content-type", "application/json")
        .body("{}".into())
        .unwrap()
}

/// Another one each time, so that each write is a new one to a ledger.
fn intended() -> Request<OutcomeBody> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let order = format!("{:09}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let intent = Intent::explicit("acme", "refund", &order).unwrap();
    write().with_intent(intent)
}

/// What it does: it may only become less.
#[test]
fn a_write_with_a_key_costs_what_it_did() {
    for idle in idle() {
        let bare = cost(&idle, intended);
        let wire = Wire::unknown(idle);
        let outcome = OutcomeLayer::new().with_profile(Profile::idempotency_key());
        let deadline = DeadlineLayer::new(LIMIT);
        let policy = KeyedRetry::new(3);
        let keys = ServiceBuilder::new().layer(KeyLayer::new());
        let attempts = keys.clone().layer(policy.clone().into_layer());
        let claim = ClaimLayer::new(MemoryLedger::default());
        let above = ServiceBuilder::new().layer(outcome).layer(deadline);

        let copied = above.clone().layer(keys.layer(RetryLayer::new(policy)));
        let copied = cost(&copied.service(wire.clone()), intended) - bare;
        let plain = above.clone().layer(attempts.clone()).service(wire.clone());
        let plain = cost(&plain, intended) - bare;
        let shielded = above.layer(ShieldLayer::new());
        let recorded = shielded.clone().layer(ClaimLayer::without_ledger());
        let recorded = recorded.layer(attempts.clone()).service(wire.clone());
        let recorded = cost(&recorded, intended) - bare;
        let claimed = shielded.layer(claim).layer(attempts).service(wire);
        let claimed = least_cost(&claimed, intended) - bare;
        let seen = [plain, copied, recorded, claimed].map(|cost| cost.allocations);
        assert_eq!(seen, [4, 10, 5, 13]);
    }
}

#[test]
fn a_write_that_is_not_to_be_repeated_is_not_copied() {
    for idle in idle() {
        let retry = RetryLayer::new(KeyedRetry::new(3));
        let alone = ServiceBuilder::new().layer(retry).service(idle);
        assert_eq!(cost(&alone, write), cost(&idle, write));

        let outcome = ServiceBuilder::new().layer(OutcomeLayer::new());
        let once = outcome.clone().service(Wire::unknown(idle));
        let retry = KeyedRetry::new(3).into_layer();
        let retried = outcome.layer(retry).service(Wire::unknown(idle));
        assert_eq!(cost(&retried, write), cost(&once, write));
    }
}

const LIMIT: Duration = Duration::from_secs(10);
const WARM_UP: usize = 8;
