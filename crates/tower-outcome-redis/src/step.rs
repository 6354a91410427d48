//! One event, from what is known of its entry to what is stored.
//!
//! What the process remembers is only a guess. A row is written only over the very row that
//! [`machine::step`] has looked at; and an answer that changes nothing is given only once the server
//! has been asked. So no guess is ever believed, and a wrong one costs a round trip.

use redis::Script;
use tower_outcome_core::ledger::machine::{self, Illegal};
use tower_outcome_core::ledger::{
    Answer, Ending, Entry, EntryKey, Event, LedgerError, Owner, State, Timestamp,
};

use crate::exchange::{Change, Exchanged};
use crate::fault::Fault;
use crate::keyspace::{Keyspace, Names, Sets};
use crate::memory::Memory;
use crate::row::{Revisions, Stored};
use crate::session::{Session, Sessions};

/// All that an event needs.
pub(crate) struct Steps {
    pub(crate) sessions: Sessions,
    pub(crate) keyspace: Keyspace,
    memory: Memory,
    pub(crate) sets: Sets,
    revisions: Revisions,
    script: Script,
}

impl Steps {
    pub(crate) fn new(sessions: Sessions, keyspace: Keyspace) -> Self {
        Self {
            sessions,
            sets: keyspace.sets(),
            keyspace,
            memory: Memory::default(),
            revisions: Revisions::new(),
            script: Script::new(include_str!("exchange.lua")),
        }
    }

    pub(crate) async fn apply(&self, key: &EntryKey, event: Event) -> Result<Answer, LedgerError> {
        let names = self.keyspace.names(key);
        let remembered = self.memory.recall(key);
        let mut session = self.sessions.session().await?;
        let mut known = match (&remembered, &event) {
            (Some(row), _) => Known::guess(Some(row.clone())),
            (None, Event::Claim(_)) => Known::guess(None),
            (None, _) => Known::found(read(&mut session, &names, key).await?),
        };
        for _ in 0..ATTEMPTS {
            if needs_our_claim(&event) && self.is_lost_to_another(&known, remembered.as_ref()) {
                return Err(illegal(&known, &event));
            }
            let now = self.now();
            let stepped = machine::step(key, known.entry(), event.clone(), now);
            let (mut next, mut answer) = match stepped {
                Ok((Some(next), answer)) => (next, answer),
                unchanged if known.is_certain => return Ok(unchanged?.1),
                _ => {
                    known = Known::found(read(&mut session, &names, key).await?)
                        .or_remembered(remembered.as_ref());
                    continue;
                }
            };
            if known.row.is_none() && self.memory.has_forgotten() {
                set_apart(&mut next, &mut answer);
            }
            let next = Stored::new(next, self.revisions.next());
            let change = Change {
                names: &names,
                sets: &self.sets,
                expected: known.revision.as_deref(),
                before: known.entry(),
                next: &next,
            };
            known = match change.apply(&mut session, &self.script).await? {
                Exchanged::Written => {
                    self.memory.keep(next);
                    return Ok(answer);
                }
                Exchanged::Found(row, result) => {
                    let row = row
                        .map(|row| Stored::decode(key, &row, result))
                        .transpose()?;
                    let found = match row {
                        // Only the entry came back. Both have to be of one moment.
                        Some(row) if row.has_result && row.entry.result.is_none() => {
                            read(&mut session, &names, key).await?
                        }
                        row => row,
                    };
                    Known::found(found).or_remembered(remembered.as_ref())
                }
            };
        }
        Err(Fault::unasked("too many others change the entry at the same time").into())
    }

    /// Whether our claim was lost and its epoch given to somebody else, as far as can be known.
    fn is_lost_to_another(&self, known: &Known, remembered: Option<&Stored>) -> bool {
        match (known.entry(), remembered) {
            (Some(found), Some(Stored { entry: ours, .. })) => {
                found.epoch == ours.epoch && found.owner != ours.owner
            }
            (Some(_), None) => self.memory.has_forgotten(),
            (None, _) => false,
        }
    }

    pub(crate) async fn read(&self, key: &EntryKey) -> Result<Option<Stored>, LedgerError> {
        let mut session = self.sessions.session().await?;
        Ok(read(&mut session, &self.keyspace.names(key), key).await?)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.sessions.clock().now()
    }
}

/// What an event is applied to.
struct Known {
    row: Option<Stored>,
    /// What the server has to have for it.
    revision: Option<String>,
    /// Whether the server has said so in this very call.
    is_certain: bool,
}

impl Known {
    fn guess(row: Option<Stored>) -> Self {
        Self {
            is_certain: false,
            ..Self::found(row)
        }
    }

    fn found(row: Option<Stored>) -> Self {
        Self {
            revision: row.as_ref().map(|row| row.revision.clone()),
            row,
            is_certain: true,
        }
    }

    /// What has not ended is never removed: where the server has nothing, it has lost what we know.
    fn or_remembered(mut self, remembered: Option<&Stored>) -> Self {
        self.row = self.row.or_else(|| remembered.cloned());
        self
    }

    fn entry(&self) -> Option<&Entry> {
        self.row.as_ref().map(|row| &row.entry)
    }
}

/// Whether the event is taken from the holder of the claim only.
const fn needs_our_claim(event: &Event) -> bool {
    match event {
        Event::Release { .. } | Event::Send { .. } => true,
        Event::Settle { ending, .. } => !matches!(ending, Ending::Done { .. }),
        Event::Alias { .. }
        | Event::Claim(_)
        | Event::Find { .. }
        | Event::Home { .. }
        | Event::Look { .. }
        | Event::Resend { .. }
        | Event::Resolve { .. } => false,
    }
}

/// Gives a claim an epoch of its own, in case that one of ours was lost which is no longer remembered.
fn set_apart(next: &mut Entry, answer: &mut Answer) {
    if let Answer::Granted(grant) = answer {
        let [a, b, c, d, ..] = Owner::random().to_bytes();
        grant.epoch = FIRST_EPOCHS + u64::from(u32::from_be_bytes([a, b, c, d]));
        next.epoch = grant.epoch;
    }
}

fn illegal(known: &Known, event: &Event) -> LedgerError {
    let state = known.entry().map_or(State::Free, |entry| entry.state);
    let event = event.as_str();
    Illegal { state, event }.into()
}

/// The row and its result, of one moment.
async fn read(
    session: &mut Session,
    names: &Names,
    key: &EntryKey,
) -> Result<Option<Stored>, Fault> {
    let answer = redis::cmd("MGET")
        .arg(&names.entry)
        .arg(&names.result)
        .query_async(&mut session.connection)
        .await;
    let (row, result): (Option<Vec<u8>>, Option<Vec<u8>>) = session.judge(answer)?;
    row.map(|row| Stored::decode(key, &row, result)).transpose()
}

/// Each attempt in vain is a change that somebody else made.
const ATTEMPTS: usize = 32;

/// What the epochs that are counted hardly reach.
const FIRST_EPOCHS: u64 = 1 << 32;
