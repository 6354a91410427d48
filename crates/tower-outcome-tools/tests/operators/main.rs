//! What people do with a ledger, over the API.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use tower_outcome_core::ledger::entry::{MAX_NAME, TOMBSTONE_RETENTION};
use tower_outcome_core::ledger::{
    Answer, Claim, Entry, EntryKey, Event, Filter, Ledger as _, MemoryLedger, Owner, State,
    Timestamp, WriteRecord,
};
use tower_outcome_core::{Code, Intent};
use tower_outcome_tools::Operator;
use tower_outcome_tools::operator::OperatorError;

struct Bench {
    ledger: Arc<MemoryLedger>,
    operator: Operator,
    now: Arc<AtomicU64>,
}

impl Bench {
    fn new() -> Self {
        let now = Arc::new(AtomicU64::new(1_750_000_000_000));
        let clock = Arc::clone(&now);
        let read = move || Timestamp(clock.load(Ordering::SeqCst));
        let ledger = Arc::new(MemoryLedger::default().with_clock(read));
        Self {
            operator: Operator::new(Arc::clone(&ledger)),
            ledger,
            now,
        }
    }

    fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_millis()).unwrap();
        self.now.fetch_add(by, Ordering::SeqCst);
    }

    /// An entry whose owner is gone after it may have sent for 30 seconds.
    async fn doubt(&self, scope: &str, tool: &str, order: u32) -> EntryKey {
        let intent = Intent::new(scope, tool, &json!({ "order": order })).unwrap();
        let key = EntryKey::of(&intent);
        let lease = Duration::from_secs(10);
        let claim = Claim::new(&intent, Owner::random(), lease);
        let answer = self.ledger.apply(&key, Event::Claim(claim)).await.unwrap();
        let Answer::Granted(grant) = answer else {
            panic!("{answer:?}");
        };
        let sent = Event::Send {
            epoch: grant.epoch,
            write: WriteRecord {
                label: "refund".to_owned(),
                route: "POST billing/refunds".to_owned(),
                wire_key: "k1".to_owned(),
                only: true,
                ..WriteRecord::default()
            },
            lease,
            sends_for: Duration::from_secs(30),
        };
        self.ledger.apply(&key, sent).await.unwrap();
        self.advance(lease + Duration::from_secs(1));
        key
    }

    async fn entry(&self, key: &EntryKey) -> Entry {
        self.operator.show(key).await.unwrap()
    }
}

fn refused(result: Result<(), OperatorError>) -> OperatorError {
    let error = result.unwrap_err();
    assert!(error.is_refused(), "{error}");
    error
}

#[tokio::test]
async fn entries_are_listed_by_state_tool_scope_and_age_a_page_at_a_time() {
    let bench = Bench::new();
    let mut refunds = Vec::new();
    for order in 0..5 {
        refunds.push(bench.doubt("acme", "refund", order).await);
        bench.doubt("acme", "mail", order).await;
        bench.doubt("globex", "refund", order).await;
    }
    let mut filter = Filter {
        state: Some(State::Unknown),
        tool: Some("refund".into()),
        scope: Some("acme".into()),
        ..Filter::new(2)
    };
    let mut listed = Vec::new();
    loop {
        let page = bench.operator.list(&filter).await.unwrap();
        assert!(page.entries.len() <= 2);
        listed.extend(page.entries.into_iter().map(|entry| entry.key));
        match page.next {
            Some(next) => filter.after = Some(next),
            None => break,
        }
    }
    assert_eq!(listed, refunds);
    let old = Filter {
        older_than: Some(Duration::from_hours(1)),
        ..Filter::new(50)
    };
    assert!(bench.operator.list(&old).await.unwrap().entries.is_empty());
    bench.advance(Duration::from_hours(2));
    assert_eq!(bench.operator.list(&old).await.unwrap().entries.len(), 15);
}

#[tokio::test]
async fn an_entry_is_found_by_the_beginning_of_its_key() {
    let bench = Bench::new();
    let key = bench.doubt("acme", "refund", 1).await;
    bench.doubt("acme", "refund", 2).await;
    let whole = key
        .key
        .as_bytes()
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
    for (scope, digits) in [
        (None, &whole[..8]),
        (Some("acme"), &whole[..20]),
        (Some("acme"), &whole),
        (None, &whole),
    ] {
        assert_eq!(bench.operator.find(scope, digits).await.unwrap().key, key);
    }
    for (scope, digits) in [
        (Some("globex"), whole.as_str()),
        (None, "0123456789"),
        (None, "zzzzzzzz"),
    ] {
        let error = bench.operator.find(scope, digits).await.unwrap_err();
        assert!(error.is_not_found(), "{error}");
    }
    let short = bench.operator.find(None, &whole[..7]).await.unwrap_err();
    assert!(!short.is_not_found(), "{short}");
}

