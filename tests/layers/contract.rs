//! What tower asks of every layer.

use std::fmt::Debug;

use http::Request;
use tokio_test::task;
use tower::limit::{ConcurrencyLimit, ConcurrencyLimitLayer};
use tower::retry::RetryLayer;
use tower::{Layer, Service, ServiceExt as _};
use tower_outcome::audit::Audit;
use tower_outcome::{
    ClaimLayer, DeadlineLayer, KeepResponseLayer, KeyLayer, KeyedRetry, MemoryLedger, OutcomeBody,
    OutcomeLayer, ShieldLayer,
};
use tower_test::mock;

use crate::support::{Mock, intended, paid, queued, read, write};

/// Runs a check with every layer.
macro_rules! every_layer {
    ($check:ident) => {
        let minute = std::time::Duration::from_mins(1);
        $check("outcome", OutcomeLayer::new()).await;
        $check("keep", KeepResponseLayer::new()).await;
        $check("deadline", DeadlineLayer::new(minute)).await;
        $check("shield", ShieldLayer::new()).await;
        $check("claim", ClaimLayer::new(MemoryLedger::default())).await;
        $check("key", KeyLayer::new()).await;
        $check("retry", RetryLayer::new(KeyedRetry::new(1))).await;
        $check("sparing retry", KeyedRetry::new(1).into_layer()).await;
        $check("audit", Audit::new().layer()).await;
    };
}

/// The mock panics if a service is called that was not made ready, and lets only one be.
#[tokio::test(start_paused = true)]
async fn the_service_that_was_made_ready_is_the_one_that_is_called() {
    async fn check<L>(name: &str, layer: L)
    where
        L: Layer<Mock>,
        L::Service: Service<Request<OutcomeBody>, Error: Debug>,
    {
        for request in [read(), write(), intended()] {
            let (service, mut server) = mock::pair();
            server.allow(1);
            let mut client = layer.layer(service);
            let mut sent = task::spawn(client.ready().await.unwrap().call(request));
            assert!(sent.poll().is_pending(), "{name}");
            queued(&mut server).await.1.send_response(paid());
            assert!(sent.await.is_ok(), "{name}");
        }
    }
    every_layer!(check);
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_readiness_is_woken_by_it() {
    async fn check<L>(name: &str, layer: L)
    where
        L: Layer<Mock>,
        L::Service: Service<Request<OutcomeBody>, Error: Debug>,
    {
        for request in [read(), write(), intended()] {
            let (service, mut server) = mock::pair();
            server.allow(0);
            let mut sent = task::spawn(layer.layer(service).oneshot(request));
            assert!(sent.poll().is_pending(), "{name}");
            server.allow(1);
            assert!(sent.is_woken(), "{name}");
            assert!(sent.poll().is_pending(), "{name}");
            queued(&mut server).await;
        }
    }
    every_layer!(check);
}

#[tokio::test(start_paused = true)]
async fn a_read_that_is_dropped_gives_back_what_it_held() {
    async fn check<L>(name: &str, layer: L)
    where
        L: Layer<ConcurrencyLimit<Mock>>,
        L::Service: Service<Request<OutcomeBody>, Error: Debug> + Clone,
    {
        let (service, mut server) = mock::pair();
        let client = layer.layer(ConcurrencyLimitLayer::new(1).layer(service));
        let mut first = task::spawn(client.clone().oneshot(read()));
        assert!(first.poll().is_pending(), "{name}");
        queued(&mut server).await;
        drop(first);

        let mut second = task::spawn(client.oneshot(read()));
        assert!(second.poll().is_pending(), "{name}");
        queued(&mut server).await;
    }
    every_layer!(check);
}

/// A shield holds on to it for as long as the write runs.
#[tokio::test(start_paused = true)]
async fn a_write_that_is_dropped_gives_back_what_it_held_once_it_has_ended() {
    async fn check<L>(name: &str, layer: L)
    where
        L: Layer<ConcurrencyLimit<Mock>>,
        L::Service: Service<Request<OutcomeBody>, Error: Debug> + Clone,
    {
        let (service, mut server) = mock::pair();
        let client = layer.layer(ConcurrencyLimitLayer::new(1).layer(service));
        let mut first = task::spawn(client.clone().oneshot(write()));
        assert!(first.poll().is_pending(), "{name}");
        let (_, answering) = queued(&mut server).await;
        drop(first);
        answering.send_response(paid());

        tokio::select! {
            _ = client.oneshot(write()) => panic!("{name}"),
            _ = queued(&mut server) => {}
        }
    }
    every_layer!(check);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_readiness_and_is_dropped_gives_up_its_place() {
    async fn check<L>(name: &str, layer: L)
    where
        L: Layer<ConcurrencyLimit<Mock>>,
        L::Service: Service<Request<OutcomeBody>, Error: Debug> + Clone,
    {
        for request in [read, write, intended] {
            let (service, mut server) = mock::pair();
            let client = layer.layer(ConcurrencyLimitLayer::new(1).layer(service));
            let mut running = task::spawn(client.clone().oneshot(read()));
            assert!(running.poll().is_pending(), "{name}");
            let (_, answering) = queued(&mut server).await;
            let mut waiting = task::spawn(client.clone().oneshot(request()));
            assert!(waiting.poll().is_pending(), "{name}");
            drop(waiting);

            answering.send_response(paid());
            assert!(running.await.is_ok(), "{name}");
            let mut next = task::spawn(client.oneshot(read()));
            assert!(next.poll().is_pending(), "{name}");
            queued(&mut server).await;
        }
    }
    every_layer!(check);
}

#[tokio::test(start_paused = true)]
async fn an_error_from_below_is_kept_as_a_source() {
    async fn check<L>(name: &str, layer: L)
    where
        L: Layer<Mock>,
        L::Service: Service<Request<OutcomeBody>, Error: Into<tower::BoxError>>,
    {
        for request in [read(), write(), intended()] {
            let (service, mut server) = mock::pair();
            let mut sent = task::spawn(layer.layer(service).oneshot(request));
            assert!(sent.poll().is_pending(), "{name}");
            queued(&mut server).await.1.send_error("out of paper");
            // A verdict has no error left.
            let Err(error) = sent.await else {
                assert_eq!(name, "outcome");
                continue;
            };
            let error: tower::BoxError = error.into();
            let mut chain = vec![error.to_string()];
            let mut source = error.source();
            while let Some(error) = source {
                chain.push(error.to_string());
                source = error.source();
            }
            assert!(
                chain.iter().any(|text| text == "out of paper"),
                "{name}: {chain:?}"
            );
        }
    }
    every_layer!(check);
}

#[tokio::test(start_paused = true)]
async fn a_future_that_is_pending_has_a_waker_below() {
    async fn check<L>(name: &str, layer: L)
    where
        L: Layer<Mock>,
        L::Service: Service<Request<OutcomeBody>, Error: Debug>,
    {
        for request in [read(), write(), intended()] {
            let (service, mut server) = mock::pair();
            let mut sent = task::spawn(layer.layer(service).oneshot(request));
            assert!(sent.poll().is_pending(), "{name}");
            let (_, answering) = queued(&mut server).await;
            let _ = sent.poll();
            answering.send_response(paid());
            let mut rounds = 0;
            while !sent.is_woken() && rounds < 10 {
                tokio::task::yield_now().await;
                rounds += 1;
            }
            assert!(sent.is_woken(), "{name}");
        }
    }
    every_layer!(check);
}
