//! Handlers that are tower services, with types of their own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tower::{BoxError, Service, ServiceBuilder, service_fn};
use tower_outcome::{Code, Context, Envelope, MemoryLedger, Outcome};
use tower_outcome_tools::{Deadline, Executor, Tool, ToolCall};

use crate::support::{Bench, call, is, order};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    order: String,
    amount: u64,
    #[serde(default)]
    lines: Vec<Line>,
    #[serde(default)]
    by: Option<Channel>,
    #[serde(default)]
    counts: BTreeMap<u32, u8>,
}

#[derive(Debug, Deserialize)]
struct Line {
    sku: String,
    count: i8,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Channel {
    Card { last: (u8, u8) },
    Cash,
    Note(String),
}

#[derive(Serialize)]
struct Echo {
    order: String,
    amount: u64,
    lines: usize,
    by: String,
    counts: BTreeMap<u32, u8>,
}

async fn echo(wish: Wish) -> Result<Echo, BoxError> {
    Ok(Echo {
        lines: wish
            .lines
            .iter()
            .map(|line| line.sku.len() + usize::try_from(line.count).unwrap_or(0))
            .sum(),
        by: match wish.by {
            Some(Channel::Card { last: (a, b) }) => format!("card {a}{b}"),
            Some(Channel::Cash) => "cash".to_owned(),
            Some(Channel::Note(note)) => note,
            None => "nobody".to_owned(),
        },
        order: wish.order,
        amount: wish.amount,
        counts: wish.counts,
    })
}

async fn run(tool: Tool, arguments: Value) -> Envelope {
    let call = ToolCall::new("acme", tool.name(), arguments);
    let executor = Executor::new(MemoryLedger::default()).with_tool(tool);
    executor.run(call).await
}

#[tokio::test]
async fn a_service_gets_and_returns_its_own_types() {
    for (by, told) in [
        (json!("cash"), "cash"),
        (json!({ "note": "later" }), "later"),
        (json!({ "card": { "last": [4, 2] } }), "card 42"),
        (Value::Null, "nobody"),
    ] {
        let arguments = json!({
            "order": "A-1", "amount": 1000, "by": by, "counts": { "7": 1 },
            "lines": [{ "sku": "ab", "count": 3, "more": "is not asked for" }],
        });
        let envelope = run(Tool::read_service("look", service_fn(echo)), arguments).await;
        is(&envelope, Outcome::Ok, Code::Done);
        let expected = json!({
            "order": "A-1", "amount": 1000, "lines": 5, "by": told, "counts": { "7": 1 },
        });
        assert_eq!(*envelope.data(), expected);
    }
}

#[tokio::test]
async fn arguments_of_another_type_are_named_by_place_and_kind_and_nothing_is_claimed() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&ran);
    let service = service_fn(move |wish: Wish| {
        counted.fetch_add(1, Ordering::SeqCst);
        echo(wish)
    });
    let tools = [
        Tool::read_service("tool", service.clone()),
        Tool::write_service("tool", service.clone()),
        Tool::opaque_write_service("tool", service),
    ];
    let good = json!({ "order": "A-1", "amount": 1000 });
    for (member, value, told) in [
        (
            "order",
            json!(4711),
            "/order: is a whole number where a string",
        ),
        ("amount", json!("s3cret"), "/amount: is a string where u64"),
        ("amount", json!(-4711), "/amount: is out of range where u64"),
        (
            "amount",
            json!(47.11),
            "/amount: is a number with a fraction where u64",
        ),
        ("amount", Value::Null, "/amount: is null where u64"),
        (
            "lines",
            json!([{ "sku": "s3cret" }]),
            "/lines/0/count: is missing",
        ),
        (
            "lines",
            json!([{ "sku": "a", "count": 4711 }]),
            "/lines/0/count: is out of range",
        ),
        (
            "lines",
            json!({ "a/b": true }),
            "/lines: is an object where a sequence",
        ),
        ("by", json!("s3cret"), "/by: is none of card, cash, note"),
        (
            "by",
            json!({ "card": { "last": [1, 2, 3] } }),
            "/by/card/last: has length 3",
        ),
        (
            "by",
            json!({ "card": { "last": [1, true] } }),
            "/by/card/last/1: is a boolean",
        ),
        ("by", json!([]), "/by: is neither a name nor an object"),
        (
            "counts",
            json!({ "s3cret": 1 }),
            "/counts: is a string where u32",
        ),
        ("a/b", json!("s3cret"), "/a~1b: is not known"),
    ] {
        let mut arguments = good.clone();
        arguments[member] = value;
        for tool in &tools {
            let envelope = run(tool.clone(), arguments.clone()).await;
            is(&envelope, Outcome::Failed, Code::InvalidArguments);
            let message = envelope.message();
            assert!(message.contains(told), "{told}: {message}");
            assert!(
                !message.contains("4711") && !message.contains("s3cret"),
                "{message}"
            );
        }
    }
    let envelope = run(tools[1].clone(), json!(["no object"])).await;
    is(&envelope, Outcome::Failed, Code::InvalidArguments);
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_typed_handler_writes_like_any_other() {
    let bench = Bench::start().await;
    let writer = bench.writer();
    let refund = service_fn(move |arguments: BTreeMap<String, Value>| {
        let writer = writer.clone();
        async move { writer.write("/refunds", &json!(arguments)).await }
    });
    let executor = bench.executor();
    // A `Buffer` calls it from a task of its own, but what it answers runs in the call's.
    let refund = ServiceBuilder::new().buffer(4).service(refund);
    let executor = executor.with_tool(Tool::write_service("refund", refund));
    let first = executor.run(call("refund")).await;
    is(&first, Outcome::Ok, Code::Done);
    assert_eq!(first.data()["order"], order()["order"]);
    let again = executor.run(call("refund")).await;
    is(&again, Outcome::AlreadyDone, Code::AlreadyDone);
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn a_result_that_is_no_json_does_not_make_a_write_doubtful() {
    let bench = Bench::start().await;
    let writer = bench.writer();
    let refund = service_fn(move |arguments: Value| {
        let writer = writer.clone();
        async move {
            writer.write("/refunds", &arguments).await?;
            Ok::<_, BoxError>(BTreeMap::from([((), "no name")]))
        }
    });
    let envelope = bench
        .run(Tool::write_service("refund", refund.clone()))
        .await;
    is(&envelope, Outcome::Ok, Code::Done);
    assert_eq!(*envelope.data(), Value::Null);
    let read = service_fn(|_: Value| async { Ok::<_, BoxError>(BTreeMap::from([((), 1)])) });
    is(
        &bench.run(Tool::read_service("look", read)).await,
        Outcome::Failed,
        Code::ReadFailed,
    );
}

/// Ready once it was asked twice, on the very clone that is called then.
struct Slow {
    asked: usize,
    never: bool,
}

impl Clone for Slow {
    fn clone(&self) -> Self {
        Self { asked: 0, ..*self }
    }
}

impl Service<Value> for Slow {
    type Response = Value;
    type Error = BoxError;
    type Future = std::future::Ready<Result<Value, BoxError>>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), BoxError>> {
        self.asked += 1;
        if self.asked < 2 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.never {
            return Poll::Ready(Err("it is gone".into()));
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Value) -> Self::Future {
        assert!(self.asked >= 2, "called before it was ready");
        std::future::ready(Ok(request))
    }
}

#[tokio::test]
async fn a_service_is_called_once_it_is_ready() {
    let slow = Slow {
        asked: 7,
        never: false,
    };
    for tool in [
        Tool::read_service("tool", slow.clone()),
        Tool::opaque_write_service("tool", slow),
    ] {
        is(&run(tool, order()).await, Outcome::Ok, Code::Done);
    }
}

#[tokio::test]
async fn a_service_that_never_gets_ready_has_sent_nothing() {
    let gone = Slow {
        asked: 0,
        never: true,
    };
    for tool in [
        Tool::write_service("tool", gone.clone()),
        Tool::opaque_write_service("tool", gone),
    ] {
        is(
            &run(tool, order()).await,
            Outcome::Failed,
            Code::HandlerError,
        );
    }
}

#[tokio::test(start_paused = true)]
async fn layers_around_a_handler_cap_it() {
    let most = Arc::new([const { AtomicUsize::new(0) }; 2]);
    let counts = Arc::clone(&most);
    let handler = service_fn(move |_: Value| {
        let counts = Arc::clone(&counts);
        async move {
            let now = counts[0].fetch_add(1, Ordering::SeqCst) + 1;
            counts[1].fetch_max(now, Ordering::SeqCst);
            tokio::task::yield_now().await;
            counts[0].fetch_sub(1, Ordering::SeqCst);
            Ok::<_, BoxError>(now)
        }
    });
    let handler = ServiceBuilder::new()
        .buffer(8)
        .concurrency_limit(2)
        .service(handler);
    let executor = Executor::new(MemoryLedger::default())
        .with_tool(Tool::opaque_write_service("print", handler));
    let calls = (0..20).map(|n| ToolCall::new("acme", "print", json!({ "n": n })));
    for envelope in executor.run_all(calls.collect()).await {
        is(&envelope, Outcome::Ok, Code::Done);
    }
    assert_eq!(most[1].load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_handler_knows_its_deadline_in_every_task_that_it_gives_its_context() {
    let limit = Duration::from_secs(7);
    let handler = |_: Value| async {
        let context = Context::current().unwrap();
        let spawned = tokio::spawn(async { Deadline::current().is_none() });
        let scoped = tokio::spawn(context.clone().scope(async { Deadline::current() }));
        let (lost, scoped) = (spawned.await?, scoped.await?);
        assert!(lost);
        assert_eq!(
            (scoped, Deadline::current()),
            (Deadline::of(&context), scoped)
        );
        let left = scoped.map(Deadline::left);
        Ok(json!(left.map(|left| left.as_secs())))
    };
    for tool in [
        Tool::read("tool", handler),
        Tool::opaque_write("tool", handler),
    ] {
        let envelope = run(tool.with_deadline(limit), order()).await;
        is(&envelope, Outcome::Ok, Code::Done);
        assert_eq!(*envelope.data(), 7);
    }
    assert_eq!(Deadline::current(), None);
}
