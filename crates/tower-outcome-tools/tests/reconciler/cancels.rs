//! Cancelling by key, where nothing else tells.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tower_outcome::Code;
use tower_outcome_core::ledger::{Entry, State, WriteRecord};
use tower_outcome_tools::reconciler::{CancelFuture, LookUpFuture};
use tower_outcome_tools::{Cancelled, Found, LookUp};

use crate::support::{Bench, IGNORED, LOST, key};

/// Finds nothing, and cancels or not.
#[derive(Clone)]
struct Cancels {
    cancelled: Cancelled,
    asked: Arc<AtomicUsize>,
}

impl LookUp for Cancels {
    fn find<'a>(&'a self, _: &'a Entry, _: &'a WriteRecord) -> LookUpFuture<'a> {
        Box::pin(async { Ok(Found::NotFound) })
    }

    fn cancel<'a>(&'a self, _: &'a Entry, write: &'a WriteRecord) -> CancelFuture<'a> {
        assert!(!write.wire_key.is_empty());
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(self.cancelled) })
    }
}

fn cancels(cancelled: Cancelled) -> Cancels {
    let asked = Arc::default();
    Cancels { cancelled, asked }
}

#[tokio::test]
async fn what_was_cancelled_failed_and_can_be_done_under_a_new_key() {
    let bench = Bench::scripted([IGNORED]).await;
    bench.lose().await;
    let provider = cancels(Cancelled::Acknowledged);
    let reconciler = bench.reconciler(provider.clone());
    assert_eq!(reconciler.pass().await.unwrap().open, [key()]);
    assert_eq!(
        provider.asked.load(Ordering::SeqCst),
        0,
        "it may still land"
    );
    bench.let_land();
    let report = reconciler.pass().await.unwrap();
    assert_eq!((report.cancelled, report.failed), (vec![key()], vec![]));
    assert_eq!(bench.state().await, State::Failed);
    assert_eq!(bench.refund().await, Code::Done);
    let requests = bench.billing.received();
    assert_ne!(requests[0].key(), requests[1].key());
}

#[tokio::test]
async fn what_was_not_cancelled_stays_open() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    bench.let_land();
    let reconciler = bench.reconciler(cancels(Cancelled::Not));
    assert_eq!(reconciler.pass().await.unwrap().open, [key()]);
    assert_eq!(bench.state().await, State::Unknown);
}

#[tokio::test]
async fn what_can_be_sent_again_is_not_cancelled() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    bench.let_land();
    let provider = cancels(Cancelled::Acknowledged);
    let reconciler = bench
        .reconciler(provider.clone())
        .with_resender(bench.resender());
    assert_eq!(reconciler.pass().await.unwrap().confirmed, [key()]);
    assert_eq!(provider.asked.load(Ordering::SeqCst), 0);
}
