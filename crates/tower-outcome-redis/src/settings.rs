//! Where the ledger's server is, and how it is used.

use std::fmt;

use redis::{Client, ProtocolVersion};
use tower_outcome_core::ledger::{LedgerError, StoreClock, Timestamp};

use crate::RedisLedger;
use crate::fault::Refusal;
use crate::keyspace::Keyspace;
use crate::session::Sessions;

/// Where the ledger's server is, and how it is used.
///
/// ```no_run
/// # async fn f() -> Result<(), tower_outcome_core::ledger::LedgerError> {
/// use tower_outcome_redis::Settings;
///
/// let ledger = Settings::new("redis://agent:secret@cache.internal/0")?
///     .with_prefix("refunds")
///     .connect()
///     .await?;
/// # Ok(()) }
/// ```
pub struct Settings {
    client: Client,
    prefix: Box<str>,
    clock: StoreClock,
    needs_honoured_keys: bool,
}

impl Settings {
    /// The server at `url`, in the form `redis://user:password@host:6379/0`, with keys that begin
    /// with `{tower-outcome}`.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] where the URL cannot be read. It does not show the URL.
    pub fn new(url: &str) -> Result<Self, LedgerError> {
        // The source would quote pieces of the URL.
        let client = Client::open(url).map_err(|_| {
            let reason = "the URL of the ledger's server cannot be read; it has the form \
                          redis://user:password@host:6379/0, or rediss:// where the crate redis \
                          is built with TLS";
            Refusal::new(reason).into_ledger_error()
        })?;
        Ok(Self::from(client))
    }

    /// Claims also what goes to providers that do not honour keys.
    ///
    /// Where the server then forgets a claim, the write happens twice and nobody stops it: see
    /// the [crate docs](crate).
    #[must_use]
    pub fn for_any_provider(self) -> Self {
        let needs_honoured_keys = false;
        Self {
            needs_honoured_keys,
            ..self
        }
    }

    /// Reads the time from `clock` instead of the server: for tests of leases.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let clock = StoreClock::given(clock);
        Self { clock, ..self }
    }

    /// Has keys begin with `prefix` in braces. Ledgers with different prefixes know nothing of each
    /// other. A prefix has at least one character and no brace.
    #[must_use]
    pub fn with_prefix(self, prefix: &str) -> Self {
        let prefix = prefix.into();
        Self { prefix, ..self }
    }

    /// Connects, and looks whether the server can keep a ledger. Dropping the future leaves nothing
    /// behind.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] with a text that tells what to do where the server cannot be reached or does
    /// not accept us, is older than Redis 7.0, belongs to a cluster, is a replica, or may evict
    /// keys; and where the prefix cannot be used.
    pub async fn connect(self) -> Result<RedisLedger, LedgerError> {
        let keyspace = Keyspace::new(&self.prefix).map_err(Refusal::into_ledger_error)?;
        let needs_honoured_keys = self.needs_honoured_keys;
        let client = attentive(&self.client).map_err(Refusal::into_ledger_error)?;
        let started = Sessions::start(client, self.clock).await;
        let sessions = started.map_err(Refusal::into_ledger_error)?;
        Ok(RedisLedger::new(sessions, keyspace, needs_honoured_keys))
    }
}

impl From<Client> for Settings {
    /// A client of the crate redis, with keys that begin with `{tower-outcome}`.
    fn from(client: Client) -> Self {
        Self {
            client,
            prefix: "tower-outcome".into(),
            clock: StoreClock::default(),
            needs_honoured_keys: true,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field(
                "server",
                &self.client.get_connection_info().addr().to_string(),
            )
            .field("prefix", &self.prefix)
            .field("needs_honoured_keys", &self.needs_honoured_keys)
            .finish_non_exhaustive()
    }
}

/// The client with the protocol in which it hears of a connection's end at once.
fn attentive(client: &Client) -> Result<Client, Refusal> {
    let info = client.get_connection_info().clone();
    let settings = info.redis_settings().clone();
    let info = info.set_redis_settings(settings.set_protocol(ProtocolVersion::RESP3));
    Client::open(info).map_err(|error| Refusal::from(&error))
}
