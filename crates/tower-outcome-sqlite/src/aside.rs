//! The thread for what takes longer, with a connection of its own: no claim waits behind it.
//!
//! It also watches the file for those who wait for an entry to change, as other processes tell
//! nobody. What it looks at is a counter in shared memory.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use rusqlite::Connection;
use tower_outcome_core::ledger::{Changes, Timestamp};

use crate::writer::{Job, serve};

/// A connection that works aside and watches.
pub(crate) struct Aside {
    connection: Connection,
    changes: Arc<Changes>,
    seen: Option<i64>,
}

impl Aside {
    /// Tells `changes` of whatever another connection commits from here on: a thread may begin long
    /// after somebody waits.
    pub(crate) fn new(connection: Connection, changes: Arc<Changes>) -> Self {
        let seen = version(&connection);
        Self {
            connection,
            changes,
            seen,
        }
    }

    /// Works on the queue until nobody can add to it.
    pub(crate) fn run(mut self, clock: &impl Fn() -> Timestamp, queue: &Receiver<Job>) {
        let mut pause = SHORTEST;
        loop {
            let job = if self.changes.is_empty() {
                queue.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                queue.recv_timeout(pause)
            };
            match job {
                Ok(job) => {
                    serve(&mut self.connection, clock, vec![job]);
                    pause = SHORTEST;
                }
                Err(RecvTimeoutError::Timeout) => pause = (pause * 2).min(LONGEST),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let current = version(&self.connection);
            if current.is_none() || current != self.seen {
                self.changes.tell_all();
                pause = SHORTEST;
            }
            self.seen = current;
        }
    }
}

/// A number that is another one after every commit of another connection.
fn version(connection: &Connection) -> Option<i64> {
    let version = connection.pragma_query_value(None, "data_version", |row| row.get(0));
    version.ok()
}

const SHORTEST: Duration = Duration::from_millis(1);

const LONGEST: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc;
    use std::task::{Context, Waker};

    use tower_outcome_core::IdempotencyKey;
    use tower_outcome_core::ledger::EntryKey;

    use super::*;
    use crate::file;

    #[test]
    fn a_change_before_the_thread_begins_is_told() {
        let path = std::env::temp_dir().join(format!("tower-outcome-aside-{}", std::process::id()));
        let changes = Arc::<Changes>::default();
        let aside = Aside::new(file::open(&path).unwrap(), Arc::clone(&changes));
        let key = EntryKey {
            scope: "acme".into(),
            key: IdempotencyKey::from_bytes([1; 32]),
        };
        let mut told = pin!(changes.wait_for(&key));
        let other = file::open(&path).unwrap();
        other.execute_batch("CREATE TABLE change (it)").unwrap();

        let (jobs, queue) = mpsc::channel();
        let (job, _) = Job::new(false, |_, _| Ok(()));
        jobs.send(job).unwrap();
        drop(jobs);
        aside.run(&Timestamp::now, &queue);
        let polled = told.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_ready(), "it would wait for ever");
        drop(other);
        std::fs::remove_file(path).unwrap();
    }
}
