//! What is asked of many entries at once.

use std::collections::HashSet;

use tower_outcome_core::ledger::{
    Counts, Cursor, Entry, EntryKey, Filter, LedgerError, Listing, Page, State, Timestamp, machine,
};

use crate::fault::Fault;
use crate::keyspace::Names;
use crate::row::Stored;
use crate::session::Session;
use crate::step::Steps;

/// The oldest `limit` entries that are unknown. What others settle meanwhile may be listed or not.
pub(crate) async fn unresolved(steps: &Steps, limit: usize) -> Result<Listing, LedgerError> {
    unknown(steps, &steps.sets.open, limit, |_, _| true).await
}

/// The `limit` unknown entries that wait longest for somebody to look them up.
pub(crate) async fn due(steps: &Steps, limit: usize) -> Result<Listing, LedgerError> {
    unknown(steps, &steps.sets.due, limit, |entry, now| {
        entry.look_at <= now
    })
    .await
}

/// Some of the entries that `filter` admits, in no order.
pub(crate) async fn page(steps: &Steps, filter: &Filter) -> Result<Page, LedgerError> {
    let mut session = steps.sessions.session().await?;
    let after = filter.after.as_ref().map(|after| after.as_str().parse());
    let start = after.transpose().map_err(|_| Cursor::refused())?;
    let mut scan = Scan::new(start);
    let mut page = Page::default();
    for _ in 0..MOST_SCANS {
        let now = steps.now();
        let found = scan.next(steps, &mut session, filter.limit).await?;
        for row in found {
            page.add(row.map(|entry| machine::expired(entry, now)), filter, now);
        }
        page.next = scan.place.map(|place| Cursor::new(place.to_string()));
        if page.next.is_none() || page.entries.len() >= filter.limit {
            break;
        }
    }
    Ok(page)
}

/// How many entries there are in each state.
pub(crate) async fn counts(steps: &Steps) -> Result<Counts, LedgerError> {
    let mut session = steps.sessions.session().await?;
    let mut counts = Counts::default();
    let mut scan = Scan::new(None);
    while scan.place.is_some() {
        for row in scan.next(steps, &mut session, PAGE).await? {
            match row {
                Ok(entry) => counts.add_entry(&entry, steps.now()),
                Err(_) => counts.unreadable += 1,
            }
        }
    }
    Ok(counts)
}

/// A walk over all entries. The server may show one twice, which is left out.
struct Scan {
    /// Where it goes on, unless it has ended.
    place: Option<u64>,
    seen: HashSet<EntryKey>,
}

impl Scan {
    fn new(start: Option<u64>) -> Self {
        Self {
            place: Some(start.unwrap_or_default()),
            seen: HashSet::new(),
        }
    }

    async fn next(
        &mut self,
        steps: &Steps,
        session: &mut Session,
        count: usize,
    ) -> Result<Vec<Result<Entry, EntryKey>>, Fault> {
        let prefix = steps.keyspace.entries();
        let answer = redis::cmd("SCAN")
            .arg(self.place.unwrap_or_default())
            .arg("MATCH")
            .arg(steps.keyspace.entries_pattern())
            .arg("COUNT")
            .arg(count.clamp(1, PAGE))
            .query_async(&mut session.connection)
            .await;
        let (place, keys): (u64, Vec<Vec<u8>>) = session.judge(answer)?;
        self.place = Some(place).filter(|place| *place != 0);
        let names: Vec<Names> = keys
            .iter()
            .filter_map(|key| key.strip_prefix(prefix.as_bytes()))
            .map(|member| steps.keyspace.names_found(member.to_owned()))
            .collect();
        let rows = rows(session, &names).await?.into_iter();
        let mut rows: Vec<_> = rows.map(|row| row.map(|row| row.entry)).collect();
        rows.retain(|row| {
            let key = row.as_ref().map_or_else(|key| key, |entry| &entry.key);
            self.seen.insert(key.clone())
        });
        Ok(rows)
    }
}

/// The first `limit` entries of a set that are unknown, and that `admits`.
async fn unknown(
    steps: &Steps,
    set: &str,
    limit: usize,
    admits: impl Fn(&Entry, Timestamp) -> bool,
) -> Result<Listing, LedgerError> {
    let mut session = steps.sessions.session().await?;
    let mut unknown = Listing::default();
    let mut start = 0;
    while unknown.entries.len() < limit {
        let answer = redis::cmd("ZRANGE")
            .arg(set)
            .arg(start)
            .arg(start + PAGE - 1)
            .query_async(&mut session.connection)
            .await;
        let members: Vec<Vec<u8>> = session.judge(answer)?;
        if members.is_empty() {
            break;
        }
        start += members.len();
        let names: Vec<Names> = members
            .into_iter()
            .map(|member| steps.keyspace.names_found(member))
            .collect();
        let now = steps.now();
        let rows = rows(&mut session, &names).await?.into_iter();
        // Whether a lease's end makes an entry unknown is the machine's to say.
        let expired =
            rows.map(|row| Ok::<_, Fault>(row.map(|row| machine::expired(row.entry, now))));
        let more = Listing::first(limit - unknown.entries.len(), expired, |entry| {
            entry.state == State::Unknown && admits(entry, now)
        })?;
        unknown.entries.extend(more.entries);
        unknown.unreadable.extend(more.unreadable);
    }
    Ok(unknown)
}

/// The rows of `names`, or the key of one that cannot be read.
pub(crate) async fn rows(
    session: &mut Session,
    names: &[Names],
) -> Result<Vec<Result<Stored, EntryKey>>, Fault> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut command = redis::cmd("MGET");
    for names in names {
        command.arg(&names.entry).arg(&names.result);
    }
    let answer = command.query_async(&mut session.connection).await;
    let values: Vec<Option<Vec<u8>>> = session.judge(answer)?;
    let mut rows = Vec::new();
    for (names, pair) in names.iter().zip(values.chunks(2)) {
        let stored = match (names.key(), pair.first().and_then(Option::as_ref)) {
            (Ok(key), Some(row)) => {
                let result = pair.get(1).cloned().flatten();
                Stored::decode(&key, row, result).map_err(|_| key)
            }
            // An entry that was deleted by hand may still stand among the open ones.
            (Ok(_), None) => continue,
            (Err(strange), _) => Err(strange),
        };
        rows.push(stored);
    }
    Ok(rows)
}

/// How many entries one command reads.
pub(crate) const PAGE: usize = 100;

/// Bounds what one question for a page does.
const MOST_SCANS: usize = 100;
