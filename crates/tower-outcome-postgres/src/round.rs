//! One exchange with the table: rows proposed, and what became of them.
//!
//! Everything that is asked of one key is decided in order on the row that it is believed to have,
//! and the outcome is written if the row has it indeed (see `rows.sql`). Otherwise the same
//! statement brings the row, and all is decided again on that one. So a change needs one statement
//! where the belief was right, and no answer rests on a belief.
//!
//! # Why that is sound beside other processes
//!
//! The revision counts the changes of a row, and every writer writes only over the revision that it
//! decided on. Under READ COMMITTED the database compares it with the row as it is once the row's
//! lock is held, not as the statement saw it before. Of two writers on one revision, one loses and
//! decides again. An answer that changes nothing rests on a row that was committed while the
//! question was open. Both are what one process after the other would have got.

use tokio_postgres::Row;
use tower_outcome_core::ledger::{EntryKey, Timestamp};

use crate::ask::Ask;
use crate::fault::Fault;
use crate::rows::{Columns, Exchanged, Stored};

/// All that is asked of one entry, in order.
pub(crate) struct Chain {
    key: EntryKey,
    asks: Vec<Box<dyn Ask>>,
    /// The row as it is believed to be.
    base: Option<Stored>,
    /// The row that is proposed.
    next: Option<Stored>,
}

impl Chain {
    pub(crate) fn new(key: EntryKey, base: Option<Stored>) -> Self {
        Self {
            key,
            asks: Vec::new(),
            base,
            next: None,
        }
    }

    pub(crate) fn push(&mut self, ask: Box<dyn Ask>) {
        self.asks.push(ask);
    }

    pub(crate) const fn key(&self) -> &EntryKey {
        &self.key
    }

    /// Answers everything with the failure.
    pub(crate) fn fail(self, fault: &Fault) {
        self.answer(&Err(fault.clone()));
    }

    fn answer(self, done: &Result<(), Fault>) {
        for ask in self.asks {
            ask.answer(done.clone());
        }
    }

    fn decide(&mut self, now: Timestamp) {
        let base = self.base.as_ref();
        let mut next = None;
        for ask in &mut self.asks {
            let entry = next.as_ref().or(base.map(|base| &base.entry));
            next = ask.decide(&self.key, entry, now).or(next);
        }
        let revision = base.map_or(0, |base| base.revision) + 1;
        self.next = next.map(|entry| Stored { entry, revision });
    }
}

/// Decides every chain at `now`, and says what to ask of the table.
///
/// A chain that cannot be asked is answered and left out.
pub(crate) fn propose(chains: &mut Vec<Chain>, now: Timestamp) -> Columns {
    let mut columns = Columns::default();
    let mut able = Vec::with_capacity(chains.len());
    for mut chain in chains.drain(..) {
        chain.decide(now);
        match columns.push(&chain.key, chain.next.as_ref()) {
            Ok(()) => able.push(chain),
            Err(fault) => chain.fail(&fault),
        }
    }
    *chains = able;
    columns
}

/// What an exchange came to.
#[derive(Default)]
pub(crate) struct Concluded {
    /// Rows as they were written.
    pub(crate) written: Vec<Stored>,
    /// Chains that have to be proposed again, on a newer row.
    pub(crate) left: Vec<Chain>,
    /// The database's time.
    pub(crate) time: Option<Timestamp>,
}

/// Answers the chains that were decided on the row that was there.
pub(crate) fn conclude(chains: Vec<Chain>, rows: &[Row], now: Timestamp) -> Concluded {
    let mut concluded = Concluded::default();
    let mut chains: Vec<Option<Chain>> = chains.into_iter().map(Some).collect();
    for row in rows {
        let Ok(exchanged) = Exchanged::read(row) else {
            continue;
        };
        concluded.time = Some(exchanged.time);
        let chain = chains.get_mut(exchanged.index).and_then(Option::take);
        if let Some(chain) = chain {
            concluded.take(chain, exchanged, now);
        }
    }
    for chain in chains.into_iter().flatten() {
        chain.fail(&Fault::no_answer());
    }
    concluded
}

impl Concluded {
    fn take(&mut self, mut chain: Chain, exchanged: Exchanged, now: Timestamp) {
        if exchanged.written {
            self.written.extend(chain.next.take());
            return chain.answer(&Ok(()));
        }
        let found = match exchanged.found {
            Ok(found) => found,
            Err(fault) => return chain.fail(&fault),
        };
        // A first row that was not written met one that the statement could not see. It is found
        // absent here, which is what it was decided on: it is proposed again.
        chain.base = found;
        chain.decide(now);
        if chain.next.is_none() {
            chain.answer(&Ok(()));
        } else {
            self.left.push(chain);
        }
    }
}
