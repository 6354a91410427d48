use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tower_outcome_core::Code;
use tower_outcome_core::ledger::entry::{RESULT_RETENTION, TOMBSTONE_RETENTION};
use tower_outcome_core::ledger::{Answer, Ending, Event, Ledger, Timestamp};
use tower_outcome_postgres::PostgresLedger;

use crate::support::{Place, claim, granted, key, send};

#[tokio::test]
async fn a_result_goes_after_a_day_and_the_entry_after_400() {
    let (_, ledger, clock) = clocked().await;
    done(&ledger, 1).await;
    advance(&clock, RESULT_RETENTION);
    assert_eq!(ledger.purge(10_000).await.unwrap(), 0);
    advance(&clock, TICK);
    assert_eq!(ledger.purge(10_000).await.unwrap(), 1);
    let again = ledger.apply(&key(1), claim(1)).await.unwrap();
    assert!(matches!(
        again,
        Answer::Settled {
            code: Code::ResultOmitted,
            ..
        }
    ));

    advance(
        &clock,
        TOMBSTONE_RETENTION
            .checked_sub(RESULT_RETENTION + TICK)
            .unwrap(),
    );
    assert_eq!(ledger.purge(10_000).await.unwrap(), 0);
    advance(&clock, TICK);
    assert_eq!(ledger.purge(10_000).await.unwrap(), 1);
    assert_eq!(ledger.read(&key(1)).await.unwrap(), None);
    granted(&ledger, 1).await;
}

#[tokio::test]
async fn what_may_still_land_is_never_taken_away() {
    let (_, ledger, clock) = clocked().await;
    let dispatching = granted(&ledger, 1).await;
    ledger
        .apply(&key(1), send(dispatching.epoch))
        .await
        .unwrap();
    let unknown = granted(&ledger, 2).await;
    let ending = Ending::Unknown {
        conclusion: Code::TimeoutAfterSend.into(),
        result: Some(b"what a look-up needs".as_slice().into()),
    };
    settle(&ledger, 2, unknown.epoch, ending).await;
    advance(&clock, TOMBSTONE_RETENTION * 10);
    let before = ledger.unresolved(10).await.unwrap();
    assert_eq!(before.entries.len(), 2);
    assert_eq!(ledger.purge(10_000).await.unwrap(), 0);
    assert_eq!(ledger.unresolved(10).await.unwrap(), before);
}

#[tokio::test]
async fn what_can_be_claimed_again_goes_and_a_living_claim_stays() {
    let (_, ledger, clock) = clocked().await;
    granted(&ledger, 1).await;
    let epoch = granted(&ledger, 2).await.epoch;
    let code = Code::NotSent;
    ledger
        .apply(&key(2), Event::Release { epoch, code })
        .await
        .unwrap();
    let refused = granted(&ledger, 3).await;
    settle(
        &ledger,
        3,
        refused.epoch,
        Ending::Failed {
            code: Code::Rejected,
        },
    )
    .await;
    advance(&clock, TOMBSTONE_RETENTION + TICK);
    // The claim's owner was alive for an hour of that.
    assert_eq!(ledger.purge(10_000).await.unwrap(), 2);
    advance(&clock, Duration::from_hours(1));
    assert_eq!(ledger.purge(10_000).await.unwrap(), 1);
}

#[tokio::test]
async fn a_purge_takes_ten_thousand_at_a_time_and_passes_by_what_somebody_holds() {
    let (place, ledger, clock) = clocked().await;
    done(&ledger, 1).await;
    let mut client = place.client().await;
    let copies = "
        INSERT INTO entries (
            epoch, generation, revision, lease_until, created_at, updated_at, maybe_sent, key,
            owner, scope, tool, state, landing, fingerprint, writes, result
        )
        SELECT
            epoch, generation, revision, lease_until, created_at, updated_at, maybe_sent,
            sha256(number::text::bytea), owner, scope, tool, state, landing, fingerprint, writes,
            result
        FROM entries, generate_series(1, 14999) AS number";
    client.batch_execute(copies).await.unwrap();
    advance(&clock, TOMBSTONE_RETENTION + TICK);

    let holder = client.transaction().await.unwrap();
    let hold = "SELECT FROM entries LIMIT 1 FOR UPDATE";
    holder.query_one(hold, &[]).await.unwrap();
    let first = ledger.purge(10_000).await.unwrap();
    assert_eq!(first, 10_000);
    let second = ledger.purge(10_000).await.unwrap();
    assert_eq!(second, 10_000);
    assert_eq!(ledger.purge(20_000).await.unwrap(), 9_998);
    holder.rollback().await.unwrap();
    assert_eq!(ledger.purge(10_000).await.unwrap(), 2);
}

/// A ledger and its clock.
async fn clocked() -> (Place, PostgresLedger, Arc<AtomicU64>) {
    let clock = Arc::new(AtomicU64::new(1_750_000_000_123));
    let (place, read) = (Place::new(), Arc::clone(&clock));
    let settings = place
        .settings()
        .with_clock(move || Timestamp(read.load(Ordering::SeqCst)));
    let ledger = settings.connect().await.unwrap();
    (place, ledger, clock)
}

fn advance(clock: &AtomicU64, by: Duration) {
    let by = u64::try_from(by.as_millis()).unwrap();
    clock.fetch_add(by, Ordering::SeqCst);
}

async fn done(ledger: &PostgresLedger, order: u32) {
    let epoch = granted(ledger, order).await.epoch;
    let ending = Ending::Done {
        code: Code::Done,
        result: Some(b"{\"id\":1}".as_slice().into()),
    };
    settle(ledger, order, epoch, ending).await;
}

async fn settle(ledger: &PostgresLedger, order: u32, epoch: u64, ending: Ending) {
    let settle = Event::Settle { epoch, ending };
    ledger.apply(&key(order), settle).await.unwrap();
}

const TICK: Duration = Duration::from_millis(1);
