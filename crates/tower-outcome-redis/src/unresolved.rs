//! The entries in doubt, without looking at any other.

use tower_outcome_core::ledger::{Entry, EntryKey, LedgerError, State, machine};

use crate::fault::Fault;
use crate::keyspace::Names;
use crate::row::Stored;
use crate::session::Session;
use crate::step::Steps;

/// The oldest `limit` entries that are unknown. What others settle meanwhile may be listed or not.
pub(crate) async fn list(steps: &Steps, limit: usize) -> Result<Vec<Entry>, LedgerError> {
    let mut session = steps.sessions.session().await?;
    let open = steps.keyspace.open();
    let mut unknown = Vec::new();
    let mut start = 0;
    while unknown.len() < limit {
        let answer = redis::cmd("ZRANGE")
            .arg(&open)
            .arg(start)
            .arg(start + PAGE - 1)
            .query_async(&mut session.connection)
            .await;
        let members: Vec<String> = session.judge(answer)?;
        if members.is_empty() {
            break;
        }
        start += members.len();
        let names: Vec<Names> = members
            .into_iter()
            .map(|member| steps.keyspace.names_of(member))
            .collect();
        let now = steps.now();
        let entries = rows(&mut session, &names).await?.into_iter();
        // Whether a lease's end makes an entry unknown is the machine's to say.
        let expired = entries.map(|row| machine::expired(row.entry, now));
        unknown.extend(expired.filter(|entry| entry.state == State::Unknown));
    }
    unknown.truncate(limit);
    Ok(unknown)
}

async fn rows(session: &mut Session, names: &[Names]) -> Result<Vec<Stored>, Fault> {
    let mut command = redis::cmd("MGET");
    for names in names {
        command.arg(&names.entry).arg(&names.result);
    }
    let answer = command.query_async(&mut session.connection).await;
    let values: Vec<Option<Vec<u8>>> = session.judge(answer)?;
    let mut rows = Vec::new();
    for (names, pair) in names.iter().zip(values.chunks(2)) {
        // An entry that was deleted by hand may still stand among the open ones.
        let Some(row) = pair.first().and_then(Option::as_ref) else {
            continue;
        };
        let key: EntryKey = names
            .key()
            .ok_or_else(|| Fault::unasked("the list of open entries cannot be read back"))?;
        let result = pair.get(1).cloned().flatten();
        rows.push(Stored::decode(&key, row, result)?);
    }
    Ok(rows)
}

/// How many entries one command reads.
const PAGE: usize = 100;
