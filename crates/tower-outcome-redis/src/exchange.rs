//! Writes an entry only where nobody has changed it since it was read.

use std::borrow::Cow;

use redis::{Cmd, ErrorKind, RedisError, RedisResult, Script, ServerErrorKind, Value};
use tower_outcome_core::ledger::entry::{RESULT_RETENTION, TOMBSTONE_RETENTION};
use tower_outcome_core::ledger::{Entry, State};

use crate::fault::Fault;
use crate::keyspace::{Names, Sets};
use crate::row::Stored;
use crate::server;
use crate::session::Session;

/// A row to write, and the one that it was made of.
pub(crate) struct Change<'a> {
    pub(crate) names: &'a Names,
    pub(crate) sets: &'a Sets,
    /// The revision that the store has to have, if it has to have any.
    pub(crate) expected: Option<&'a str>,
    pub(crate) before: Option<&'a Entry>,
    pub(crate) next: &'a Stored,
}

/// What became of a change.
pub(crate) enum Exchanged {
    Written,
    /// Nothing was written: the row, and the result where it was asked for.
    Found(Option<Vec<u8>>, Option<Vec<u8>>),
}

impl Change<'_> {
    /// Writes the row in one step and one round trip.
    pub(crate) async fn apply(
        &self,
        session: &mut Session,
        script: &Script,
    ) -> Result<Exchanged, Fault> {
        let row = self.next.encode()?;
        if self.is_first_claim() {
            return self.create(session, &row).await;
        }
        let (result_is, result) = self.result();
        let alias = self.alias();
        let mut asked = Cmd::with_capacity(ARGUMENTS, row.len() + result.len() + NAMES);
        asked
            .arg("EVALSHA")
            .arg(script.get_hash())
            .arg(KEYS + usize::from(alias.is_some()))
            .arg(&self.names.entry)
            .arg(&self.names.result)
            .arg(&self.sets.open)
            .arg(&self.sets.due);
        if alias.is_some() {
            asked.arg(&self.sets.aliases);
        }
        asked
            .arg(self.expected.unwrap_or_default())
            .arg(row)
            .arg(retention(&self.next.entry, TOMBSTONE_RETENTION))
            .arg(&self.names.member)
            .arg(&*self.place())
            .arg(result_is)
            .arg(result)
            .arg(retention(&self.next.entry, RESULT_RETENTION))
            .arg(self.next.entry.look_at.0)
            .arg(alias.as_deref());
        let mut answer = asked.query_async(&mut session.connection).await;
        if is_unknown(&answer) {
            let load = script.prepare_invoke();
            let loaded = load.load_async(&mut session.connection).await;
            session.judge(loaded)?;
            answer = asked.query_async(&mut session.connection).await;
        }
        let (written, seconds, microseconds, row, result): Answer = session.judge(answer)?;
        session.clock.see(server::time((seconds, microseconds)));
        Ok(if written {
            Exchanged::Written
        } else {
            Exchanged::Found(row, result)
        })
    }

    /// Whether the row stands for itself: no other key changes with it, and it is kept for ever.
    fn is_first_claim(&self) -> bool {
        let entry = &self.next.entry;
        self.before.is_none() && entry.state == State::Claimed && !is_open(entry)
    }

    async fn create(&self, session: &mut Session, row: &[u8]) -> Result<Exchanged, Fault> {
        let answer = redis::cmd("SET")
            .arg(&self.names.entry)
            .arg(row)
            .arg("NX")
            .arg("GET")
            .query_async(&mut session.connection)
            .await;
        Ok(match session.judge(answer)? {
            Value::Nil => Exchanged::Written,
            Value::BulkString(row) => Exchanged::Found(Some(row), None),
            _ => return Err(Fault::not_understood()),
        })
    }

    /// Its place among the open ones: the oldest come first.
    fn place(&self) -> Cow<'static, str> {
        let was_open = self.before.is_some_and(is_open);
        match &self.next.entry {
            entry if is_open(entry) => entry.updated_at.0.to_string().into(),
            _ if was_open => "out".into(),
            _ => "leave".into(),
        }
    }

    /// Its place among the aliases, if it is or was one.
    fn alias(&self) -> Option<Cow<'static, str>> {
        let was = |entry: &Entry| entry.state == State::Alias;
        match &self.next.entry {
            entry if was(entry) => Some(entry.updated_at.0.to_string().into()),
            _ if self.before.is_some_and(was) => Some("out".into()),
            _ => None,
        }
    }

    fn result(&self) -> (&'static str, &[u8]) {
        let had = self.before.is_some_and(|entry| entry.result.is_some());
        match &self.next.entry.result {
            Some(result) => ("set", result),
            None if had => ("drop", &[]),
            None => ("leave", &[]),
        }
    }
}

/// Whether the server does not have the script, since it has started anew.
fn is_unknown<T>(answer: &RedisResult<T>) -> bool {
    let kind = answer.as_ref().err().map(RedisError::kind);
    kind == Some(ErrorKind::Server(ServerErrorKind::NoScript))
}

type Answer = (bool, u64, u64, Option<Vec<u8>>, Option<Vec<u8>>);

/// Whether the entry is in doubt, or comes to be once its lease ends.
fn is_open(entry: &Entry) -> bool {
    let doubtful = [State::Claimed, State::Dispatching, State::Unknown];
    entry.maybe_sent && doubtful.contains(&entry.state)
}

/// In milliseconds, 0 for ever: what may still be in the making never ends by time, and neither does
/// an alias, which may lead to such an entry.
fn retention(entry: &Entry, ended: std::time::Duration) -> u64 {
    match entry.state {
        State::Alias | State::Claimed | State::Dispatching | State::Unknown => 0,
        State::Done | State::Failed | State::Free | State::Partial => {
            u64::try_from(ended.as_millis()).unwrap_or(u64::MAX)
        }
    }
}

/// How many keys the script is given at least, and how many arguments a call has at most.
const KEYS: usize = 4;
const ARGUMENTS: usize = 18;

/// What the names in a call come to, in bytes, where scopes are of a usual length.
const NAMES: usize = 1024;
