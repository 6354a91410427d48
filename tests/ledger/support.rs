//! A billing service, an encrypted ledger in a file, and what somebody does to that file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use http::Request;
use serde_json::json;
use tower_outcome::{
    ClaimLayer, Code, ForWrites as _, Intent, KeyedRetry, OutcomeBody, OutcomeClient, Profile,
    RequestExt as _, Stack, StoredRequests,
};
use tower_outcome_core::ledger::{
    AesGcmSiv, EncryptedLedger, Entry, EntryKey, Ledger, State, Timestamp, WriteRecord,
};
use tower_outcome_sqlite::SqliteLedger;
use tower_outcome_testkit::{Billing, Step};
use tower_outcome_tools::reconciler::LookUpFuture;
use tower_outcome_tools::{Found, LookUp, Reconciler, Report, Resender};

pub(crate) type Encrypted = Arc<EncryptedLedger<SqliteLedger, AesGcmSiv>>;

pub(crate) struct Bench {
    pub(crate) billing: Billing,
    pub(crate) directory: PathBuf,
    clock: Arc<AtomicU64>,
}

impl Bench {
    /// A service that does this to the writes it gets, and an empty file.
    pub(crate) async fn scripted(steps: impl IntoIterator<Item = Step>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("encrypted-{}-{number}", std::process::id());
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&directory).unwrap();
        let billing = Billing::start().await.unwrap();
        billing.script(steps);
        Self {
            billing,
            directory,
            clock: Arc::new(AtomicU64::new(Timestamp::now().0)),
        }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.directory.join("ledger.sqlite")
    }

    /// The ledger, as a process that has this key opens it.
    pub(crate) fn ledger(&self, cipher: AesGcmSiv) -> Encrypted {
        let ledger = SqliteLedger::open_with_clock(self.file(), self.time()).unwrap();
        Arc::new(EncryptedLedger::new(ledger, cipher))
    }

    /// Makes a write.
    pub(crate) async fn refund(&self, ledger: &Encrypted, order: u32) -> (Code, String) {
        let verdict = client(ledger).send(self.request(order)).await;
        let body = verdict.reply().and_then(|reply| reply.body().bytes());
        let body = body.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        (verdict.code(), body.unwrap_or_default())
    }

    /// Makes a write, of which nobody hears.
    pub(crate) async fn lose(&self, ledger: &Encrypted, order: u32) {
        let (code, _) = self.refund(ledger, order).await;
        assert_eq!(code, Code::ResponseLost);
    }

    /// One look by a reconciler that can only send again, once all that was sent has landed.
    pub(crate) async fn resend(&self, ledger: &Encrypted) -> Report {
        let by = u64::try_from(Duration::from_hours(6).as_millis()).unwrap();
        self.clock.fetch_add(by, Ordering::SeqCst);
        let resender = Resender::new(profile(), requests(), http());
        let reconciler = Reconciler::new(Arc::clone(ledger), Blind);
        let reconciler = reconciler.with_clock(self.time()).with_resender(resender);
        reconciler.pass().await.unwrap()
    }

    /// Changes the file behind the ledger's back. What the rows were before is in `copy`.
    pub(crate) fn damage(&self, statements: &str) {
        let file = rusqlite::Connection::open(self.file()).unwrap();
        let copy = "CREATE TEMP TABLE copy AS SELECT * FROM entries";
        file.execute_batch(copy).unwrap();
        file.execute_batch(statements).unwrap();
    }

    fn request(&self, order: u32) -> Request<OutcomeBody> {
        let request = Request::post(format!("{}/refunds", self.billing.url()))
            .header("content-type", "application/json")
            .header("x-note", SECRET)
            .header("authorization", format!("Bearer {SECRET}"))
            .body(arguments(order).to_string());
        request.unwrap().with_intent(intent(order))
    }

    fn time(&self) -> impl Fn() -> Timestamp + Send + Sync + 'static {
        let clock = Arc::clone(&self.clock);
        move || Timestamp(clock.load(Ordering::SeqCst))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Never finds anything.
struct Blind;

impl LookUp for Blind {
    fn find<'a>(&'a self, _: &'a Entry, _: &'a WriteRecord) -> LookUpFuture<'a> {
        Box::pin(async { Ok(Found::NotFound) })
    }
}

fn client(ledger: &Encrypted) -> OutcomeClient {
    let claims = ClaimLayer::new(Arc::clone(ledger)).with_stored_requests(requests());
    let stack = Stack::new()
        .with_profile(profile())
        .with_claims(claims.unwrap())
        .with_retry(KeyedRetry::new(1));
    stack.over(http()).boxed()
}

fn requests() -> StoredRequests {
    StoredRequests::new([7; 32]).with_credential("acme")
}

fn http() -> tower_outcome::WritesClient {
    reqwest::Client::builder().for_writes().build().unwrap()
}

fn profile() -> Profile {
    let text = "name = 'billing'\nretention_s = 864000\nstored_failures = 'replay'
        replay = [{ name = 'idempotent-replayed', is = 'true' }]
        [key]\nin = 'header'\nname = 'Idempotency-Key'";
    Profile::from_toml(text).unwrap()
}

fn arguments(order: u32) -> serde_json::Value {
    json!({ "order": format!("A-{order}"), "amount": 1000, "note": SECRET })
}

fn intent(order: u32) -> Intent {
    Intent::new("acme", "refund", &arguments(order)).unwrap()
}

pub(crate) fn key(order: u32) -> EntryKey {
    EntryKey::of(&intent(order))
}

pub(crate) async fn state(ledger: &Encrypted, order: u32) -> State {
    let entry = ledger.read(&key(order)).await.unwrap();
    entry.unwrap().state
}

pub(crate) fn cipher() -> AesGcmSiv {
    AesGcmSiv::new(1, [1; 32])
}

/// The service did it, and nobody heard.
pub(crate) const LOST: Step = Step::CommitThenClose;

/// The service read it, did nothing, and nobody heard.
pub(crate) const IGNORED: Step = Step::StopAfter {
    bytes: 1 << 20,
    end: tower_outcome_testkit::End::Close,
};

/// What nobody is to read in the file.
pub(crate) const SECRET: &str = "canary-4929-1182-7731";
