//! Rules at the seams between two layers, found by reading one against the other.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::Request;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower_outcome::{
    ClaimLayer, Code, Context, ForWrites as _, Gate, Intent, KeyedRetry, Ledger, MemoryLedger,
    Outcome, OutcomeBody, OutcomeClient, Profile, RequestExt as _, Stack,
};
use tower_outcome_core::ledger::{
    Answer, Ending, Entry, EntryKey, Event, LedgerFuture, WriteRecord,
};
use tower_outcome_testkit::{Billing, Reply, Step};
use tower_outcome_tools::reconciler::LookUpFuture;
use tower_outcome_tools::{Executor, Found, LookUp, NothingSent, Reconciler, Tool, ToolCall};

fn intent() -> Intent {
    Intent::new("acme", "refund", &order()).unwrap()
}

fn order() -> Value {
    json!({ "order": "A-1", "amount": 1000 })
}

fn write(url: &str) -> Request<OutcomeBody> {
    Request::post(format!("{url}/refunds"))
        .body(order().to_string().into())
        .unwrap()
}

fn keyed(url: &str, key: &'static str) -> Request<OutcomeBody> {
    let mut request = write(url);
    let key = http::HeaderValue::from_static(key);
    request.headers_mut().insert("idempotency-key", key);
    request
}

fn once() -> Stack {
    let profile = Profile::idempotency_key().with_replay_marker("idempotent-replayed");
    Stack::new()
        .with_profile(profile)
        .with_retry(KeyedRetry::new(1))
}

fn over(stack: &Stack) -> OutcomeClient {
    let http = reqwest::Client::builder().for_writes().build().unwrap();
    stack.over(http).boxed()
}

/// Makes a write whose answer is lost and then again, both in one tool call.
async fn repeat(then: Option<Step>) -> Code {
    let billing = Billing::start().await.unwrap();
    let stop = then.is_none();
    billing.script([Step::CommitThenClose].into_iter().chain(then));
    let url = billing.url();
    let client = over(&once());
    let context = Context::new(&intent(), 0, Gate::new());
    let first = context.clone().scope(client.send(write(&url))).await;
    assert_eq!((first.code(), billing.commits()), (Code::ResponseLost, 1));
    let _closed = if stop {
        Err(billing.stop().await.unwrap())
    } else {
        Ok(billing)
    };
    context.scope(client.send(write(&url))).await.code()
}

#[tokio::test]
async fn a_refusal_of_a_repeat_in_a_tool_call_does_not_speak_for_the_first_time() {
    let code = repeat(Some(Step::AnswerWith(Reply::new(400)))).await;
    assert_eq!(code.outcome(), Outcome::Unknown, "{code}");
}

#[tokio::test]
async fn a_repeat_in_a_tool_call_that_never_left_does_not_speak_for_the_first_time() {
    let code = repeat(None).await;
    assert_eq!(code.outcome(), Outcome::Unknown, "{code}");
}

#[tokio::test]
async fn a_tool_call_whose_own_repeat_is_replayed_did_it_itself() {
    assert_eq!(repeat(Some(Step::Answer)).await, Code::DoneReplayed);
}

#[tokio::test]
async fn a_tool_call_and_its_writes_do_not_keep_each_other_alive() {
    let billing = Billing::start().await.unwrap();
    let kept = Arc::new(());
    let context = Context::new(&intent(), 0, Gate::new()).with_extension(Arc::clone(&kept));
    let client = over(&once());
    let sent = context.clone().scope(client.send(write(&billing.url())));
    assert_eq!(sent.await.code(), Code::Done);
    drop(client);
    assert_eq!(context.writes().len(), 1);
    drop(context);
    let gone = async {
        while Arc::strong_count(&kept) > 1 {
            tokio::task::yield_now().await;
        }
    };
    let gone = tokio::time::timeout(Duration::from_secs(20), gone).await;
    assert!(gone.is_ok(), "the call is still there");
}

#[tokio::test]
async fn another_key_of_the_callers_is_another_write_of_the_tool_call() {
    let billing = Billing::start().await.unwrap();
    let client = over(&Stack::new());
    let context = Context::new(&intent(), 0, Gate::new());
    let first = context
        .clone()
        .scope(client.send(keyed(&billing.url(), "a")))
        .await;
    assert_eq!(first.code(), Code::Done);
    let second = context.scope(client.send(keyed(&billing.url(), "b"))).await;
    assert_eq!(
        second.outcome().is_done(),
        billing.commits() == 2,
        "{}",
        second.code()
    );
}

