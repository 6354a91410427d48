//! A call that is ended from outside in each of its phases: by its caller's leaving, by a drain.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tower_outcome::{Code, Envelope, MemoryLedger, Outcome};
use tower_outcome_core::IntentRules;
use tower_outcome_core::ledger::{Answer, Entry, EntryKey, Event, Ledger, LedgerFuture, State};
use tower_outcome_tools::{Executor, Held, Lane, Lanes, Tool, ToolCall};

use crate::support::{is, numbered, start};

/// Where a call stands when it is ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// Its row is being read.
    Reading,
    InTheLane,
    InThePermits,
    /// It waits for an identical one.
    Following,
    Claiming,
    /// What it is about to send is being taken down.
    Announcing,
    Sending,
    /// What became of it is being taken down.
    Settling,
}

const PHASES: [Phase; 8] = [
    Phase::Reading,
    Phase::InTheLane,
    Phase::InThePermits,
    Phase::Following,
    Phase::Claiming,
    Phase::Announcing,
    Phase::Sending,
    Phase::Settling,
];

impl Phase {
    /// Whether something of the call may have left.
    fn has_left(self) -> bool {
        matches!(self, Self::Sending | Self::Settling)
    }
}

/// A ledger that stops in one phase after it has done its work, once, until it is let go.
struct Stopping {
    ledger: Arc<MemoryLedger>,
    phase: Phase,
    stopped: Notify,
    go_on: Notify,
    times: AtomicUsize,
}

impl Stopping {
    async fn stop(&self, phase: Phase) {
        if self.phase == phase && self.times.fetch_add(1, Ordering::SeqCst) == 0 {
            self.stopped.notify_one();
            self.go_on.notified().await;
        }
    }
}

impl Ledger for Stopping {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(async move {
            let phase = match event {
                Event::Claim(_) => Some(Phase::Claiming),
                Event::Send { .. } => Some(Phase::Announcing),
                Event::Settle { .. } => Some(Phase::Settling),
                _ => None,
            };
            let answer = self.ledger.apply(key, event).await;
            if let Some(phase) = phase {
                self.stop(phase).await;
            }
            answer
        })
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        Box::pin(async move {
            let entry = self.ledger.read(key).await;
            self.stop(Phase::Reading).await;
            entry
        })
    }

    tower_outcome_core::forward_ledger!(self => self.ledger;
        unresolved due page counts purge changed);
}

/// A call that stands in one phase.
struct Scene {
    phase: Phase,
    executor: Executor,
    ledger: Arc<Stopping>,
    lanes: Lanes,
    runs: Arc<AtomicUsize>,
    go_on: Arc<Notify>,
    call: JoinHandle<Envelope>,
    /// What is in the way.
    in_the_way: Option<Held>,
    other: Option<JoinHandle<Envelope>>,
    tasks: usize,
}

fn print() -> ToolCall {
    numbered("acme", "print", 1)
}

impl Scene {
    async fn at(phase: Phase) -> Self {
        let tasks = Handle::current().metrics().num_alive_tasks();
        let ledger = Arc::new(Stopping {
            ledger: Arc::new(MemoryLedger::default()),
            phase,
            stopped: Notify::new(),
            go_on: Notify::new(),
            times: AtomicUsize::new(0),
        });
        let (runs, go_on) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let (counts, held) = (Arc::clone(&runs), Arc::clone(&go_on));
        let waits = matches!(
            phase,
            Phase::Sending | Phase::Following | Phase::InThePermits
        );
        let tool = Tool::opaque_write("print", move |arguments: Value| {
            let (counts, held) = (Arc::clone(&counts), Arc::clone(&held));
            async move {
                counts.fetch_add(1, Ordering::SeqCst);
                if waits {
                    held.notified().await;
                }
                Ok(arguments)
            }
        });
        let lanes = Lanes::new();
        let executor = Executor::new(Arc::clone(&ledger))
            .with_lanes(lanes.clone())
            .with_concurrency(1)
            .with_patience(Duration::from_secs(20))
            .with_tool(tool.with_lanes(|_, arguments| [Lane::new(arguments["n"].to_string())]));
        let in_the_way = match phase {
            Phase::InTheLane => Some(lanes.lock([Lane::new("1")]).await),
            _ => None,
        };
        let other = match phase {
            Phase::Following => Some(print()),
            Phase::InThePermits => Some(numbered("acme", "print", 2)),
            _ => None,
        };
        let other = other.map(|call| start(&executor, call));
        settle_down().await;
        let call = start(&executor, print());
        settle_down().await;
        Self {
            phase,
            executor,
            ledger,
            lanes,
            runs,
            go_on,
            call,
            in_the_way,
            other,
            tasks,
        }
    }

