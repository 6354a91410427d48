//! What a look-up says, and what becomes of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tower_outcome::Code;
use tower_outcome_core::forward_ledger;
use tower_outcome_core::ledger::{
    Entry, EntryKey, Ledger, LedgerFuture, Listing, State, WriteRecord,
};
use tower_outcome_tools::reconciler::LookUpFuture;
use tower_outcome_tools::{Found, LookUp, Reconciler};

use crate::support::{Bench, Blind, Encrypting, LOST, Says, intent, is, key, order, request};

#[tokio::test]
async fn what_is_found_by_a_token_of_ours_is_done_and_replayed() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    let found = Says(Found::Done(json!({ "id": "re_1" })));
    let report = bench.reconciler(found).pass().await.unwrap();
    assert_eq!(report.confirmed, [key()]);
    let again = bench.client().send(request(&bench.billing, &order())).await;
    is(&again, Code::AlreadyDone);
    assert_eq!(again.into_json().unwrap(), json!({ "id": "re_1" }));
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_candidate_is_shown_and_proves_nothing() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    let like_it = json!({ "id": "re_9", "amount": 1000 });
    let found = Says(Found::Candidates(vec![like_it.clone()]));
    let report = bench.reconciler(found).pass().await.unwrap();
    assert_eq!((report.open, report.confirmed), (vec![key()], vec![]));
    assert_eq!(report.candidates[0].key, key());
    assert_eq!(report.candidates[0].found, [like_it]);
    assert!(!format!("{:?}", report.candidates).contains("re_9"));
    assert_eq!(bench.state().await, State::Unknown);
}

#[tokio::test]
async fn what_is_not_found_never_failed() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    let reconciler = bench.reconciler(Blind);
    for _ in 0..3 {
        let report = reconciler.pass().await.unwrap();
        assert_eq!(report.open, [key()]);
        assert_eq!(bench.state().await, State::Unknown);
        bench.let_rest();
    }
}

#[tokio::test]
async fn the_providers_word_that_it_failed_counts_once_all_has_landed() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    let reconciler = bench.reconciler(Says(Found::Failed));
    assert_eq!(reconciler.pass().await.unwrap().open, [key()]);
    assert_eq!(bench.state().await, State::Unknown);
    bench.let_land();
    assert_eq!(reconciler.pass().await.unwrap().failed, [key()]);
    assert_eq!(bench.state().await, State::Failed);
}

/// Cannot be asked, in one way or the other.
struct Broken {
    hangs: bool,
}

impl LookUp for Broken {
    fn find<'a>(&'a self, _: &'a Entry, _: &'a WriteRecord) -> LookUpFuture<'a> {
        Box::pin(async {
            if self.hangs {
                std::future::pending::<()>().await;
            }
            Err("503".into())
        })
    }
}

#[tokio::test]
async fn a_provider_that_cannot_be_asked_changes_nothing() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    let before = bench.entry().await;
    tokio::time::pause();
    for hangs in [false, true] {
        let report = bench.reconciler(Broken { hangs }).pass().await.unwrap();
        assert_eq!(report.open, [key()]);
        bench.let_rest();
    }
    let after = bench.entry().await;
    assert_eq!((after.state, after.code), (before.state, before.code));
    assert_eq!(
        (after.epoch, after.updated_at),
        (before.epoch, before.updated_at)
    );
}

/// Counts how often it is asked.
#[derive(Clone, Default)]
pub(crate) struct Counting(pub(crate) Arc<AtomicUsize>);

impl LookUp for Counting {
    fn find<'a>(&'a self, _: &'a Entry, _: &'a WriteRecord) -> LookUpFuture<'a> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(Found::NotFound) })
    }
}

#[tokio::test]
async fn an_entry_rests_longer_after_each_look() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    let asked = Counting::default();
    let second = Duration::from_secs(1);
    let reconciler = bench
        .reconciler(asked.clone())
        .with_backoff(10 * second, 40 * second);
    for (looks, longest) in [(1, 10), (2, 20), (3, 40), (4, 40)] {
        reconciler.pass().await.unwrap();
        assert_eq!(asked.0.load(Ordering::SeqCst), looks);
        bench.clock.advance(second * (longest / 2 - 1));
        let report = reconciler.pass().await.unwrap();
        assert_eq!(
            (report.open, asked.0.load(Ordering::SeqCst)),
            (vec![], looks)
        );
        bench.clock.advance(second * (longest / 2 + 1));
    }
}

#[tokio::test]
async fn after_many_looks_an_entry_is_only_reported() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    let asked = Counting::default();
    let reconciler = bench.reconciler(asked.clone()).with_give_up_after(2);
    for (given_up, looks) in [(false, 1), (false, 2), (true, 2), (true, 2)] {
        let report = reconciler.pass().await.unwrap();
        assert_eq!(report.given_up == [key()], given_up);
        assert_eq!(report.open == [key()], !given_up);
        assert_eq!(asked.0.load(Ordering::SeqCst), looks);
        bench.let_rest();
    }
    assert_eq!(bench.state().await, State::Unknown);
}

#[tokio::test]
async fn a_pass_takes_those_first_that_wait_the_longest() {
    let bench = Bench::scripted([LOST, LOST, LOST]).await;
    for order in 1..=3 {
        let arguments = json!({ "order": order });
        let lost = bench
            .client()
            .send(request(&bench.billing, &arguments))
            .await;
        is(&lost, Code::ResponseLost);
        bench.clock.advance(Duration::from_secs(1));
    }
    let reconciler = bench.reconciler(Blind).with_limit(1);
    let due: Vec<_> = bench
        .ledger
        .due(9)
        .await
        .unwrap()
        .entries
        .into_iter()
        .map(|it| it.key)
        .collect();
    for key in due {
        assert_eq!(reconciler.pass().await.unwrap().open, [key]);
    }
    assert!(reconciler.pass().await.unwrap().open.is_empty());
}

/// A ledger that has an entry besides which it cannot read.
struct Damaged(Arc<Encrypting>, EntryKey);

impl Ledger for Damaged {
    fn due(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        Box::pin(async move {
            let mut due = self.0.due(limit).await?;
            due.unreadable.push(self.1.clone());
            Ok(due)
        })
    }

    forward_ledger!(self => self.0; apply read unresolved page counts purge changed);
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_is_reported_and_the_others_are_asked_about() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    let harmed = EntryKey::of(&intent(&json!({ "order": "harmed" })));
    let ledger = Damaged(Arc::clone(&bench.ledger), harmed.clone());
    let found = Says(Found::Done(json!({ "id": "re_1" })));
    let reconciler = Reconciler::new(ledger, found).with_clock(bench.clock.read());
    let report = reconciler.pass().await.unwrap();
    assert_eq!(
        (report.confirmed, report.unreadable),
        (vec![key()], vec![harmed])
    );
}
