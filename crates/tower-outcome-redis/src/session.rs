//! The connection with the server: opened, checked, and opened again once it is lost.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, PushInfo, PushKind, RedisResult};
use tokio::sync::Mutex as Turn;
use tower_outcome_core::ledger::StoreClock;

use crate::fault::{Fault, Refusal};
use crate::server::{self, Persistence};

/// A connection that all commands share.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) connection: MultiplexedConnection,
    pub(crate) clock: StoreClock,
    pub(crate) persistence: Persistence,
    ended: Arc<AtomicBool>,
}

impl Session {
    /// Gives the answer on, and the connection up where it says so.
    pub(crate) fn judge<T>(&self, answer: RedisResult<T>) -> Result<T, Fault> {
        answer.map_err(|error| {
            let fault = Fault::of_command(&error);
            if !fault.session_lives() {
                self.ended.store(true, Ordering::Release);
            }
            fault
        })
    }

    fn is_alive(&self) -> bool {
        !self.ended.load(Ordering::Acquire)
    }
}

/// At most one session at a time.
pub(crate) struct Sessions {
    client: Client,
    clock: StoreClock,
    current: Mutex<Option<Session>>,
    /// Who holds it opens the next session; inside is why the last one could not be opened.
    turn: Turn<Option<Fault>>,
    /// Counts what `turn` has held.
    failures: AtomicU64,
}

impl Sessions {
    /// Opens the first session.
    pub(crate) async fn start(client: Client, clock: StoreClock) -> Result<Self, Refusal> {
        let sessions = Self {
            client,
            clock,
            current: Mutex::default(),
            turn: Turn::default(),
            failures: AtomicU64::new(0),
        };
        let first = sessions.open().await?;
        *sessions.lock() = Some(first);
        Ok(sessions)
    }

    /// A session that was alive when it was last heard of.
    pub(crate) async fn session(&self) -> Result<Session, Fault> {
        if let Some(session) = self.living() {
            return Ok(session);
        }
        let failures = self.failures.load(Ordering::Acquire);
        let mut turn = self.turn.lock().await;
        if let Some(session) = self.living() {
            return Ok(session);
        }
        // Whoever has waited while another one tried in vain does not try as well.
        let tried = self.failures.load(Ordering::Acquire) != failures;
        if let Some(fault) = turn.clone().filter(|_| tried) {
            return Err(fault);
        }
        match self.open().await {
            Ok(session) => {
                *self.lock() = Some(session.clone());
                Ok(session)
            }
            Err(refusal) => {
                let fault = refusal.into_fault();
                *turn = Some(fault.clone());
                self.failures.fetch_add(1, Ordering::Release);
                Err(fault)
            }
        }
    }

    pub(crate) fn clock(&self) -> &StoreClock {
        &self.clock
    }

    pub(crate) fn persistence(&self) -> Persistence {
        let current = self.lock();
        current
            .as_ref()
            .map_or(Persistence::Untold, |it| it.persistence)
    }

    fn living(&self) -> Option<Session> {
        self.lock().clone().filter(Session::is_alive)
    }

    async fn open(&self) -> Result<Session, Refusal> {
        let ended = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ended);
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(ANSWER_TIMEOUT))
            .set_push_sender(move |push: PushInfo| {
                if push.kind == PushKind::Disconnection {
                    told.store(true, Ordering::Release);
                }
                Ok::<_, redis::aio::SendError>(())
            });
        let connected = self
            .client
            .get_multiplexed_async_connection_with_config(&config)
            .await;
        let mut connection = connected.map_err(|error| Refusal::from(&error))?;
        let (persistence, time) = server::check(&mut connection).await?;
        self.clock.see(time);
        Ok(Session {
            connection,
            clock: self.clock.clone(),
            persistence,
            ended,
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Session>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Longer than any disk takes that still works.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
