//! A ledger that tells when a row has changed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tower_outcome::{Intent, Ledger, MemoryLedger};
use tower_outcome_core::ledger::{Answer, Entry, EntryKey, Event, LedgerFuture, State};

/// A [`MemoryLedger`] whose rows a test can wait for. Cloning shares it.
#[derive(Clone)]
pub(crate) struct Watched {
    ledger: Arc<MemoryLedger>,
    changed: watch::Sender<()>,
}

impl Watched {
    pub(crate) fn new() -> Self {
        Self {
            ledger: Arc::default(),
            changed: watch::Sender::new(()),
        }
    }

    /// Waits until the row of `intent` is in `state`; not for ever, where it never comes to be.
    pub(crate) async fn wait_for(&self, intent: &Intent, state: State) -> Entry {
        let row = tokio::time::timeout(PATIENCE, self.row_in(intent, state));
        row.await
            .unwrap_or_else(|_| panic!("the row never came to be {state:?}"))
    }

    async fn row_in(&self, intent: &Intent, state: State) -> Entry {
        let key = EntryKey::of(intent);
        let mut changed = self.changed.subscribe();
        loop {
            let entry = self.ledger.read(&key).await.unwrap();
            if let Some(entry) = entry.filter(|entry| entry.state == state) {
                return entry;
            }
            changed.changed().await.unwrap();
        }
    }
}

impl Ledger for Watched {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(async move {
            let answer = self.ledger.apply(key, event).await;
            self.changed.send_replace(());
            answer
        })
    }

    tower_outcome_core::forward_ledger!(self => self.ledger;
        read unresolved due page counts purge changed);
}

const PATIENCE: Duration = Duration::from_secs(20);
