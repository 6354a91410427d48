//! One of the processes that make the calls.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::Barrier;
use tower_outcome::{
    BoxError, Code, Context, Envelope, ForWrites as _, KeyedRetry, Outcome, OutcomeClient, Profile,
    Stack,
};
use tower_outcome_sqlite::SqliteLedger;
use tower_outcome_tools::{Executor, Lane, Lanes, NearMisses, Tool};

use crate::memory::{self, Round};
use crate::wishes::{Call, SCOPE, Service, TOOLS, Wish, calls, rules, wish_of, wishes};

/// What a process is to do.
pub(crate) struct Order {
    /// Its place among all.
    pub(crate) index: u64,
    pub(crate) ledger: PathBuf,
    /// In the order of [`Service::ALL`].
    pub(crate) urls: Vec<String>,
}

/// A process as it is seen from outside.
pub(crate) struct Process {
    child: Child,
    /// What it says to people.
    log: PathBuf,
}

impl Process {
    pub(crate) fn start(order: &Order) -> Self {
        let log = order
            .ledger
            .with_file_name(format!("process_{}.log", order.index));
        let order = json!({ "index": order.index, "ledger": order.ledger, "urls": order.urls });
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "process", "--ignored", "--nocapture"])
            .env(ORDER, order.to_string())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn();
        Self {
            child: child.unwrap(),
            log,
        }
    }

    /// What its calls were told, with their ids, once it has ended well.
    fn told(mut self) -> Vec<(u64, Envelope)> {
        let (mut told, mut rest) = (Vec::new(), String::new());
        let output = BufReader::new(self.child.stdout.take().unwrap());
        for line in output.lines().map(Result::unwrap) {
            match line.strip_prefix(TOLD) {
                Some(line) => told.push(serde_json::from_str(line).expect(line)),
                None => rest = rest + &line + "\n",
            }
        }
        let ended = self.child.wait().unwrap();
        let log = std::fs::read_to_string(&self.log).unwrap();
        assert!(ended.success(), "{ended}\n{rest}{log}");
        told
    }
}

/// What the calls of all processes were told.
pub(crate) async fn told_by(processes: [Process; 2]) -> Vec<(u64, Envelope)> {
    let told = processes.map(|process| tokio::task::spawn_blocking(|| process.told()));
    let mut all = Vec::new();
    for told in told {
        all.extend(told.await.unwrap());
    }
    all
}

/// Does what it was ordered to.
pub(crate) fn run() {
    let order = std::env::var(ORDER).expect("the order is given");
    let order: Value = serde_json::from_str(&order).unwrap();
    keep_quiet_about_bugs();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    // libtest has written a part of a line.
    println!();
    runtime.unwrap().block_on(all_calls(&order));
}

async fn all_calls(order: &Value) {
    let ledger = SqliteLedger::open(order["ledger"].as_str().unwrap()).unwrap();
    let lanes = Lanes::new();
    let gathering = Arc::new(Barrier::new(PERMITS));
    let executor = tools(order, &gathering).into_iter().fold(
        Executor::new(ledger)
            .with_lanes(lanes.clone())
            .with_concurrency(PERMITS)
            .with_queue(64, 64)
            // Not what ends a call here, however busy the machine is: the clients' deadline does.
            .with_deadline(Duration::from_mins(1))
            .with_patience(Duration::from_millis(200)),
        Executor::with_tool,
    );
    let index = order["index"].as_u64().unwrap();
    let mine = calls().into_iter().zip(0..);
    let mine: Vec<_> = mine.filter(|(_, at)| at % 2 == index).collect();
    let mut rounds = Vec::new();
    for round in mine.chunks(mine.len().div_ceil(ROUNDS)) {
        let calls = round.iter().map(|(call, _)| *call);
        let told = stream::iter(calls).map(|call| run_call(executor.clone(), call));
        let told = told.buffer_unordered(32).filter_map(std::future::ready);
        told.for_each(|told| {
            println!("{TOLD}{}", json!(told));
            std::future::ready(())
        })
        .await;
        gather(&executor, index).await;
        let in_doubt = expect_nothing_left(&executor, &lanes).await;
        rounds.push(Round::now(in_doubt));
    }
    memory::expect_none_left(&rounds);

    assert_eq!(
        executor.drain(Duration::from_mins(5)).await,
        0,
        "{executor:?}"
    );
    drop(executor);
    while Handle::current().metrics().num_alive_tasks() > 0 {
        tokio::task::yield_now().await;
    }
}

/// Runs a call; now and then its caller leaves after a while.
async fn run_call(executor: Executor, call: Call) -> Option<(u64, Envelope)> {
    let task = tokio::spawn(async move { executor.run(call.tool_call()).await });
    if let Some(turns) = call.leaves_after {
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        task.abort();
    }
    Some((call.id, task.await.ok()?))
}

/// Makes as many calls at once as there are permits, which end once all of them have started.
async fn gather(executor: &Executor, index: u64) {
    let all = calls().len() as u64 + index * PERMITS as u64;
    let gathering = (0..PERMITS as u64).map(|n| {
        let (n, mood) = (all + n, "gathers");
        let wish = Wish { n, mood };
        executor.run(
            Call {
                id: n,
                wish,
                leaves_after: None,
            }
            .tool_call(),
        )
    });
    for envelope in futures_util::future::join_all(gathering).await {
        // Nothing was written: that is what it promised to end in.
        assert_eq!(envelope.outcome(), Outcome::Failed, "{envelope:?}");
        assert!(
            envelope.message().contains("without a write"),
            "{envelope:?}"
        );
    }
}

