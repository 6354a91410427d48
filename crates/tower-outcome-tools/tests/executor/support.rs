//! A billing service, a ledger whose clock the test moves, and tools that write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tower_outcome::{
    BoxError, Code, Error, ForWrites as _, KeyedRetry, MemoryLedger, Outcome, OutcomeClient,
    Profile, Stack,
};
use tower_outcome_core::ledger::{Entry, EntryKey, Ledger as _, State, Timestamp};
use tower_outcome_core::{Envelope, IntentRules};
use tower_outcome_testkit::{Billing, Reply, Step};
use tower_outcome_tools::{Executor, Tool, ToolCall};

pub(crate) struct Bench {
    pub(crate) billing: Billing,
    pub(crate) ledger: Arc<MemoryLedger>,
    now: Arc<AtomicU64>,
}

impl Bench {
    pub(crate) async fn start() -> Self {
        let now = Arc::new(AtomicU64::new(Timestamp::now().0));
        let clock = Arc::clone(&now);
        let read = move || Timestamp(clock.load(Ordering::SeqCst));
        Self {
            billing: Billing::start().await.unwrap(),
            ledger: Arc::new(MemoryLedger::default().with_clock(read)),
            now,
        }
    }

    /// A service that does this to the writes it gets.
    pub(crate) async fn scripted(steps: impl IntoIterator<Item = Step>) -> Self {
        let bench = Self::start().await;
        bench.billing.script(steps);
        bench
    }

    pub(crate) fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_millis()).unwrap();
        self.now.fetch_add(by, Ordering::SeqCst);
    }

    /// A new process on the same ledger.
    pub(crate) fn executor(&self) -> Executor {
        Executor::new(Arc::clone(&self.ledger))
    }

    pub(crate) fn writer(&self) -> Writer {
        Writer::new(self.billing.url(), Profile::idempotency_key())
    }

    /// A tool that makes one refund and returns what the service answered.
    pub(crate) fn refund(&self) -> Tool {
        self.tool("refund", |writer, arguments| async move {
            Ok(writer.write("/refunds", &arguments).await?)
        })
    }

    pub(crate) fn tool<F>(
        &self,
        name: &str,
        handler: impl Fn(Writer, Value) -> F + Send + Sync + 'static,
    ) -> Tool
    where
        F: Future<Output = Result<Value, BoxError>> + Send + 'static,
    {
        let writer = self.writer();
        Tool::write(name, move |arguments| handler(writer.clone(), arguments))
    }

    /// Runs a tool of this name on the usual arguments.
    pub(crate) async fn run(&self, tool: Tool) -> Envelope {
        let call = call(tool.name());
        self.executor().with_tool(tool).run(call).await
    }

    pub(crate) async fn entry(&self, tool: &str) -> Entry {
        let intent = IntentRules::new(tool).intent("acme", &order()).unwrap();
        let entry = self.ledger.read(&EntryKey::of(&intent)).await.unwrap();
        entry.expect("the call has a row")
    }

    pub(crate) async fn state(&self, tool: &str) -> State {
        self.entry(tool).await.state
    }

    /// Waits until the row of a call stands so, which somebody in the background brings about.
    pub(crate) async fn until(&self, tool: &str, state: State) {
        while self.state(tool).await != state {
            tokio::task::yield_now().await;
        }
    }
}

/// What a handler writes with.
#[derive(Clone)]
pub(crate) struct Writer {
    client: OutcomeClient,
    url: String,
}

impl Writer {
    pub(crate) fn new(url: String, profile: Profile) -> Self {
        Self::over(url, profile, Duration::from_secs(20))
    }

    /// One that gives up before its tool does.
    pub(crate) fn with_deadline(url: String, limit: Duration) -> Self {
        Self::over(url, Profile::idempotency_key(), limit)
    }

    fn over(url: String, profile: Profile, limit: Duration) -> Self {
        let stack = Stack::new()
            .with_profile(profile.with_replay_marker("idempotent-replayed"))
            .with_retry(KeyedRetry::new(1))
            .with_deadline(limit)
            .requiring_context();
        let http = reqwest::Client::builder().for_writes().build().unwrap();
        Self {
            client: stack.over(http).boxed(),
            url,
        }
    }

    /// One write; what the service answered if it is done.
    pub(crate) async fn write(&self, path: &str, body: &Value) -> Result<Value, Error> {
        let request = http::Request::post(format!("{}{path}", self.url)).body(body.to_string());
        self.client.send(request.unwrap()).await.into_json()
    }
}

pub(crate) fn order() -> Value {
    json!({ "order": "A-1", "amount": 1000 })
}

pub(crate) fn call(tool: &str) -> ToolCall {
    ToolCall::new("acme", tool, order())
}

pub(crate) fn rejected() -> Step {
    Step::AnswerWith(Reply::new(400).with_body(r#"{"error":"no such order"}"#))
}

pub(crate) fn failing() -> Step {
    Step::AnswerWith(Reply::new(500))
}

/// Calls that stop where the test can see them, until it lets them go on.
#[derive(Clone)]
pub(crate) struct Stage {
    started: mpsc::UnboundedSender<i64>,
    seen: Arc<Mutex<mpsc::UnboundedReceiver<i64>>>,
    go: Arc<Semaphore>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let (started, seen) = mpsc::unbounded_channel();
        Self {
            started,
            seen: Arc::new(Mutex::new(seen)),
            go: Arc::new(Semaphore::new(0)),
        }
    }

    /// An opaque tool of which every call stops here.
    pub(crate) fn tool(&self, name: &str) -> Tool {
        let stage = self.clone();
        Tool::opaque_write(name, move |arguments: Value| {
            let stage = stage.clone();
            async move {
                stage
                    .stop(arguments["n"].as_i64().unwrap_or_default())
                    .await;
                Ok(arguments)
            }
        })
    }

    pub(crate) async fn stop(&self, n: i64) {
        self.started.send(n).unwrap();
        self.go.acquire().await.unwrap().forget();
    }

    /// The number of the call that started next.
    pub(crate) async fn next(&self) -> i64 {
        self.seen.lock().await.recv().await.unwrap()
    }

    /// Whether no call starts though nothing else is to be done. Only under paused time.
    pub(crate) async fn is_quiet(&self) -> bool {
        tokio::time::timeout(Duration::from_millis(1), self.next())
            .await
            .is_err()
    }

    pub(crate) fn let_go(&self, calls: usize) {
        self.go.add_permits(calls);
    }
}

/// A call that is told from others by its number.
pub(crate) fn numbered(scope: &str, tool: &str, n: i64) -> ToolCall {
    ToolCall::new(scope, tool, json!({ "n": n }))
}

/// Starts a call in a task of its own.
pub(crate) fn start(executor: &Executor, call: ToolCall) -> JoinHandle<Envelope> {
    let executor = executor.clone();
    tokio::spawn(async move { executor.run(call).await })
}

#[track_caller]
pub(crate) fn is(envelope: &Envelope, outcome: Outcome, code: Code) {
    assert_eq!(
        (envelope.outcome(), envelope.code()),
        (outcome, code),
        "{envelope:?}"
    );
}

pub(crate) const SHORT: Duration = Duration::from_millis(250);
