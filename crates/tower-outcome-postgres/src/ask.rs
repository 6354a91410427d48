//! What is asked of one entry.

use tokio::sync::oneshot;
use tower_outcome_core::ledger::{Answer, Entry, EntryKey, Event, LedgerError, Timestamp, machine};

use crate::fault::Fault;

/// A question about an entry. It may be looked at several times, until a row that it was decided on
/// turns out to be the one in the table; only then is it answered.
pub(crate) trait Ask: Send {
    /// Decides the answer on `entry` and returns the row to write, if it has to change.
    fn decide(&mut self, key: &EntryKey, entry: Option<&Entry>, now: Timestamp) -> Option<Entry>;

    /// Gives the answer that was decided last, or says why there is none.
    fn answer(self: Box<Self>, done: Result<(), Fault>);
}

/// An event, and where its answer will be.
pub(crate) fn apply(event: Event) -> (Box<dyn Ask>, Answered<Answer>) {
    let (reply, answered) = Reply::new();
    (Box::new(Apply { event, reply }), answered)
}

/// A look at an entry, and where the entry will be.
pub(crate) fn read() -> (Box<dyn Ask>, Answered<Option<Entry>>) {
    let (reply, answered) = Reply::new();
    (Box::new(Read { reply }), answered)
}

pub(crate) type Answered<T> = oneshot::Receiver<Result<T, LedgerError>>;

struct Apply {
    event: Event,
    reply: Reply<Answer>,
}

impl Ask for Apply {
    fn decide(&mut self, key: &EntryKey, entry: Option<&Entry>, now: Timestamp) -> Option<Entry> {
        let (next, decided) = match machine::step(key, entry, self.event.clone(), now) {
            Ok((next, answer)) => (next, Ok(answer)),
            Err(illegal) => (None, Err(illegal.into())),
        };
        self.reply.decided = Some(decided);
        next
    }

    fn answer(self: Box<Self>, done: Result<(), Fault>) {
        self.reply.send(done);
    }
}

struct Read {
    reply: Reply<Option<Entry>>,
}

impl Ask for Read {
    fn decide(&mut self, _: &EntryKey, entry: Option<&Entry>, now: Timestamp) -> Option<Entry> {
        let entry = entry.map(|entry| machine::expired(entry.clone(), now));
        self.reply.decided = Some(Ok(entry));
        None
    }

    fn answer(self: Box<Self>, done: Result<(), Fault>) {
        self.reply.send(done);
    }
}

struct Reply<T> {
    decided: Option<Result<T, LedgerError>>,
    sender: oneshot::Sender<Result<T, LedgerError>>,
}

impl<T> Reply<T> {
    fn new() -> (Self, Answered<T>) {
        let (sender, answered) = oneshot::channel();
        let decided = None;
        (Self { decided, sender }, answered)
    }

    fn send(self, done: Result<(), Fault>) {
        let answer = match (done, self.decided) {
            (Ok(()), Some(decided)) => decided,
            (Ok(()), None) => Err(Fault::unasked("nothing was decided").into()),
            (Err(fault), _) => Err(fault.into()),
        };
        // Whoever asked may have gone; what was done stays done.
        let _ = self.sender.send(answer);
    }
}
