//! What a gRPC answer costs in heap allocations and tasks, handed on before its end or not.
//!
//! Counted is what one call adds to the bare service's, its answer read to the end by the caller. The
//! tasks are those alive while the head is in the caller's hands and the end has not been read.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::{Ready, poll_fn, ready};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame};
use tokio::runtime::{Builder, Handle};
use tower::{Service, ServiceBuilder, ServiceExt as _};
use tower_outcome::transport::Wire;
use tower_outcome::{
    ClaimLayer, DeadlineLayer, Intent, KeepResponseLayer, KeyLayer, MemoryLedger, OutcomeBody,
    RequestExt as _, ShieldLayer,
};

/// A gRPC server that answers at once, with so many messages.
#[derive(Clone, Copy)]
struct Grpc {
    messages: u8,
}

impl Service<Request<OutcomeBody>> for Grpc {
    type Response = Response<Messages>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Messages>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<OutcomeBody>) -> Self::Future {
        let mut head = Response::builder().header("content-type", "application/grpc");
        if self.messages == 0 {
            head = head.header("grpc-status", "0");
        }
        let body = Messages {
            left: self.messages,
            ended: self.messages == 0,
        };
        ready(Ok(head.body(body).expect("the head is one")))
    }
}

/// Messages of one byte, and a status behind them.
struct Messages {
    left: u8,
    ended: bool,
}

impl Body for Messages {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left > 0 {
            self.left -= 1;
            let message = Bytes::from_static(&[0, 0, 0, 0, 1, 7]);
            return Poll::Ready(Some(Ok(Frame::data(message))));
        }
        if std::mem::replace(&mut self.ended, true) {
            return Poll::Ready(None);
        }
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", 0.into());
        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
    }
}

/// What one call costs once things have warmed up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Cost {
    allocations: u64,
    tasks: usize,
}

/// The least of many: the tables of a ledger grow here and there.
fn cost<S, B>(service: &S, request: impl Fn() -> Request<OutcomeBody>) -> Cost
where
    S: Service<Request<OutcomeBody>, Response = Response<B>> + Clone,
    B: Body<Data = Bytes>,
{
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let tasks = Cell::new(0);
    let costs = (0..200).map(|_| {
        let call = async {
            let alive = || Handle::current().metrics().num_alive_tasks();
            let before = alive();
            let answer = service.clone().oneshot(request()).await;
            let answer = answer.unwrap_or_else(|_| panic!("an answer"));
            tasks.set(alive() - before);
            let mut body = pin!(answer.into_body());
            while poll_fn(|cx| body.as_mut().poll_frame(cx)).await.is_some() {}
            while alive() > before {
                tokio::task::yield_now().await;
            }
        };
        let seen = allocation_counter::measure(|| runtime.block_on(call));
        Cost {
            allocations: seen.count_total,
            tasks: tasks.get(),
        }
    });
    costs.min_by_key(|cost| cost.allocations).unwrap()
}

/// What the layers add for an answer with so many messages.
fn added(messages: u8, request: fn() -> Request<OutcomeBody>) -> Cost {
    let grpc = Grpc { messages };
    let client = ServiceBuilder::new()
        .layer(KeepResponseLayer::new())
        .layer(DeadlineLayer::new(Duration::from_secs(10)))
        .layer(ShieldLayer::new())
        .layer(ClaimLayer::new(MemoryLedger::default()))
        .layer(KeyLayer::new())
        .service(Wire::unknown(grpc));
    let bare = cost(&grpc, request);
    let kept = cost(&client, request);
    Cost {
        allocations: kept.allocations - bare.allocations,
        tasks: kept.tasks,
    }
}

fn write() -> Request<OutcomeBody> {
    let request = Request::post("http://billing/refunds");
    let request = request.header("content-type", "application/grpc");
    request.body("\0\0\0\0\x01x".into()).unwrap()
}

/// Another one each time, so that each write is a new one to a ledger.
fn claimed() -> Request<OutcomeBody> {
    thread_local!(static NUMBER: Cell<u64> = const { Cell::new(0) });
    let number = NUMBER.replace(NUMBER.get() + 1);
    let intent = Intent::explicit("acme", "refund", &format!("{number:09}"));
    write().with_intent(intent.unwrap())
}

/// What it does: it may only become less.
#[test]
fn an_answer_that_is_handed_on_costs_what_it_did() {
    let seen = [added(1, write), added(2, write), added(2, claimed)];
    let cost = |allocations, tasks| Cost { allocations, tasks };
    assert_eq!(seen, [cost(15, 2), cost(15, 2), cost(25, 3)]);
}

#[test]
fn an_answer_that_is_whole_at_once_takes_no_further_task() {
    let seen = [added(0, write), added(0, claimed), added(1, claimed)];
    let cost = |allocations, tasks| Cost { allocations, tasks };
    assert_eq!(seen, [cost(9, 0), cost(16, 0), cost(18, 0)]);
}
