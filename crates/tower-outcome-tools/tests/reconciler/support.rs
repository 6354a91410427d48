//! A billing service, a ledger that encrypts and whose clock the test moves, and a client that keeps
//! its requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::Request;
use serde_json::{Value, json};
use tower_outcome::{
    ClaimLayer, Code, ForWrites as _, Intent, KeyedRetry, MemoryLedger, OutcomeClient, Profile,
    RequestExt as _, Stack, StoredRequests, Verdict,
};
use tower_outcome_core::forward_ledger;
use tower_outcome_core::ledger::{Entry, EntryKey, Ledger, State, Timestamp, WriteRecord};
use tower_outcome_testkit::{Billing, Step};
use tower_outcome_tools::reconciler::LookUpFuture;
use tower_outcome_tools::{Found, LookUp, Reconciler, Report, Resender};

/// A ledger that says that it encrypts.
pub(crate) struct Encrypting(pub(crate) MemoryLedger);

impl Ledger for Encrypting {
    forward_ledger!(self => self.0; apply read unresolved due page counts purge changed);

    fn encrypts(&self) -> bool {
        true
    }
}

/// A clock that the test moves.
#[derive(Clone)]
pub(crate) struct Clock(Arc<AtomicU64>);

impl Clock {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicU64::new(Timestamp::now().0)))
    }

    pub(crate) fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_millis()).unwrap();
        self.0.fetch_add(by, Ordering::SeqCst);
    }

    pub(crate) fn read(&self) -> impl Fn() -> Timestamp + Send + Sync + 'static {
        let clock = Arc::clone(&self.0);
        move || Timestamp(clock.load(Ordering::SeqCst))
    }
}

pub(crate) struct Bench {
    pub(crate) billing: Billing,
    pub(crate) ledger: Arc<Encrypting>,
    pub(crate) clock: Clock,
    pub(crate) profile: Profile,
}

impl Bench {
    /// A service that does this to the writes it gets, and keeps all answers under their keys.
    pub(crate) async fn scripted(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::with_profile(steps, "retention_s = 86400\nstored_failures = 'replay'").await
    }

    pub(crate) async fn with_profile(
        steps: impl IntoIterator<Item = Step>,
        promises: &str,
    ) -> Self {
        let clock = Clock::new();
        let ledger = MemoryLedger::default().with_clock(clock.read());
        let billing = Billing::start().await.unwrap();
        billing.script(steps);
        Self {
            billing,
            ledger: Arc::new(Encrypting(ledger)),
            clock,
            profile: profile(promises),
        }
    }

    pub(crate) fn client(&self) -> OutcomeClient {
        client(&self.ledger, &self.profile)
    }

    /// Makes the usual write, once.
    pub(crate) async fn refund(&self) -> Code {
        let verdict = self.client().send(request(&self.billing, &order())).await;
        verdict.code()
    }

    /// Makes the usual write, of which nobody hears.
    pub(crate) async fn lose(&self) {
        assert_eq!(self.refund().await, Code::ResponseLost);
    }

    pub(crate) async fn entry(&self) -> Entry {
        self.ledger.read(&key()).await.unwrap().unwrap()
    }

    pub(crate) async fn state(&self) -> State {
        self.entry().await.state
    }

    pub(crate) fn reconciler(&self, look_up: impl LookUp) -> Reconciler {
        Reconciler::new(Arc::clone(&self.ledger), look_up).with_clock(self.clock.read())
    }

    pub(crate) fn resender(&self) -> Resender {
        Resender::new(self.profile.clone(), requests(), http())
    }

    /// One look by a reconciler that can only send again.
    pub(crate) async fn resend(&self) -> Report {
        let reconciler = self.reconciler(Blind).with_resender(self.resender());
        reconciler.pass().await.unwrap()
    }

    /// Until nobody may be sending and all that was sent has landed.
    pub(crate) fn let_land(&self) {
        self.clock.advance(Duration::from_mins(5));
    }

    /// Until every entry is due again.
    pub(crate) fn let_rest(&self) {
        self.clock.advance(Duration::from_hours(6));
    }
}

/// Never finds anything.
pub(crate) struct Blind;

impl LookUp for Blind {
    fn find<'a>(&'a self, _: &'a Entry, _: &'a WriteRecord) -> LookUpFuture<'a> {
        Box::pin(async { Ok(Found::NotFound) })
    }
}

/// Says the same whatever it is asked.
pub(crate) struct Says(pub(crate) Found);

impl LookUp for Says {
    fn find<'a>(&'a self, _: &'a Entry, _: &'a WriteRecord) -> LookUpFuture<'a> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}

pub(crate) fn client<L: Ledger>(ledger: &Arc<L>, profile: &Profile) -> OutcomeClient {
    let claims = ClaimLayer::new(Arc::clone(ledger)).with_stored_requests(requests());
    let stack = Stack::new()
        .with_profile(profile.clone())
        .with_claims(claims.unwrap())
        .with_retry(KeyedRetry::new(1));
    stack.over(http()).boxed()
}

pub(crate) fn requests() -> StoredRequests {
    StoredRequests::new([7; 32]).with_credential("acme")
}

pub(crate) fn http() -> tower_outcome::WritesClient {
    reqwest::Client::builder().for_writes().build().unwrap()
}

pub(crate) fn profile(promises: &str) -> Profile {
    let text = format!(
        "name = 'billing'\n{promises}\nreplay = [{{ name = 'idempotent-replayed', is = 'true' }}]\n\
         [key]\nin = 'header'\nname = 'Idempotency-Key'"
    );
    Profile::from_toml(&text).unwrap()
}

pub(crate) fn order() -> Value {
    json!({ "order": "A-1", "amount": 1000 })
}

pub(crate) fn intent(arguments: &Value) -> Intent {
    Intent::new("acme", "refund", arguments).unwrap()
}

pub(crate) fn key() -> EntryKey {
    EntryKey::of(&intent(&order()))
}

pub(crate) fn request(billing: &Billing, arguments: &Value) -> Request<tower_outcome::OutcomeBody> {
    let request = Request::post(format!("{}/refunds", billing.url()))
        .header("content-type", "application/json")
        .body(arguments.to_string());
    request.unwrap().with_intent(intent(arguments))
}

/// The service did it, and nobody heard.
pub(crate) const LOST: Step = Step::CommitThenClose;

/// The service read it, did nothing, and nobody heard.
pub(crate) const IGNORED: Step = Step::StopAfter {
    bytes: 1 << 20,
    end: tower_outcome_testkit::End::Close,
};

/// Asserts a call's code.
#[track_caller]
pub(crate) fn is<T>(verdict: &Verdict<T>, code: Code) {
    assert_eq!(verdict.code(), code, "{verdict:?}");
}
