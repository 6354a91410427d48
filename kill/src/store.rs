//! Ledgers, as both processes open them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tower_outcome::{BoxError, Profile};
use tower_outcome_core::ledger::{Ledger, Timestamp};
use tower_outcome_postgres::PostgresLedger;
use tower_outcome_redis::RedisLedger;
use tower_outcome_sqlite::SqliteLedger;

/// Where a ledger is kept.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Kind {
    Postgres,
    Redis,
    Sqlite,
}

impl Kind {
    pub(crate) const ALL: &[Self] = &[Self::Postgres, Self::Redis, Self::Sqlite];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Redis => "redis",
            Self::Sqlite => "sqlite",
        }
    }
}

/// How to open a ledger.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Address {
    pub(crate) kind: Kind,
    /// A URL, or the path of a file.
    pub(crate) url: String,
    /// Whether a crash may take back what was acknowledged. The service honours keys then; nothing
    /// but the ledger keeps it from doing a write twice otherwise.
    pub(crate) forgets: bool,
}

impl Address {
    /// Opens the ledger. With `stopped`, no lease ever ends for it: what it reads is what stands
    /// there.
    pub(crate) async fn open(&self, stopped: bool) -> Result<Arc<dyn Ledger>, BoxError> {
        let stand_still = || Timestamp(0);
        Ok(match self.kind {
            Kind::Postgres => {
                let settings = tower_outcome_postgres::Settings::new(&self.url)?;
                let ledger: PostgresLedger = if stopped {
                    settings.with_clock(stand_still).connect().await?
                } else {
                    settings.connect().await?
                };
                Arc::new(ledger)
            }
            Kind::Redis => {
                let mut settings = tower_outcome_redis::Settings::new(&self.url)?;
                if !self.forgets {
                    settings = settings.for_any_provider();
                }
                if stopped {
                    settings = settings.with_clock(stand_still);
                }
                let ledger: RedisLedger = settings.connect().await?;
                Arc::new(ledger)
            }
            Kind::Sqlite if stopped => {
                Arc::new(SqliteLedger::open_with_clock(&self.url, stand_still)?)
            }
            Kind::Sqlite => Arc::new(SqliteLedger::open(&self.url)?),
        })
    }

    /// What the service promises. The key goes along in either case, to be looked up by.
    pub(crate) const fn profile(&self) -> Profile {
        if self.forgets {
            Profile::idempotency_key()
        } else {
            Profile::generic()
        }
    }
}