#[tokio::test]
async fn a_done_write_does_not_hide_the_doubt_about_one_with_another_key() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::Answer, Step::ReadAllThenSilence]);
    let client = over(&once().with_deadline(Duration::from_millis(250)));
    let url = billing.url();
    let tool = Tool::write("refund", move |_| {
        let (client, url) = (client.clone(), url.clone());
        async move {
            let _ = client.send(keyed(&url, "a")).await;
            let _ = client.send(keyed(&url, "b")).await;
            Ok(Value::Null)
        }
    });
    let executor = Executor::new(MemoryLedger::default()).with_tool(tool);
    let envelope = executor.run(ToolCall::new("acme", "refund", order())).await;
    assert_eq!(envelope.outcome(), Outcome::Unknown, "{envelope:?}");
}

#[tokio::test]
async fn a_write_that_was_refused_for_want_of_a_label_is_not_made_good_by_the_handlers_word() {
    let billing = Billing::start().await.unwrap();
    let client = over(&once());
    let url = billing.url();
    let tool = Tool::write("refund", move |_| {
        let (client, url) = (client.clone(), url.clone());
        async move {
            let _ = client.send(write(&url)).await;
            let other = write(&url).map(|_| OutcomeBody::from("{}"));
            let _ = client.send(other).await;
            Ok(Value::Null)
        }
    });
    let executor = Executor::new(MemoryLedger::default()).with_tool(tool);
    let envelope = executor.run(ToolCall::new("acme", "refund", order())).await;
    assert_eq!(billing.commits(), 1);
    assert_eq!(envelope.code(), Code::Partial, "{envelope:?}");
}

#[tokio::test]
async fn any_patience_can_be_asked_for() {
    let billing = Billing::start().await.unwrap();
    let claims = ClaimLayer::new(MemoryLedger::default()).with_patience(Duration::MAX);
    let client = over(&once().with_claims(claims));
    let verdict = client
        .send(write(&billing.url()).with_intent(intent()))
        .await;
    assert_eq!(verdict.code(), Code::Done);
}

#[tokio::test]
async fn any_deadline_and_patience_can_be_asked_of_an_executor() {
    let tool = || Tool::opaque_write("print", |_| async { Ok(Value::Null) });
    let executor = || Executor::new(MemoryLedger::default()).with_tool(tool());
    for executor in [
        executor().with_patience(Duration::MAX),
        executor().with_deadline(Duration::MAX),
    ] {
        let envelope = executor.run(ToolCall::new("acme", "print", order())).await;
        assert_eq!(envelope.code(), Code::Done);
    }
}

/// A ledger that does what `holds` accepts and says so only once it may go on.
struct Held {
    ledger: MemoryLedger,
    reads: Arc<AtomicUsize>,
    holds: fn(&Event) -> bool,
    stopped: Arc<Notify>,
    go_on: Arc<Notify>,
}

impl Held {
    fn new(holds: fn(&Event) -> bool) -> Self {
        Self {
            ledger: MemoryLedger::default(),
            reads: Arc::default(),
            holds,
            stopped: Arc::default(),
            go_on: Arc::default(),
        }
    }
}

impl Ledger for Held {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(async move {
            let holds = (self.holds)(&event);
            let answer = self.ledger.apply(key, event).await;
            if holds {
                self.stopped.notify_one();
                self.go_on.notified().await;
            }
            answer
        })
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.ledger.read(key)
    }

    tower_outcome_core::forward_ledger!(self => self.ledger;
        unresolved due page counts purge changed);
}

#[tokio::test]
async fn a_refusal_that_the_ledger_does_not_take_down_in_time_is_not_failed() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerWith(Reply::new(400))]);
    let ledger = Held::new(|event| {
        matches!(
            event,
            Event::Settle {
                ending: Ending::Failed { .. },
                ..
            }
        )
    });
    let stack = once()
        .with_ledger(ledger)
        .with_deadline(Duration::from_millis(250));
    let verdict = over(&stack)
        .send(write(&billing.url()).with_intent(intent()))
        .await;
    assert_eq!(billing.received().len(), 1);
    assert_eq!(verdict.outcome(), Outcome::Unknown, "{}", verdict.code());
}

#[tokio::test]
async fn a_high_occurrence_does_not_read_the_ledger_without_end() {
    let ledger = Held::new(|_| false);
    let reads = Arc::clone(&ledger.reads);
    let tool = Tool::opaque_write("print", |_| async { Ok(Value::Null) });
    let executor = Executor::new(ledger).with_tool(tool);
    let call = ToolCall::new("acme", "print", order()).with_occurrence(100_000);
    executor.run(call).await;
    assert!(reads.load(Ordering::SeqCst) < 1000);
}

/// Believes that everything happened.
struct Believer;

impl LookUp for Believer {
    fn find<'a>(&'a self, _: &'a Entry, write: &'a WriteRecord) -> LookUpFuture<'a> {
        assert!(
            !write.wire_key.is_empty() || write.reference.as_ref().is_some_and(|it| !it.is_empty())
        );
        Box::pin(async { Ok(Found::Done(Value::Null)) })
    }
}

