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

/// Works on the queue until nobody can add to it.
pub(crate) fn run(
    mut connection: Connection,
    clock: &impl Fn() -> Timestamp,
    queue: &Receiver<Job>,
    changes: &Arc<Changes>,
) {
    let mut pause = SHORTEST;
    // As of a moment before anybody waits, so that no change is missed.
    let mut seen = version(&connection);
    loop {
        let job = if changes.is_empty() {
            queue.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            queue.recv_timeout(pause)
        };
        match job {
            Ok(job) => {
                serve(&mut connection, clock, vec![job]);
                pause = SHORTEST;
            }
            Err(RecvTimeoutError::Timeout) => pause = (pause * 2).min(LONGEST),
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let current = version(&connection);
        if current.is_none() || current != seen {
            changes.tell_all();
            pause = SHORTEST;
        }
        seen = current;
    }
}

/// A number that is another one after every commit of another connection.
fn version(connection: &Connection) -> Option<i64> {
    let version = connection.pragma_query_value(None, "data_version", |row| row.get(0));
    version.ok()
}

const SHORTEST: Duration = Duration::from_millis(1);

const LONGEST: Duration = Duration::from_millis(100);
