//! Where a lane works: its store, as workers and as we see it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tower_outcome::BoxError;
use tower_outcome_core::Intent;
use tower_outcome_core::ledger::{Entry, EntryKey, Event, Ledger, LedgerError, State};

use crate::books::Books;
use crate::database::Database;
use crate::options::Mutant;
use crate::store::Address;
use crate::timing;
use crate::worker;

/// What all lanes on one store share.
pub(crate) struct Site {
    pub(crate) address: Address,
    pub(crate) books: Arc<Books>,
    pub(crate) database: Option<Database>,
    pub(crate) mutant: Option<Mutant>,
    /// The scope of the run.
    pub(crate) scope: String,
    /// For which no lease ever ends.
    still: Arc<dyn Ledger>,
    living: Arc<dyn Ledger>,
}

impl Site {
    pub(crate) async fn open(
        address: Address,
        database: Option<Database>,
        books: &Arc<Books>,
        scope: &str,
        mutant: Option<Mutant>,
    ) -> Result<Self, BoxError> {
        Ok(Self {
            books: Arc::clone(books),
            database,
            mutant,
            scope: scope.to_owned(),
            still: address.open(true).await?,
            living: address.open(false).await?,
            address,
        })
    }

    /// See [`Database::turns`].
    pub(crate) fn turns(&self) -> u64 {
        self.database.as_ref().map_or(0, Database::turns)
    }

    /// The row of a cycle as it stands in the store.
    pub(crate) async fn row(&self, cycle: u64) -> Result<Option<Entry>, BoxError> {
        let key = self.key(cycle)?;
        self.asked(async || self.still.read(&key).await).await
    }

    /// The row of a cycle as it stands for everybody, once no owner holds it: or whoever does, if
    /// one holds it for ever.
    pub(crate) async fn row_let_go(&self, cycle: u64) -> Result<Option<Entry>, BoxError> {
        let key = self.key(cycle)?;
        let give_up = Instant::now() + timing::PATIENCE;
        loop {
            // Before it is read: what is read then is no older than that.
            let lasts = Instant::now() > give_up;
            let entry = self.asked(async || self.living.read(&key).await).await?;
            let held = entry.as_ref().is_some_and(is_held);
            if !held || lasts {
                return Ok(entry);
            }
            sleep(PAUSE).await;
        }
    }

    /// Takes a row that stays in doubt out of later passes, which would get longer and longer.
    pub(crate) async fn put_aside(&self, cycle: u64) -> Result<(), BoxError> {
        let key = self.key(cycle)?;
        let event = Event::Find { result: None };
        self.asked(async || self.still.apply(&key, event.clone()).await)
            .await?;
        Ok(())
    }

    fn key(&self, cycle: u64) -> Result<EntryKey, BoxError> {
        let arguments = worker::arguments(cycle);
        let intent = Intent::new(&self.scope, worker::TOOL, &arguments)?;
        Ok(EntryKey::of(&intent))
    }

    /// Asks until there is an answer: the store's server may be down.
    async fn asked<T>(&self, ask: impl AsyncFn() -> Result<T, LedgerError>) -> Result<T, BoxError> {
        let give_up = Instant::now() + timing::STUCK;
        loop {
            match ask().await {
                Ok(answer) => return Ok(answer),
                Err(error) if Instant::now() > give_up => return Err(error.into()),
                Err(_) => sleep(PAUSE).await,
            }
        }
    }
}

/// Whether an owner that is believed alive has the entry.
pub(crate) const fn is_held(entry: &Entry) -> bool {
    matches!(entry.state, State::Claimed | State::Dispatching)
}

const PAUSE: Duration = Duration::from_millis(20);
