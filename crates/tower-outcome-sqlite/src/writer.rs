//! The thread that owns the connection.
//!
//! Whatever is queued while a transaction is under way shares the next one, and with it the one
//! wait for the disk. Nobody is answered before that transaction is durable.

use std::sync::{Arc, mpsc};

use rusqlite::{Connection, ErrorCode, TransactionBehavior, ffi};
use tokio::sync::oneshot;
use tower_outcome_core::Code;
use tower_outcome_core::ledger::{LedgerError, Timestamp};

use crate::fault::{Failure, failed};

/// Works on the queue until nobody can add to it.
pub(crate) fn run(
    mut connection: Connection,
    clock: &impl Fn() -> Timestamp,
    queue: &mpsc::Receiver<Job>,
) {
    while let Ok(first) = queue.recv() {
        let mut batch = vec![first];
        batch.extend(queue.try_iter().take(MAX_BATCH - 1));
        serve(&mut connection, clock, batch);
    }
}

/// Something to do inside a transaction, and someone to tell once it is durable.
pub(crate) struct Job {
    writes: bool,
    run: Box<Run>,
}

impl Job {
    /// A job, and where its answer will be.
    pub(crate) fn new<T: Send + 'static>(
        writes: bool,
        work: impl FnOnce(&Connection, Timestamp) -> Result<T, LedgerError> + Send + 'static,
    ) -> (Self, oneshot::Receiver<Result<T, LedgerError>>) {
        let (sender, answer) = oneshot::channel();
        let run = move |store: Result<&Connection, Failure>, now| -> Finish {
            let result = store.map_err(failed).and_then(|store| work(store, now));
            Box::new(move |committed| {
                let answer = match (committed, result) {
                    // The reason why there is no transaction left to commit.
                    (_, Err(error)) if error.code() == Code::StoreFull => Err(error),
                    (Err(failure), _) => Err(failed(failure)),
                    (Ok(()), result) => result,
                };
                // Whoever asked may have gone; what was done stays done.
                let _ = sender.send(answer);
            })
        };
        let run = Box::new(run);
        (Self { writes, run }, answer)
    }
}

type Run = dyn FnOnce(Result<&Connection, Failure>, Timestamp) -> Finish + Send;

type Finish = Box<dyn FnOnce(Result<(), Failure>)>;

/// Does all jobs in one transaction, and answers them once it is durable.
pub(crate) fn serve(connection: &mut Connection, clock: &impl Fn() -> Timestamp, batch: Vec<Job>) {
    let behavior = if batch.iter().any(|job| job.writes) {
        TransactionBehavior::Immediate
    } else {
        TransactionBehavior::Deferred
    };
    let transaction = connection
        .transaction_with_behavior(behavior)
        .map_err(Arc::new);
    let finishes: Vec<Finish> = batch
        .into_iter()
        .map(|job| {
            let store = match &transaction {
                // SQLite ends a transaction by itself on a full disk or an I/O error. What came
                // after would no longer be one step with what it had read.
                Ok(open) if open.is_autocommit() => Err(Arc::new(rolled_back())),
                Ok(open) => Ok(&**open),
                Err(failure) => Err(Arc::clone(failure)),
            };
            (job.run)(store, clock())
        })
        .collect();
    let committed = transaction.and_then(|open| open.commit().map_err(Arc::new));
    for finish in finishes {
        finish(committed.clone());
    }
}

fn rolled_back() -> rusqlite::Error {
    let error = ffi::Error {
        code: ErrorCode::OperationAborted,
        extended_code: ffi::SQLITE_ABORT_ROLLBACK,
    };
    rusqlite::Error::SqliteFailure(error, None)
}

/// Bounds for how long the file is held against other processes.
const MAX_BATCH: usize = 128;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tower_outcome_core::Intent;
    use tower_outcome_core::ledger::{Answer, Claim, EntryKey, Event, Owner};

    use super::*;
    use crate::{file, rows};

    fn claim(store: &mut Connection, order: u32) -> Result<Answer, LedgerError> {
        let intent = Intent::explicit("acme", "refund", &order.to_string()).unwrap();
        let claim = Claim::new(&intent, Owner::random(), Duration::from_mins(1));
        let key = EntryKey::of(&intent);
        let (job, answer) = Job::new(true, move |store, now| {
            rows::apply(store, &key, Event::Claim(claim), now)
        });
        serve(store, &Timestamp::now, vec![job]);
        answer.blocking_recv().unwrap()
    }

    #[test]
    fn a_file_without_room_is_full_and_keeps_what_it_has() {
        let path = std::env::temp_dir().join(format!("tower-outcome-full-{}", std::process::id()));
        let mut store = file::open(&path).unwrap();
        let pages: u32 = store
            .pragma_query_value(None, "page_count", |row| row.get(0))
            .unwrap();
        let limit = |store: &Connection, pages: u32| {
            let set = format!("PRAGMA max_page_count = {pages}");
            store.query_row(&set, [], |_| Ok(())).unwrap();
        };
        limit(&store, pages);
        let refused = (0..1000).find_map(|order| Some((order, claim(&mut store, order).err()?)));
        let (order, error) = refused.unwrap();
        assert_eq!(error.code(), Code::StoreFull);
        assert_eq!(claim(&mut store, 0).unwrap(), Answer::InProgress);
        limit(&store, pages * 2);
        let granted = claim(&mut store, order).unwrap();
        assert!(matches!(granted, Answer::Granted(_)), "{granted:?}");
        drop(store);
        std::fs::remove_file(path).unwrap();
    }
}
