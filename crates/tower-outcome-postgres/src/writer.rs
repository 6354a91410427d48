//! The task that owns the connection.
//!
//! Whatever is queued while a statement is under way shares the next one, and with it the one wait
//! for the disk. Nobody is answered before that is durable.

use std::collections::BTreeMap;

use tokio::sync::mpsc;
use tower_outcome_core::ledger::{EntryKey, StoreClock};

use crate::ask::Ask;
use crate::fault::Fault;
use crate::hints::Hints;
use crate::round::{self, Chain};
use crate::session::{Line, answer};

/// A question, and the entry that it is about.
pub(crate) type Job = (EntryKey, Box<dyn Ask>);

/// Works on the queue until nobody can add to it.
pub(crate) async fn run(mut queue: mpsc::UnboundedReceiver<Job>, line: Line, clock: StoreClock) {
    let mut writer = Writer {
        line,
        clock,
        hints: Hints::default(),
    };
    let mut left = Vec::new();
    loop {
        let mut batch = Batch::new(left);
        if batch.is_empty() {
            match queue.recv().await {
                Some(job) => batch.add(job, &mut writer.hints),
                None => return,
            }
        }
        while batch.asks < MAX_BATCH {
            match queue.try_recv() {
                Ok(job) => batch.add(job, &mut writer.hints),
                Err(_) => break,
            }
        }
        left = writer.serve(batch.chains.into_values().collect()).await;
    }
}

/// What one statement will ask.
struct Batch {
    chains: BTreeMap<EntryKey, Chain>,
    asks: usize,
}

impl Batch {
    fn new(left: Vec<Chain>) -> Self {
        let chains = left.into_iter().map(|chain| (chain.key().clone(), chain));
        Self {
            chains: chains.collect(),
            asks: 0,
        }
    }

    fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    fn add(&mut self, (key, ask): Job, hints: &mut Hints) {
        self.asks += 1;
        let chain = self.chains.entry(key).or_insert_with_key(|key| {
            let base = hints.take(key);
            Chain::new(key.clone(), base)
        });
        chain.push(ask);
    }
}

struct Writer {
    line: Line,
    clock: StoreClock,
    hints: Hints,
}

impl Writer {
    /// Exchanges the chains with the table. Returns those that have to be tried again.
    async fn serve(&mut self, chains: Vec<Chain>) -> Vec<Chain> {
        let (chains, fault) = match self.exchange(chains).await {
            Ok(left) => return left,
            Err(failed) => failed,
        };
        if chains.len() == 1 || !fault.was_refused() {
            for chain in chains {
                chain.fail(&fault);
            }
            return Vec::new();
        }
        // One of them is at fault, and the others shall not suffer for it.
        let mut chains = chains.into_iter();
        let mut left = Vec::new();
        for chain in chains.by_ref() {
            match self.exchange(vec![chain]).await {
                Ok(again) => left.extend(again),
                Err((failed, fault)) => {
                    for chain in failed {
                        chain.fail(&fault);
                    }
                    if !fault.was_refused() {
                        break;
                    }
                }
            }
        }
        left.extend(chains);
        left
    }

    async fn exchange(&mut self, mut chains: Vec<Chain>) -> Result<Vec<Chain>, Failed> {
        let now = self.clock.now();
        let columns = round::propose(&mut chains, now);
        let asked = match self.line.session().await {
            Ok(session) => {
                let values = columns.values();
                answer(session.client.query(&session.rows, &values)).await
            }
            Err(fault) => Err(fault),
        };
        let rows = match asked {
            Ok(rows) => rows,
            Err(fault) => {
                // Whatever state the session is in, another one is in a better.
                self.line.hang_up();
                return Err((chains, fault));
            }
        };
        let concluded = round::conclude(chains, &rows, now);
        if let Some(time) = concluded.time {
            self.clock.see(time);
        }
        for stored in concluded.written {
            self.hints.keep(stored);
        }
        Ok(concluded.left)
    }
}

/// Chains that are as they were, and why.
type Failed = (Vec<Chain>, Fault);

/// Bounds how many wait for one statement.
const MAX_BATCH: usize = 256;
