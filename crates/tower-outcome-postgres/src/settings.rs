//! Where the ledger's database is, and how it is used.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Config, NoTls, Socket};
use tower_outcome_core::ledger::{LedgerError, StoreClock, Timestamp};

use crate::PostgresLedger;
use crate::fault::Refusal;
use crate::schema::Schema;
use crate::session::{Line, Sessions};
use crate::writer;

/// Where the ledger's database is, and how it is used.
///
/// ```no_run
/// # async fn f() -> Result<(), tower_outcome_core::ledger::LedgerError> {
/// use tower_outcome_postgres::Settings;
///
/// let ledger = Settings::new("postgres://agent:secret@db.internal/shop")?
///     .with_schema("refund_ledger")
///     .connect()
///     .await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Settings<T = NoTls> {
    config: Config,
    tls: T,
    schema: Box<str>,
    makes: bool,
    clock: StoreClock,
}

impl Settings {
    /// The database at `url`, in the form `postgres://user:password@host:5432/database`, without
    /// TLS, and in it the schema `tower_outcome`.
    ///
    /// The URL may name several hosts; the first that takes writes is used.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] where the URL cannot be read. It does not show the URL.
    pub fn new(url: &str) -> Result<Self, LedgerError> {
        // The source would quote pieces of the URL.
        let config = url.parse::<Config>().map_err(|_| {
            let reason = "the URL of the ledger's database cannot be read; it has the form \
                          postgres://user:password@host:5432/database";
            Refusal::new(reason).into_ledger_error()
        })?;
        Ok(Self::from(config))
    }
}

impl From<Config> for Settings {
    /// What the client's own configuration says, without TLS, in the schema `tower_outcome`.
    fn from(mut config: Config) -> Self {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name(env!("CARGO_PKG_NAME"));
        }
        Self {
            config,
            tls: NoTls,
            schema: "tower_outcome".into(),
            makes: true,
            clock: StoreClock::default(),
        }
    }
}

impl<T> Settings<T> {
    /// Reads the time from `clock` instead of the database: for tests of leases.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let clock = StoreClock::given(clock);
        Self { clock, ..self }
    }

    /// Keeps the ledger in another schema of the database. Ledgers in different schemas know
    /// nothing of each other.
    #[must_use]
    pub fn with_schema(self, schema: &str) -> Self {
        let schema = schema.into();
        Self { schema, ..self }
    }

    /// Refuses a schema that holds no ledger instead of making one: for whoever looks at what others
    /// write, whom a mistyped name would show an empty ledger.
    #[must_use]
    pub fn that_exists(self) -> Self {
        let makes = false;
        Self { makes, ..self }
    }

    /// Encrypts connections with a connector for tokio-postgres, where the URL's `sslmode` asks
    /// for it.
    #[must_use]
    pub fn with_tls<U>(self, tls: U) -> Settings<U> {
        Settings {
            config: self.config,
            tls,
            schema: self.schema,
            makes: self.makes,
            clock: self.clock,
        }
    }

    /// Connects, and makes the ledger's tables where there are none.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] with a text that tells what to do where the server cannot be reached, does
    /// not know the user or the database, grants too few rights, may only be read, or where the
    /// schema belongs to another program or was written by a newer version.
    pub async fn connect(self) -> Result<PostgresLedger, LedgerError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let schema = Schema::new(&self.schema, self.makes).map_err(Refusal::into_ledger_error)?;
        let clock = self.clock;
        let sessions = Sessions::new(self.config, self.tls, schema, clock.clone());
        let sessions = Arc::new(sessions);
        let first = sessions.open().await.map_err(Refusal::into_ledger_error)?;

        let line = Line::new(Arc::clone(&sessions), Some(first));
        let (jobs, queue) = mpsc::unbounded_channel();
        tokio::spawn(writer::run(queue, line, clock.clone()));
        Ok(PostgresLedger {
            jobs,
            clock,
            sessions: Arc::clone(&sessions),
            aside: Mutex::new(Line::new(sessions, None)),
        })
    }
}

impl<T> fmt::Debug for Settings<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("hosts", &self.config.get_hosts())
            .field("database", &self.config.get_dbname())
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
