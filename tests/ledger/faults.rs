//! A ledger that breaks at any one of its operations, before or after it has taken effect.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use http::Request;
use tower_outcome::{
    Code, ForWrites as _, Intent, KeyedRetry, MemoryLedger, Outcome, OutcomeClient, Profile,
};
use tower_outcome::{OutcomeBody, RequestExt as _, Stack, WritesClient};
use tower_outcome_core::ledger::{
    Answer, EntryKey, Event, Ledger, LedgerError, LedgerFuture, State, Timestamp,
};
use tower_outcome_testkit::{Billing, Reply, Step};

/// Where the fault is: an operation takes effect after all, or it does not.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    Before,
    After,
}

/// Breaks at one operation, or from there on until it is mended.
#[derive(Clone)]
struct Breaking {
    ledger: Arc<MemoryLedger>,
    clock: Arc<AtomicU64>,
    operations: Arc<AtomicUsize>,
    mended: Arc<AtomicBool>,
    breaks_at: usize,
    fault: Fault,
    lasts: bool,
}

impl Breaking {
    fn new(breaks_at: usize, fault: Fault, lasts: bool) -> Self {
        let clock = Arc::new(AtomicU64::new(Timestamp::now().0));
        let time = Arc::clone(&clock);
        let time = move || Timestamp(time.load(Ordering::SeqCst));
        Self {
            ledger: Arc::new(MemoryLedger::default().with_clock(time)),
            clock,
            operations: Arc::default(),
            mended: Arc::default(),
            breaks_at,
            fault,
            lasts,
        }
    }

    fn breaks_now(&self) -> bool {
        let operation = self.operations.fetch_add(1, Ordering::SeqCst);
        let breaks = operation == self.breaks_at || self.lasts && operation > self.breaks_at;
        breaks && !self.mended.load(Ordering::SeqCst)
    }

    /// Until every claim of now has ended.
    fn wait(&self) {
        self.clock.fetch_add(3_600_000, Ordering::SeqCst);
    }
}

impl Ledger for Breaking {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(async move {
            let breaks = self.breaks_now();
            if breaks && self.fault == Fault::Before {
                return Err(LedgerError::unavailable("the connection is gone"));
            }
            let answer = self.ledger.apply(key, event).await;
            if breaks {
                return Err(LedgerError::unavailable("the answer is lost"));
            }
            answer
        })
    }

    tower_outcome_core::forward_ledger!(self => self.ledger;
        read unresolved due page counts purge changed);
}

type Fate = fn() -> Step;

/// What becomes of the request, by name.
fn fates() -> [(&'static str, Fate); 4] {
    [
        ("is answered", || Step::Answer),
        ("is refused", || Step::AnswerWith(Reply::new(422))),
        ("is carried out and its answer lost", || {
            Step::CommitThenClose
        }),
        ("is carried out and the connection reset", || {
            Step::CommitThenReset
        }),
    ]
}

/// The same wish three times: the third time by somebody else on the same ledger, much later.
#[tokio::test]
async fn whatever_breaks_in_a_ledger_no_word_is_false_and_no_write_happens_twice() {
    // One for all: each would read the system's certificates.
    let http = reqwest::Client::builder().for_writes().build().unwrap();
    let mut stories = Vec::new();
    for (name, fate) in fates() {
        for profile in [Profile::generic, Profile::idempotency_key] {
            for breaks_at in 0..4 {
                for fault in [Fault::Before, Fault::After] {
                    for lasts in [false, true] {
                        let ledger = Breaking::new(breaks_at, fault, lasts);
                        let lasting = if lasts { "and more" } else { "alone" };
                        let story = format!("{name}, {fault:?} operation {breaks_at} {lasting}");
                        stories.push(tell(&http, ledger, profile(), fate, story));
                    }
                }
            }
        }
    }
    let hit: BTreeSet<usize> = join_all(stories).await.into_iter().flatten().collect();
    assert_eq!(hit, BTreeSet::from([0, 1, 2, 3]));
}

/// Returns which operation broke.
async fn tell(
    http: &WritesClient,
    ledger: Breaking,
    profile: Profile,
    fate: Fate,
    story: String,
) -> Option<usize> {
    let billing = Billing::start().await.unwrap();
    billing.script([fate(), fate(), fate()]);
    let profile = Arc::new(profile);
    let ours = client(http, &ledger, &profile, PLENTY);
    let impatient = client(http, &ledger, &profile, LITTLE);
    let theirs = client(http, &ledger, &profile, PLENTY);
    let mut words = Vec::new();
    for client in [&ours, &impatient, &theirs] {
        if words.len() == 2 {
            ledger.wait();
        }
        let before = billing.commits();
        let code = send(client, &billing.url()).await;
        let outcome = code.outcome();
        let commits = billing.commits();
        ledger.mended.store(true, Ordering::SeqCst);
        words.push(outcome);
        let told = format!("{story}: {words:?}, {before} then {commits} commits");
        match outcome {
            Outcome::Ok => assert_eq!((before, commits), (0, 1), "{told}"),
            Outcome::AlreadyDone => assert_eq!((before, commits), (1, 1), "{told}"),
            Outcome::Failed | Outcome::Skipped => assert_eq!(before, commits, "{told}"),
            Outcome::Unknown => assert!(commits <= 1, "{told}"),
        }
        let entry = ledger.ledger.read(&EntryKey::of(&intent())).await.unwrap();
        let doubtful = entry.is_some_and(|entry| DOUBTFUL.contains(&entry.state));
        // That the store was down is said of the call, and leaves the wish to its lease.
        let taken_down = !doubtful || code == Code::StoreUnavailable;
        assert!(outcome != Outcome::Failed || taken_down, "{code}: {told}");
    }
    let failed = words.iter().all(|word| *word == Outcome::Failed);
    assert!(!failed || billing.commits() == 0, "{story}: {words:?}");
    let operations = ledger.operations.load(Ordering::SeqCst);
    Some(ledger.breaks_at).filter(|at| *at < operations)
}

fn client(
    http: &WritesClient,
    ledger: &Breaking,
    profile: &Arc<Profile>,
    deadline: Duration,
) -> OutcomeClient {
    let stack = Stack::new().with_ledger(ledger.clone());
    let stack = stack
        .with_profile(Arc::clone(profile))
        .with_retry(KeyedRetry::new(1));
    stack.with_deadline(deadline).over(http.clone()).boxed()
}

async fn send(client: &OutcomeClient, url: &str) -> Code {
    let request: Request<OutcomeBody> = Request::post(format!("{url}/refunds"))
        .body(r#"{"order":7}"#.into())
        .unwrap();
    client.send(request.with_intent(intent())).await.code()
}

const DOUBTFUL: [State; 2] = [State::Dispatching, State::Unknown];

fn intent() -> Intent {
    Intent::explicit("acme", "refund", "order 7").unwrap()
}

const PLENTY: Duration = Duration::from_secs(30);

/// How long an identical call waits for one that never tells its end.
const LITTLE: Duration = Duration::from_millis(500);
