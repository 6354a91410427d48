//! The server of a store, which is killed and started again.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tower_outcome::BoxError;
use xtask::servers::{Postgres, Redis, Server as _};

use crate::store::{Address, Kind};

/// A server of our own.
pub(crate) struct Database {
    server: Arc<Mutex<Server>>,
    pub(crate) address: Address,
    /// What the server writes to, where a crash takes the last of it back.
    log: Option<PathBuf>,
    /// Counts the beginnings and the ends of crashes.
    turns: AtomicU64,
    crashing: tokio::sync::Mutex<()>,
}

enum Server {
    Postgres(Postgres),
    Redis(Redis),
}

impl Database {
    pub(crate) fn postgres() -> Result<Self, BoxError> {
        let server = Postgres::start()?;
        let url = server.url();
        Ok(Self::new(
            Server::Postgres(server),
            Kind::Postgres,
            url,
            None,
        ))
    }

    /// One that has each change on its disk before it answers.
    pub(crate) fn redis() -> Result<Self, BoxError> {
        let server = Redis::start()?;
        let url = server.url();
        Ok(Self::new(Server::Redis(server), Kind::Redis, url, None))
    }

    /// One that writes to its disk every second. A crash of its machine is played by cutting off
    /// what it wrote last: the end of a process alone loses next to nothing.
    pub(crate) async fn redis_every_second() -> Result<Self, BoxError> {
        let server = Redis::start_with(&["--appendfsync", "everysec"])?;
        let url = server.url();
        let log = append_only_file(&url).await?;
        Ok(Self::new(
            Server::Redis(server),
            Kind::Redis,
            url,
            Some(log),
        ))
    }

    fn new(server: Server, kind: Kind, url: String, log: Option<PathBuf>) -> Self {
        Self {
            server: Arc::new(Mutex::new(server)),
            address: Address {
                kind,
                url,
                forgets: log.is_some(),
            },
            log,
            turns: AtomicU64::new(0),
            crashing: tokio::sync::Mutex::default(),
        }
    }

    /// Differs from an earlier look if the server has crashed since, or is crashing.
    pub(crate) fn turns(&self) -> u64 {
        self.turns.load(Ordering::SeqCst)
    }

    /// Kills the server, and starts it again. `lost` is for how long it has not reached its disk.
    pub(crate) async fn crash(&self, lost: Duration) -> Result<(), BoxError> {
        let _one = self.crashing.lock().await;
        self.turns.fetch_add(1, Ordering::SeqCst);
        let kept = match &self.log {
            Some(log) => {
                let kept = std::fs::metadata(log)?.len();
                tokio::time::sleep(lost).await;
                Some((log.clone(), kept))
            }
            None => None,
        };
        let server = Arc::clone(&self.server);
        let restarted = tokio::task::spawn_blocking(move || {
            let mut server = server.lock().unwrap_or_else(PoisonError::into_inner);
            server.crash();
            if let Some((log, kept)) = kept {
                let log = std::fs::File::options().write(true).open(log);
                log.and_then(|log| log.set_len(kept))
                    .map_err(|error| error.to_string())?;
            }
            server.start_again()
        });
        restarted.await??;
        self.turns.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

impl Server {
    fn crash(&mut self) {
        match self {
            Self::Postgres(server) => server.crash(),
            Self::Redis(server) => server.crash(),
        }
    }

    fn start_again(&mut self) -> Result<(), String> {
        match self {
            Self::Postgres(server) => server.start_again(),
            Self::Redis(server) => server.start_again(),
        }
    }
}

/// The file that the server appends its changes to.
async fn append_only_file(url: &str) -> Result<PathBuf, BoxError> {
    let client = redis::Client::open(url)?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    let directory: (String, String) = redis::cmd("CONFIG")
        .arg("GET")
        .arg("dir")
        .query_async(&mut connection)
        .await?;
    let files = PathBuf::from(directory.1).join("appendonlydir");
    Ok(files.join("appendonly.aof.1.incr.aof"))
}
