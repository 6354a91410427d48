//! Sessions with the database: opened, checked, set up, and opened again once they are lost.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, Row, Socket, Statement};
use tower_outcome_core::ledger::StoreClock;

use crate::fault::{Fault, Refusal};
use crate::rows;
use crate::schema::Schema;

/// Opens sessions for one ledger.
pub(crate) struct Sessions {
    connect: Connect,
    /// For how long a session is waited for.
    patience: Duration,
    schema: Schema,
    clock: StoreClock,
    /// [`rows::EXCHANGE`] for this schema.
    pub(crate) exchange: String,
}

type Connect = Box<dyn Fn() -> Connecting + Send + Sync>;

type Connecting = Pin<Box<dyn Future<Output = Result<Client, Error>> + Send>>;

impl Sessions {
    pub(crate) fn new<T>(config: Config, tls: T, schema: Schema, clock: StoreClock) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        // The client bounds each connection, and nothing of what is said over it.
        let hosts = u32::try_from(config.get_hosts().len()).unwrap_or(u32::MAX);
        let connects_for = config.get_connect_timeout().copied().unwrap_or_default();
        let patience = connects_for
            .saturating_mul(hosts)
            .saturating_add(ANSWER_LIMIT);
        let connect = move || -> Connecting {
            let (config, tls) = (config.clone(), tls.clone());
            Box::pin(async move {
                let (client, connection) = config.connect(tls).await?;
                // Ends when the client is dropped; its error is told to whoever asks the client.
                tokio::spawn(connection);
                Ok(client)
            })
        };
        Self {
            connect: Box::new(connect),
            patience,
            exchange: schema.statement(rows::EXCHANGE),
            schema,
            clock,
        }
    }

    /// Opens a session, with the tables made and looked at.
    pub(crate) async fn open(&self) -> Result<Session, Refusal> {
        let looked = async {
            let client = (self.connect)().await?;
            let found = self.schema.look(&client).await?;
            Ok((client, found))
        };
        let (mut client, found) = self.in_time(looked).await?;
        self.clock.see(found.time);
        if !found.is_whole {
            // Takes as long as the table is large.
            self.schema.migrate(&mut client).await?;
        }
        let ready = async {
            client.batch_execute(SETUP).await?;
            Ok(client.prepare(&self.exchange).await?)
        };
        let rows = self.in_time(ready).await?;
        Ok(Session { client, rows })
    }

    async fn in_time<T>(
        &self,
        opening: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, Refusal> {
        let opened = timeout(self.patience, opening).await;
        opened.unwrap_or_else(|_| Err(Refusal::new(SILENT)))
    }

    pub(crate) fn statement(&self, text: &str) -> String {
        self.schema.statement(text)
    }
}

/// A session that is ready for use.
pub(crate) struct Session {
    pub(crate) client: Client,
    /// [`rows::EXCHANGE`].
    pub(crate) rows: Statement,
}

/// At most one session, opened when it is needed.
pub(crate) struct Line {
    pub(crate) sessions: Arc<Sessions>,
    session: Option<Session>,
}

impl Line {
    pub(crate) const fn new(sessions: Arc<Sessions>, session: Option<Session>) -> Self {
        Self { sessions, session }
    }

    /// A session that was alive when it was last looked at.
    pub(crate) async fn session(&mut self) -> Result<&Session, Fault> {
        let living = self.session.take().filter(|it| !it.client.is_closed());
        let session = match living {
            Some(session) => session,
            None => self.sessions.open().await.map_err(Refusal::into_fault)?,
        };
        Ok(self.session.insert(session))
    }

    /// The rows of a statement that was written for a schema called "ledger".
    pub(crate) async fn query(
        &mut self,
        text: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Fault> {
        let text = self.sessions.statement(text);
        let session = self.session().await?;
        let asked = answer(session.client.query(&text, values)).await;
        asked.inspect_err(|_| self.hang_up())
    }

    /// Has the next one who asks open another session.
    pub(crate) fn hang_up(&mut self) {
        self.session = None;
    }
}

/// The answer to a statement, unless it does not come.
pub(crate) async fn answer<T>(asked: impl Future<Output = Result<T, Error>>) -> Result<T, Fault> {
    match timeout(ANSWER_LIMIT, asked).await {
        Ok(asked) => asked.map_err(|error| Fault::of_statement(&error)),
        Err(_) => Err(Fault::no_answer()),
    }
}

const SILENT: &str = "the ledger's database server does not answer";

/// Longer than the database lets a statement run.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);

/// Each statement is a transaction of its own, and waits for nobody for long. Rows are looked up by
/// their key whatever the planner believes of a young table. Nothing is compiled: of a large table
/// a few rows are asked for, which takes less than compiling.
const SETUP: &str = "
    SET default_transaction_isolation = 'read committed';
    SET lock_timeout = '2s';
    SET statement_timeout = '10s';
    SET enable_seqscan = off;
    SET jit = off;
    SET plan_cache_mode = force_generic_plan;
";