    /// Lets everything go on that was stopped.
    fn let_go(&mut self) {
        self.in_the_way = None;
        self.ledger.go_on.notify_one();
        self.go_on.notify_one();
    }

    async fn row(&self) -> Option<Entry> {
        let intent = IntentRules::new("print").intent("acme", &json!({ "n": 1 }));
        let key = EntryKey::of(&intent.unwrap());
        self.ledger.ledger.read(&key).await.unwrap()
    }

    /// The row is true, and nothing is left behind.
    async fn ends(&mut self) {
        if let Some(other) = self.other.take() {
            let _ = other.await.unwrap();
        }
        assert_eq!(self.executor.drain(Duration::from_mins(1)).await, 0);
        let (phase, state) = (self.phase, self.row().await.map(|row| row.state));
        let expected = match phase {
            Phase::Reading | Phase::InTheLane | Phase::InThePermits => None,
            Phase::Claiming | Phase::Announcing => Some(State::Free),
            // One that follows has the other one's row.
            Phase::Following | Phase::Sending | Phase::Settling => Some(State::Done),
        };
        assert_eq!(state, expected, "{phase:?}");
        let others = usize::from(matches!(phase, Phase::Following | Phase::InThePermits));
        let runs = usize::from(phase.has_left()) + others;
        assert_eq!(self.runs.load(Ordering::SeqCst), runs, "{phase:?}");
        assert!(self.lanes.is_empty(), "{phase:?}");
        let left = format!("{:?}", self.executor);
        assert!(left.contains("open: 0, leading: 0, waiting: 0, "), "{left}");
        assert!(left.contains("free: 1, waiting_scopes: 0"), "{left}");
        while Handle::current().metrics().num_alive_tasks() > self.tasks {
            tokio::task::yield_now().await;
        }
    }
}

/// Until nothing is to be done but to wait. Only under paused time.
async fn settle_down() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_caller_may_leave_in_any_phase() {
    for phase in PHASES {
        let mut scene = Scene::at(phase).await;
        assert!(!scene.call.is_finished(), "{phase:?}");
        scene.call.abort();
        settle_down().await;
        scene.let_go();
        scene.ends().await;
        // What was not sent can be called again, and is sent then; what was is not sent again.
        let next = Executor::new(Arc::clone(&scene.ledger.ledger));
        let again = next.with_tool(Tool::opaque_write("print", |_| async { Ok(json!(1)) }));
        let again = again.run(print()).await.outcome();
        let was_done = phase.has_left() || phase == Phase::Following;
        let word = if was_done {
            Outcome::AlreadyDone
        } else {
            Outcome::Ok
        };
        assert_eq!(again, word, "{phase:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_drain_may_come_in_any_phase_with_and_without_time() {
    for phase in PHASES {
        for limit in [Duration::ZERO, Duration::from_secs(20)] {
            let mut scene = Scene::at(phase).await;
            let executor = scene.executor.clone();
            let drain = tokio::spawn(async move { executor.drain(limit).await });
            settle_down().await;
            if limit.is_zero() {
                // Longer than the ledger is waited for.
                tokio::time::sleep(Duration::from_secs(11)).await;
            }
            scene.let_go();
            let envelope = (&mut scene.call).await.unwrap();
            let in_time = !limit.is_zero();
            match phase {
                Phase::Sending if in_time => is(&envelope, Outcome::Ok, Code::Done),
                Phase::Sending => is(&envelope, Outcome::Unknown, Code::ResponseLost),
                Phase::Settling => is(&envelope, Outcome::Ok, Code::Done),
                _ => assert_eq!(
                    envelope.outcome(),
                    Outcome::Failed,
                    "{phase:?} {envelope:?}"
                ),
            }
            let _open = drain.await.unwrap();
            let refused = scene.executor.run(numbered("acme", "print", 3)).await;
            is(&refused, Outcome::Failed, Code::ShuttingDown);
            scene.ends().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_may_come_in_any_phase() {
    for phase in PHASES {
        let mut scene = Scene::at(phase).await;
        tokio::time::sleep(Duration::from_secs(31)).await;
        assert!(
            scene.call.is_finished() || phase == Phase::Announcing,
            "{phase:?}"
        );
        scene.let_go();
        let envelope = (&mut scene.call).await.unwrap();
        match phase {
            Phase::Sending => is(&envelope, Outcome::Unknown, Code::TimeoutAfterSend),
            Phase::Settling => is(&envelope, Outcome::Ok, Code::Done),
            Phase::Following => is(&envelope, Outcome::Skipped, Code::AlreadyInProgress),
            _ => assert_eq!(
                envelope.outcome(),
                Outcome::Failed,
                "{phase:?} {envelope:?}"
            ),
        }
        scene.ends().await;
    }
}