#[tokio::test]
async fn two_entries_with_one_key_have_to_be_told_apart_by_their_scope() {
    let bench = Bench::new();
    let key = bench.doubt("acme", "refund", 1).await;
    let twin = EntryKey {
        scope: "globex".into(),
        key: key.key,
    };
    let intent = Intent::new("globex", "refund", &json!({})).unwrap();
    let claim = Claim::new(&intent, Owner::random(), Duration::from_secs(10));
    bench
        .ledger
        .apply(&twin, Event::Claim(claim))
        .await
        .unwrap();
    let short = key.key.short();
    assert!(
        bench
            .operator
            .find(None, &short)
            .await
            .unwrap_err()
            .is_not_found()
    );
    assert_eq!(
        bench
            .operator
            .find(Some("globex"), &short)
            .await
            .unwrap()
            .key,
        twin
    );
}

#[tokio::test]
async fn a_persons_word_is_kept_with_who_and_why_and_when() {
    let bench = Bench::new();
    let key = bench.doubt("acme", "refund", 1).await;
    let entry = bench.entry(&key).await;
    let found = json!({ "id": "re_1" });
    let done = bench
        .operator
        .resolve_done(&entry, Some(&found), "ada", "re_1 is there");
    done.await.unwrap();
    let entry = bench.entry(&key).await;
    assert_eq!((entry.state, entry.code), (State::Done, Some(Code::Done)));
    assert_eq!(entry.result.as_deref(), Some(found.to_string().as_bytes()));
    let resolution = entry.resolution.unwrap();
    assert_eq!(
        (&*resolution.by, &*resolution.reason),
        ("ada", "re_1 is there")
    );
    assert_eq!(resolution.at, Timestamp(bench.now.load(Ordering::SeqCst)));
}

#[tokio::test]
async fn a_failure_can_be_said_once_nothing_can_be_sent_any_more() {
    let bench = Bench::new();
    let key = bench.doubt("acme", "refund", 1).await;
    let entry = bench.entry(&key).await;
    let early = refused(
        bench
            .operator
            .resolve_failed(&entry, "ada", "not there")
            .await,
    );
    assert_eq!(early.not_before(), entry.last_send_by);
    assert_eq!(bench.entry(&key).await.state, State::Unknown);
    bench.advance(Duration::from_secs(30));
    bench
        .operator
        .resolve_failed(&entry, "ada", "not there")
        .await
        .unwrap();
    let failed = bench.entry(&key).await;
    assert_eq!(
        (failed.state, failed.generation),
        (State::Failed, entry.generation + 1)
    );
    let twice = refused(
        bench
            .operator
            .resolve_failed(&failed, "ada", "not there")
            .await,
    );
    assert!(twice.to_string().contains("failed"), "{twice}");
}

#[tokio::test]
async fn what_has_changed_since_it_was_shown_is_not_resolved() {
    let bench = Bench::new();
    let key = bench.doubt("acme", "refund", 1).await;
    let seen = bench.entry(&key).await;
    bench.advance(Duration::from_mins(1));
    bench
        .operator
        .resolve_failed(&seen, "ada", "not there")
        .await
        .unwrap();
    bench.doubt("acme", "refund", 1).await;
    for result in [
        bench
            .operator
            .resolve_done(&seen, None, "bob", "there")
            .await,
        bench
            .operator
            .resolve_failed(&seen, "bob", "not there")
            .await,
    ] {
        refused(result);
    }
    assert_eq!(bench.entry(&key).await.state, State::Unknown);
}

#[tokio::test]
async fn nobody_resolves_without_a_name_and_a_reason() {
    let bench = Bench::new();
    let key = bench.doubt("acme", "refund", 1).await;
    let entry = bench.entry(&key).await;
    let long = "x".repeat(MAX_NAME + 1);
    for (by, reason) in [
        ("", "there"),
        ("ada", " "),
        (long.as_str(), "there"),
        ("ada", &long),
        ("ada\0", "there"),
        ("ada", "\0there"),
    ] {
        let result = bench.operator.resolve_done(&entry, None, by, reason).await;
        assert!(!result.unwrap_err().is_refused());
    }
    assert_eq!(bench.entry(&key).await.state, State::Unknown);
}

#[tokio::test]
async fn a_purge_takes_all_that_has_outlived_its_use_and_no_doubt() {
    let bench = Bench::new();
    for order in 0..1200 {
        let key = bench.doubt("acme", "refund", order).await;
        let entry = bench.entry(&key).await;
        bench
            .operator
            .resolve_done(&entry, None, "ada", "there")
            .await
            .unwrap();
    }
    let open = bench.doubt("acme", "mail", 1).await;
    assert_eq!(bench.operator.purge().await.unwrap(), 0);
    bench.advance(TOMBSTONE_RETENTION + Duration::from_hours(24));
    assert_eq!(bench.operator.purge().await.unwrap(), 1200);
    let counts = bench.operator.stats().await.unwrap();
    assert_eq!((counts.total(), counts.of(State::Unknown)), (1, 1));
    let since = bench.entry(&open).await.updated_at;
    assert_eq!(counts.unknown_since, Some(since));
}
