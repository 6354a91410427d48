//! The layers of the client over a service that does nothing.

use std::time::Duration;

use http::Request;
use tower::ServiceBuilder;
use tower::retry::RetryLayer;
use tower_outcome::transport::Wire;
use tower_outcome::{
    DeadlineLayer, Intent, KeyLayer, KeyedRetry, MemoryLedger, OutcomeBody, OutcomeLayer, Profile,
    RequestExt as _, Stack,
};

use super::idle::{Idle, calls, get, post};
use crate::measure::{Case, Run};

pub(super) const CASES: &[Case] = &[
    case("client.get.ready", || calls(Idle::READY, |_| get())),
    case("client.get.pending", || calls(Idle::PENDING, |_| get())),
    case("client.post.ready", || calls(Idle::READY, |_| post())),
    case("client.post.pending", || calls(Idle::PENDING, |_| post())),
    case("client.intended.ready", || calls(Idle::READY, intended(1))),
    case("client.intended.pending", || {
        calls(Idle::PENDING, intended(1))
    }),
    case("client.each_intended.ready", || {
        calls(Idle::READY, intended(MANY))
    }),
    case("client.each_intended.pending", || {
        calls(Idle::PENDING, intended(MANY))
    }),
    case("client.read.ready", || read(Idle::READY)),
    case("client.read.pending", || read(Idle::PENDING)),
    case("client.read_retry.ready", || read_retry(Idle::READY)),
    case("client.read_retry.pending", || read_retry(Idle::PENDING)),
    case("client.read_stack.ready", || read_stack(Idle::READY)),
    case("client.read_stack.pending", || read_stack(Idle::PENDING)),
    case("client.keyed.ready", || keyed(Idle::READY)),
    case("client.keyed.pending", || keyed(Idle::PENDING)),
    case("client.claimed.ready", || claimed(Idle::READY)),
    case("client.claimed.pending", || claimed(Idle::PENDING)),
    case("client.refused_retry.ready", || refused_retry(Idle::READY)),
    case("client.refused_retry.pending", || {
        refused_retry(Idle::PENDING)
    }),
];

const fn case(name: &'static str, prepare: fn() -> Run) -> Case {
    Case { name, prepare }
}

/// Record, deadline and verdict.
fn read(idle: Idle) -> Run {
    let client = ServiceBuilder::new()
        .layer(OutcomeLayer::new())
        .layer(DeadlineLayer::new(LIMIT))
        .service(Wire::unknown(idle));
    calls(client, |_| get())
}

/// The same with a retry that would repeat it.
fn read_retry(idle: Idle) -> Run {
    let client = ServiceBuilder::new()
        .layer(OutcomeLayer::new().with_profile(Profile::idempotency_key()))
        .layer(DeadlineLayer::new(LIMIT))
        .layer(KeyedRetry::new(3).into_layer())
        .service(Wire::unknown(idle));
    calls(client, |_| get())
}

/// Everything that a stack has.
fn read_stack(idle: Idle) -> Run {
    let stack = Stack::new().with_profile(Profile::idempotency_key());
    calls(over(&stack, idle), |_| get())
}

/// Record, deadline, key header, retry and verdict.
fn keyed(idle: Idle) -> Run {
    let client = ServiceBuilder::new()
        .layer(OutcomeLayer::new().with_profile(Profile::idempotency_key()))
        .layer(DeadlineLayer::new(LIMIT))
        .layer(KeyLayer::new())
        .layer(KeyedRetry::new(3).into_layer())
        .service(Wire::unknown(idle));
    calls(client, intended(1))
}

/// Everything that a stack has: the shield and the claim too.
fn claimed(idle: Idle) -> Run {
    let stack = Stack::new()
        .with_profile(Profile::idempotency_key())
        .with_ledger(MemoryLedger::default());
    calls(over(&stack, idle), intended(MANY))
}

/// The policy alone, asked about a write without a key.
fn refused_retry(idle: Idle) -> Run {
    let retry = RetryLayer::new(KeyedRetry::new(3));
    calls(ServiceBuilder::new().layer(retry).service(idle), |_| post())
}

fn over(stack: &Stack, idle: Idle) -> impl tower::Service<Request<OutcomeBody>> + Clone + use<> {
    use tower::Layer as _;
    stack.layer(Wire::unknown(idle))
}

/// Requests with intents that are there already, `many` different ones in turn.
pub(super) fn intended(many: usize) -> impl Fn(usize) -> Request<OutcomeBody> + 'static {
    let intents: Vec<Intent> = (0..many)
        .map(|order| Intent::explicit("acme", "refund", &order.to_string()))
        .collect::<Result<_, _>>()
        .expect("the key is not blank");
    move |number| post().with_intent(intents[number % many].clone())
}

/// As many as are asked for while a case is counted.
const MANY: usize = 1100;

pub(super) const LIMIT: Duration = Duration::from_secs(10);