#[tokio::test]
async fn a_look_up_is_never_asked_for_an_empty_reference() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerWith(Reply::new(500))]);
    let profile = Profile::idempotency_key().with_reference("reference");
    let client = over(&once().with_profile(profile));
    let url = billing.url();
    let tool = Tool::write("refund", move |_| {
        let (client, url) = (client.clone(), url.clone());
        async move { Ok(client.send(keyed(&url, "a")).await.into_json()?) }
    });
    let ledger = Arc::new(MemoryLedger::default());
    let executor = Executor::new(Arc::clone(&ledger)).with_tool(tool);
    let envelope = executor.run(ToolCall::new("acme", "refund", order())).await;
    assert_eq!(envelope.code(), Code::ServerError);
    let report = Reconciler::new(ledger, Believer).pass().await.unwrap();
    assert!(report.confirmed.is_empty());
}

#[tokio::test]
async fn a_call_that_stopped_in_doubt_before_its_second_write_is_not_confirmed_by_its_first() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenClose]);
    let client = over(&once());
    let url = billing.url();
    let tool = Tool::write("pair", move |_| {
        let (client, url) = (client.clone(), url.clone());
        async move {
            client.send(write(&format!("{url}/a"))).await.into_json()?;
            Ok(client.send(write(&format!("{url}/b"))).await.into_json()?)
        }
    });
    let ledger = Arc::new(MemoryLedger::default());
    let executor = Executor::new(Arc::clone(&ledger)).with_tool(tool);
    let call = ToolCall::new("acme", "pair", order());
    assert_eq!(executor.run(call.clone()).await.code(), Code::ResponseLost);
    Reconciler::new(ledger, Believer).pass().await.unwrap();
    let again = executor.run(call).await;
    assert_eq!(billing.commits_at("/b/refunds"), 0);
    assert!(!again.outcome().is_done(), "{again:?}");
}

#[tokio::test]
async fn an_empty_key_is_none() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenClose]);
    let stack = Stack::new()
        .with_profile(Profile::idempotency_key())
        .with_retry(KeyedRetry::new(2).with_first_delay(Duration::ZERO));
    let verdict = over(&stack).send(keyed(&billing.url(), "")).await;
    assert_eq!(billing.received().len(), 1, "{}", verdict.code());
}

#[tokio::test]
async fn an_intent_of_a_handlers_own_moves_on_to_its_next_key_after_a_refusal() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerWith(Reply::new(400)), Step::Answer]);
    let client = over(&once().with_ledger(MemoryLedger::default()));
    for outcome in [Outcome::Failed, Outcome::Ok] {
        let context = Context::new(
            &Intent::new("acme", "outer", &order()).unwrap(),
            0,
            Gate::new(),
        );
        let send = client.send(write(&billing.url()).with_intent(intent()));
        assert_eq!(context.scope(send).await.outcome(), outcome);
    }
    let keys: Vec<_> = billing
        .received()
        .iter()
        .map(|it| it.key().map(str::to_owned))
        .collect();
    assert_ne!(keys[0], keys[1]);
}

#[tokio::test]
async fn a_call_that_ends_late_takes_no_part_from_the_next_one_under_its_key() {
    let ledger = Held::new(|event| matches!(event, Event::Release { .. }));
    let freed = Arc::clone(&ledger.stopped);
    let late = Arc::new(Notify::new());
    let (release, wake) = (Arc::clone(&ledger.go_on), Arc::clone(&late));
    let executor: Arc<OnceLock<Executor>> = Arc::default();
    let nested = Arc::clone(&executor);
    let runs = Arc::new(AtomicUsize::new(0));
    let outer = Tool::opaque_write("outer", move |_| {
        let run = runs.fetch_add(1, Ordering::SeqCst);
        let (release, wake, nested) =
            (Arc::clone(&release), Arc::clone(&wake), Arc::clone(&nested));
        async move {
            if run == 0 {
                wake.notified().await;
                return Err(NothingSent::new().into());
            }
            release.notify_one();
            for _ in 0..100 {
                tokio::task::yield_now().await; // the first call's task ends
            }
            let inner = ToolCall::new("acme", "inner", order());
            let inner = nested.get().unwrap().run(inner).await;
            assert_eq!(inner.outcome(), Outcome::Unknown);
            Ok(Value::Null)
        }
    })
    .with_deadline(Duration::from_millis(250));
    let inner = Tool::opaque_write("inner", |_| async { Err("who knows".into()) });
    let running = Executor::new(ledger).with_tool(outer).with_tool(inner);
    let running = executor.get_or_init(|| running);

    let call = ToolCall::new("acme", "outer", order());
    assert_eq!(
        running.run(call.clone()).await.code(),
        Code::TimeoutAfterSend
    );
    late.notify_one();
    freed.notified().await;
    let again = running.run(call).await;
    assert_eq!(again.outcome(), Outcome::Unknown, "{again:?}");
}