/// Nothing of a call is left in any table, but for the doubts that the ledger shares, of which it
/// says how many there are.
async fn expect_nothing_left(executor: &Executor, lanes: &Lanes) -> usize {
    // All tails have ended once no connection is open any more and nobody but the pools runs.
    let tasks = || Handle::current().metrics().num_alive_tasks();
    while !format!("{executor:?}").contains("open: 0, ") || tasks() > Service::ALL.len() {
        tokio::task::yield_now().await;
    }
    // A look at the ledger has the executor forget what is no doubt any more.
    let shared = stream::iter(wishes())
        .map(|wish| async move { executor.status_of(SCOPE, &wish.key().key).await })
        .buffer_unordered(PERMITS)
        .filter(|status| std::future::ready(status.code() == Code::StillConfirming))
        .count()
        .await;
    assert!(lanes.is_empty(), "{lanes:?}");
    let left = format!("{executor:?}");
    assert!(left.contains("open: 0, leading: 0, waiting: 0, "), "{left}");
    let (_, in_doubt) = left.split_once("in_doubt: ").unwrap();
    let in_doubt: String = in_doubt.chars().take_while(char::is_ascii_digit).collect();
    let in_doubt = in_doubt.parse().unwrap();
    // Some of the doubts are those of the other process.
    assert!(in_doubt <= shared, "{left}, {shared} shared");
    in_doubt
}

fn tools(order: &Value, gathering: &Arc<Barrier>) -> Vec<Tool> {
    let clients = Arc::new(Clients::new(order));
    let tool = |name| {
        let (clients, gathering) = (Arc::clone(&clients), Arc::clone(gathering));
        let tool = Tool::write(name, move |arguments| {
            handle(Arc::clone(&clients), Arc::clone(&gathering), arguments)
        });
        tool.with_rules(rules(name))
            .with_single_write()
            .with_near_misses(NearMisses::Lifted)
            .with_concurrency(PERMITS / TOOLS.len())
            .with_lanes(|_, arguments| lanes(wish_of(arguments)))
    };
    TOOLS.map(tool).into()
}

/// Eight lanes, of which every fourth call takes two.
fn lanes(wish: Wish) -> Vec<Lane> {
    let numbers = match wish.n % 4 {
        _ if wish.mood == "gathers" => vec![],
        3 => vec![wish.n % 8, wish.n % 5],
        _ => vec![wish.n % 8],
    };
    let lanes = numbers.into_iter().map(|lane| Lane::new(lane.to_string()));
    lanes.collect()
}

async fn handle(
    clients: Arc<Clients>,
    gathering: Arc<Barrier>,
    arguments: Value,
) -> Result<Value, BoxError> {
    let wish = wish_of(&arguments);
    match wish.mood {
        "dawdles" => {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        }
        "gathers" => {
            gathering.wait().await;
            return Ok(Value::Null);
        }
        "panics first" => panic!("{BUG}"),
        "runs ahead" => {
            let context = Context::current().ok_or("no call")?;
            let write = async move { clients.write(wish, &arguments).await };
            tokio::spawn(context.scope(write));
            return Ok(json!({ "done": "I hope" }));
        }
        _ => {}
    }
    let answer = match clients.write(wish, &arguments).await {
        // An SDK that tries again by itself, whatever the error.
        Err(_) if wish.tool() == "sdk" => clients.write(wish, &arguments).await,
        answer => answer,
    };
    assert!(wish.mood != "panics late", "{BUG}");
    Ok(answer?)
}

/// A client for each service.
struct Clients(Vec<(String, OutcomeClient)>);

impl Clients {
    fn new(order: &Value) -> Self {
        let urls = order["urls"].as_array().unwrap();
        let clients = Service::ALL.iter().zip(urls).map(|(service, url)| {
            let mut profile = Profile::default();
            if service.honours_keys() {
                profile = Profile::idempotency_key().with_replay_marker("idempotent-replayed");
            }
            if service.is_behind_proxy() {
                profile = profile.with_replaying_proxy();
            }
            let stack = Stack::new()
                .with_profile(profile)
                .with_retry(KeyedRetry::new(1))
                .with_deadline(Duration::from_millis(500))
                .with_hard_limit(Duration::from_secs(1))
                .requiring_context();
            // What is idle at the end of a round is closed, and its memory free.
            let http = reqwest::Client::builder().pool_idle_timeout(Duration::from_secs(1));
            let http = http.for_writes().build();
            let http = http.unwrap();
            (url.as_str().unwrap().to_owned(), stack.over(http).boxed())
        });
        Self(clients.collect())
    }

    /// One write, which names its call where no key and no fingerprint looks.
    async fn write(&self, wish: Wish, arguments: &Value) -> Result<Value, tower_outcome::Error> {
        let at = Service::ALL.iter().position(|it| *it == wish.service());
        let (url, client) = &self.0[at.unwrap()];
        let request = http::Request::post(format!("{url}{}", wish.path()))
            .header("x-call", arguments["call"].to_string())
            .body(json!({ "order": wish.n }).to_string());
        client.send(request.unwrap()).await.into_json()
    }
}

/// Handlers panic all the time here.
fn keep_quiet_about_bugs() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload_as_str() != Some(BUG) {
            tell(panic);
        }
    }));
}

const BUG: &str = "a bug";

const ORDER: &str = "TOWER_OUTCOME_STRESS_ORDER";

/// Between which all tails end, so that what is left of the first can be told from the second.
const ROUNDS: usize = 2;

/// How many calls run at once, a third of them of each tool.
const PERMITS: usize = 24;

const TOLD: &str = "told: ";
