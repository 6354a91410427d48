//! Everything at once: what is said stays true, and nothing is left behind.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tower_outcome::{BoxError, Envelope, Outcome, Profile};
use tower_outcome_core::IntentRules;
use tower_outcome_core::ledger::{EntryKey, Ledger as _, State};
use tower_outcome_testkit::{Billing, Step};
use tower_outcome_tools::{Executor, Lane, Lanes, NearMisses, Tool, ToolCall};

use crate::support::{Bench, Writer, failing, rejected};

/// Numbers that look like chance and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// What the service does to the writes that it gets.
fn faults(dice: &mut Dice) -> Vec<Step> {
    let step = |roll| match roll {
        0 => Step::CommitThenClose,
        1 => Step::CommitThenReset,
        2 => failing(),
        3 => rejected(),
        _ => Step::Answer,
    };
    (0..CALLS * 2).map(|_| step(dice.roll(12))).collect()
}

fn tools(billing: &Billing, unkeyed: &Billing) -> [Tool; 3] {
    let keyed = Writer::new(billing.url(), Profile::idempotency_key());
    let sdk = keyed.clone();
    let plain = Writer::new(unkeyed.url(), Profile::default());
    [
        Tool::write("refund", move |arguments| write(keyed.clone(), arguments)),
        // An SDK that tries again by itself, whatever the error.
        Tool::write("sdk", move |arguments| {
            let sdk = sdk.clone();
            async move {
                match write(sdk.clone(), arguments.clone()).await {
                    Ok(answer) => Ok(answer),
                    Err(_) => write(sdk, arguments).await,
                }
            }
        }),
        Tool::write("plain", move |arguments| write(plain.clone(), arguments)),
    ]
}

async fn write(writer: Writer, arguments: Value) -> Result<Value, BoxError> {
    let path = path(&arguments);
    match arguments["mood"].as_str() {
        Some("panics first") => panic!("a bug"),
        Some("panics late") => {
            writer.write(&path, &arguments).await?;
            panic!("a bug")
        }
        _ => Ok(writer.write(&path, &arguments).await?),
    }
}

/// A process of its own on the same ledger.
fn process(bench: &Bench, unkeyed: &Billing, lanes: &Lanes) -> Executor {
    let executor = bench.executor().with_lanes(lanes.clone());
    let executor = executor.with_concurrency(24).with_queue(64, 64);
    let lane = |_: &str, arguments: &Value| {
        let n = arguments["n"].as_u64().unwrap_or_default();
        [n % 8, n % 3].map(|lane| Lane::new(lane.to_string()))
    };
    let tools = tools(&bench.billing, unkeyed);
    tools.into_iter().fold(executor, |executor, tool| {
        let tool = tool.with_lanes(lane).with_near_misses(NearMisses::Lifted);
        executor.with_tool(tool.with_concurrency(16))
    })
}

fn wish(dice: &mut Dice, n: u64) -> (&'static str, Value) {
    let tool = ["refund", "sdk", "plain"][usize::try_from(n % 3).unwrap()];
    let mood = match dice.roll(20) {
        0 => "panics first",
        1 => "panics late",
        _ => "good",
    };
    (tool, json!({ "n": n, "order": n, "mood": mood }))
}

/// Runs a call; now and then its caller leaves after a while.
async fn run(executor: Executor, call: ToolCall, patience: u64) -> Option<Envelope> {
    let task = tokio::spawn(async move { executor.run(call).await });
    if patience < 20 {
        for _ in 0..patience * 4 {
            tokio::task::yield_now().await;
        }
        task.abort();
    }
    task.await.ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_drops_panics_and_lost_answers_every_word_is_true_and_nothing_is_left() {
    let mut dice = Dice(0x5eed);
    let bench = Bench::scripted(faults(&mut dice)).await;
    let unkeyed = Billing::start_without_keys().await.unwrap();
    unkeyed.script(faults(&mut dice));
    let lanes = Lanes::new();
    let processes = [(); 2].map(|()| process(&bench, &unkeyed, &lanes));

    // Each wish twice, somewhere near each other, by either process.
    let mut calls = Vec::new();
    for n in 0..CALLS as u64 / 2 {
        let wish = wish(&mut dice, n);
        calls.push((wish.clone(), dice.roll(100)));
        let at = calls.len() - 1 - usize::try_from(dice.roll(8)).unwrap().min(calls.len() - 1);
        calls.insert(at, (wish, dice.roll(100)));
    }
    let told =
        stream::iter(calls.into_iter().enumerate()).map(|(at, ((tool, arguments), roll))| {
            let executor = processes[at % 2].clone();
            let call = ToolCall::new("acme", tool, arguments.clone());
            async move { ((tool, arguments), run(executor, call, roll).await) }
        });
    let told: Vec<_> = told.buffer_unordered(64).collect().await;

    for process in &processes {
        assert_eq!(process.drain(Duration::from_mins(1)).await, 0);
    }
    assert!(lanes.is_empty());

    let mut wishes = HashMap::<_, Vec<_>>::new();
    for (wish, envelope) in told {
        let wish = (wish.0, wish.1.to_string());
        wishes.entry(wish).or_default().push(envelope);
    }
    let mut words = HashMap::<_, usize>::new();
    for ((tool, arguments), told) in wishes {
        let arguments: Value = serde_json::from_str(&arguments).unwrap();
        let billing = match tool {
            "plain" => &unkeyed,
            _ => &bench.billing,
        };
        let commits = billing.commits_at(&path(&arguments));
        let intent = IntentRules::new(tool).intent("acme", &arguments).unwrap();
        let entry = bench.ledger.read(&EntryKey::of(&intent)).await.unwrap();
        let state = entry.map(|entry| entry.state);
        let said: Vec<_> = told.iter().flatten().map(Envelope::outcome).collect();
        let context = (tool, &arguments, &told, commits, state);
        assert!(commits <= 1, "{context:?}");
        if said.iter().any(|word| word.is_done()) || state == Some(State::Done) {
            assert_eq!((commits, state), (1, Some(State::Done)), "{context:?}");
        } else if said.len() == told.len() && said.iter().all(|word| *word == Outcome::Failed) {
            assert_eq!(commits, 0, "{context:?}");
        }
        assert!(
            !matches!(state, Some(State::Claimed | State::Dispatching)),
            "{context:?}"
        );
        for word in said {
            *words.entry(word).or_default() += 1;
        }
    }
    for word in [
        Outcome::AlreadyDone,
        Outcome::Failed,
        Outcome::Ok,
        Outcome::Unknown,
    ] {
        assert!(words.contains_key(&word), "{words:?}");
    }

    drop((processes, bench, unkeyed));
    while Handle::current().metrics().num_alive_tasks() > 0 {
        tokio::task::yield_now().await;
    }
}

/// Where a wish is written to, so that its effects can be counted.
fn path(arguments: &Value) -> String {
    format!("/refunds/{}", arguments["n"])
}

const CALLS: usize = 10_000;
