//! The executor under tower's own layers.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tower::limit::{ConcurrencyLimitLayer, RateLimitLayer};
use tower::load_shed::error::Overloaded;
use tower::{BoxError, Service as _, ServiceBuilder, ServiceExt as _};
use tower_outcome::{Code, Envelope, MemoryLedger, Outcome};
use tower_outcome_tools::{Executor, ToolCall};

use crate::support::{Bench, Stage, call, is, numbered};

fn executor(stage: &Stage) -> Executor {
    Executor::new(MemoryLedger::default()).with_tool(stage.tool("print"))
}

#[tokio::test]
async fn an_executor_is_a_service_that_can_be_boxed_buffered_and_mapped() {
    let bench = Bench::start().await;
    let mut service = ServiceBuilder::new()
        .buffer(4)
        .map_response(|envelope: Envelope| envelope.outcome())
        .service(bench.executor().with_tool(bench.refund()))
        .boxed_clone();
    let first = service.ready().await.unwrap().call(call("refund"));
    assert_eq!(first.await.unwrap(), Outcome::Ok);
    let mut clone = service.clone();
    let again = clone.ready().await.unwrap().call(call("refund"));
    assert_eq!(again.await.unwrap(), Outcome::AlreadyDone);
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test(start_paused = true)]
async fn load_shedding_above_it_refuses_what_a_cap_has_no_room_for() {
    let stage = Stage::new();
    let mut service = ServiceBuilder::new()
        .load_shed()
        .concurrency_limit(1)
        .service(executor(&stage));
    let first = tokio::spawn(
        service
            .ready()
            .await
            .unwrap()
            .call(numbered("acme", "print", 1)),
    );
    assert_eq!(stage.next().await, 1);
    let shed = service
        .ready()
        .await
        .unwrap()
        .call(numbered("acme", "print", 2));
    let error: BoxError = shed.await.unwrap_err();
    assert!(error.is::<Overloaded>());
    // Nothing was claimed for what was shed.
    stage.let_go(2);
    is(&first.await.unwrap().unwrap(), Outcome::Ok, Code::Done);
    let again = service
        .ready()
        .await
        .unwrap()
        .call(numbered("acme", "print", 2));
    is(&again.await.unwrap(), Outcome::Ok, Code::Done);
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_above_it_spreads_calls_and_costs_none_of_their_time() {
    let stage = Stage::new();
    stage.let_go(3);
    let second = Duration::from_secs(1);
    let mut service = ServiceBuilder::new()
        .layer(RateLimitLayer::new(1, second))
        .service(executor(&stage).with_deadline(Duration::from_millis(100)));
    for n in 0..3 {
        let envelope = service
            .ready()
            .await
            .unwrap()
            .call(numbered("acme", "print", n));
        is(&envelope.await.unwrap(), Outcome::Ok, Code::Done);
    }
}

#[tokio::test]
async fn a_cap_shared_by_executors_is_left_once_the_answer_is_there() {
    let bench = Bench::start().await;
    let cap = ConcurrencyLimitLayer::new(1);
    for executor in [bench.executor(), bench.executor()] {
        let mut service = ServiceBuilder::new()
            .layer(cap.clone())
            .service(executor.with_tool(bench.refund()));
        let Ok::<_, Infallible>(envelope) =
            service.ready().await.unwrap().call(call("refund")).await;
        assert!(envelope.outcome().is_done(), "{envelope:?}");
    }
}

#[tokio::test]
async fn a_span_around_a_call_sees_its_tool_and_its_word() {
    let bench = Bench::start().await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let executor = bench.executor().with_tool(bench.refund());
    let traced = |seen: Arc<Mutex<Vec<String>>>| {
        ServiceBuilder::new().layer_fn(move |executor: Executor| {
            let seen = Arc::clone(&seen);
            tower::service_fn(move |call: ToolCall| {
                let (executor, seen) = (executor.clone(), Arc::clone(&seen));
                async move {
                    let tool = call.tool().to_owned();
                    let envelope = executor.oneshot(call).await?;
                    let told = format!("{tool} {} {}", envelope.outcome(), envelope.code());
                    seen.lock().unwrap().push(told);
                    Ok::<_, Infallible>(envelope)
                }
            })
        })
    };
    let mut service = traced(Arc::clone(&seen)).service(executor);
    for _ in 0..2 {
        service
            .ready()
            .await
            .unwrap()
            .call(call("refund"))
            .await
            .unwrap();
    }
    let seen = seen.lock().unwrap();
    assert_eq!(
        *seen,
        ["refund ok done", "refund already_done already_done"]
    );
}
