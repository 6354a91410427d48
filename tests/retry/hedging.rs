//! tower's hedge, under our guard.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Request, Response};
use tower::hedge::{Hedge, Policy as _};
use tower::{BoxError, Service as _, ServiceBuilder, ServiceExt as _, service_fn};
use tower_outcome::retry::HedgeGuard;
use tower_outcome::{OutcomeBody, OutcomeLayer, Profile, ReplyBody};

use crate::plain::{keyed, read, write};

/// How many copies of a request reach a provider that is slower than it ever was.
async fn copies(guard: HedgeGuard, request: Request<&'static str>) -> usize {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let provider = service_fn(move |_: Request<&'static str>| {
        count.fetch_add(1, Ordering::SeqCst);
        async {
            tokio::time::sleep(Duration::from_mins(1)).await;
            Ok::<_, BoxError>(Response::new(()))
        }
    });
    let usual = [1; 20];
    let mut client =
        Hedge::new_with_mock_latencies(provider, guard, 10, 0.9, Duration::from_mins(1), &usual);
    let client = client.ready().await.unwrap();
    client.call(request).await.unwrap();
    sent.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn a_write_without_a_key_that_counts_is_never_hedged() {
    let honoured = || HedgeGuard::new().with_profile(Profile::idempotency_key());
    assert_eq!(copies(honoured(), write()).await, 1);
    assert_eq!(copies(HedgeGuard::new(), keyed()).await, 1);
    assert_eq!(copies(honoured(), keyed()).await, 2);
    assert_eq!(copies(HedgeGuard::new(), read()).await, 2);
}

#[tokio::test]
async fn a_write_on_record_is_never_hedged() {
    let guard = HedgeGuard::new().with_profile(Profile::idempotency_key());
    let (asked, mut copied) = tokio::sync::mpsc::unbounded_channel();
    let client = ServiceBuilder::new()
        .layer(OutcomeLayer::new().with_profile(Profile::idempotency_key()))
        .service_fn(move |request: Request<OutcomeBody>| {
            asked.send(guard.clone_request(&request).is_some()).unwrap();
            std::future::ready(Err::<Response<ReplyBody<String>>, _>(BoxError::from(
                "reset",
            )))
        });
    for (method, hedged) in [("POST", false), ("GET", true)] {
        let request = Request::builder()
            .method(method)
            .uri("http://billing/refunds");
        let request = request.header("idempotency-key", "7");
        let Ok(_) = client
            .clone()
            .oneshot(request.body("{}".into()).unwrap())
            .await;
        assert_eq!(copied.recv().await, Some(hedged), "{method}");
    }
}
