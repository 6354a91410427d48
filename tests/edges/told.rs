//! Ends that the ledger did not take down.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::time::Instant;
use tower::{ServiceBuilder, ServiceExt as _};
use tower_outcome::transport::Wire;
use tower_outcome::{
    BoxError, ClaimLayer, Code, KeepResponseLayer, KeyLayer, MemoryLedger, OutcomeBody,
    RequestExt as _, ShieldLayer,
};
use tower_outcome_core::Ledger;
use tower_outcome_core::ledger::{Answer, EntryKey, Event, LedgerError, LedgerFuture};

use crate::ends::Ends as _;
use crate::grpc::{server, watched};
use crate::intent;

/// Takes no end down.
#[derive(Clone, Default)]
struct Forgetful(Arc<MemoryLedger>);

impl Ledger for Forgetful {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(async move {
            if matches!(event, Event::Settle { .. } | Event::Release { .. }) {
                return Err(LedgerError::unavailable("the disk is full"));
            }
            self.0.apply(key, event).await
        })
    }

    tower_outcome_core::forward_ledger!(self => self.0;
        read unresolved due page counts purge changed);
}

/// How a ledger does not take an end down.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Hangs,
    Panics,
}

/// Breaks at the end.
#[derive(Clone)]
struct Broken(Arc<MemoryLedger>, Fault);

impl Ledger for Broken {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        let (ends, fault) = (matches!(event, Event::Settle { .. }), self.1);
        Box::pin(async move {
            match fault {
                Fault::Hangs if ends => pending().await,
                Fault::Panics if ends => panic!("the ledger is broken"),
                Fault::Hangs | Fault::Panics => self.0.apply(key, event).await,
            }
        })
    }

    tower_outcome_core::forward_ledger!(self => self.0;
        read unresolved due page counts purge changed);
}

/// Without a deadline there is no other clock than the hard limit.
#[tokio::test(start_paused = true)]
async fn a_stream_whose_ledger_breaks_at_its_end_ends_with_the_hard_limit() {
    for (fault, seconds) in [(Fault::Hangs, 2), (Fault::Panics, 0)] {
        let (feed, server) = server();
        (0..2).for_each(|_| feed.message());
        feed.status(0);
        let shield = ShieldLayer::new();
        let client = ServiceBuilder::new()
            .layer(KeepResponseLayer::new())
            .layer(shield.clone())
            .layer(ClaimLayer::new(Broken(Arc::default(), fault)))
            .layer(KeyLayer::new())
            .service(Wire::unknown(server).with_hard_limit(Duration::from_secs(2)));
        let (request, watch) = watched();
        let start = Instant::now();
        let answer = client.oneshot(request.with_intent(intent())).await.unwrap();
        let _ = answer.into_body().collect().ends().await;
        assert_eq!(start.elapsed().as_secs(), seconds, "{fault:?}");
        let code = watch.verdict().unwrap().code();
        assert_eq!(code, Code::StillConfirming, "{fault:?}");
        let left = shield.drain(Duration::ZERO).await;
        assert_eq!(left, usize::from(seconds > 0), "{fault:?}");
    }
}

/// What the ledger did not take down is no `failed`, at the end of a stream as well: who asks in a
/// stream is answered in one, and its end tells.
#[tokio::test]
async fn a_failed_stream_is_taken_down_before_it_is_said() {
    for streams in [false, true] {
        let (feed, server) = server();
        feed.status(3);
        let client = ServiceBuilder::new()
            .layer(KeepResponseLayer::new())
            .layer(ShieldLayer::new())
            .layer(ClaimLayer::new(Forgetful::default()))
            .layer(KeyLayer::new())
            .service(Wire::unknown(server));
        let (request, watch) = watched();
        let request = request.map(|body| {
            if streams {
                OutcomeBody::new(StreamBody::new(stream::pending::<Result<_, BoxError>>()))
            } else {
                body
            }
        });
        let answer = client.oneshot(request.with_intent(intent())).await.unwrap();
        let _ = answer.into_body().collect().ends().await;
        let code = watch.verdict().unwrap().code();
        assert_eq!(code, Code::StillConfirming, "in a stream: {streams}");
    }
}
