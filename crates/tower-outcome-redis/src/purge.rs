//! Takes away what the server does not.
//!
//! The server forgets what has ended by itself. An alias must not go before the entry that it leads
//! to, which may be in doubt for longer than anybody can say, so that it has no expiry.

use std::slice;
use std::sync::Arc;

use redis::Script;
use tower_outcome_core::ledger::entry::TOMBSTONE_RETENTION;
use tower_outcome_core::ledger::{EntryKey, LedgerError};

use crate::keyspace::Names;
use crate::lists;
use crate::session::Session;
use crate::step::Steps;

/// Forgets at most `limit` aliases that nobody has used for long and that lead to nothing.
pub(crate) async fn purge(steps: &Steps, limit: usize) -> Result<usize, LedgerError> {
    let mut session = steps.sessions.session().await?;
    let script = Script::new(include_str!("forget.lua"));
    let mut purged = 0;
    while purged < limit {
        let names = unused(steps, &mut session, (limit - purged).min(lists::PAGE)).await?;
        if names.is_empty() {
            break;
        }
        for names in &names {
            purged += usize::from(forget(steps, &mut session, &script, names).await?);
        }
    }
    Ok(purged)
}

/// Whether the alias is forgotten now.
async fn forget(
    steps: &Steps,
    session: &mut Session,
    script: &Script,
    names: &Names,
) -> Result<bool, LedgerError> {
    // What cannot be read back is as little ours to forget as what is no alias.
    let row = lists::rows(session, slice::from_ref(names)).await?.pop();
    let row = row.and_then(Result::ok);
    let target = row.as_ref().and_then(|row| row.entry.alias_of);
    let target = row.as_ref().zip(target).map(|(row, key)| EntryKey {
        scope: Arc::clone(&row.entry.key.scope),
        key,
    });
    // What is no alias leads to itself, and stays.
    let target = target.map_or_else(
        || names.entry.clone(),
        |key| steps.keyspace.names(&key).entry,
    );
    let answer = script
        .key(&names.entry)
        .key(target)
        .key(&steps.sets.aliases)
        .arg(row.map(|row| row.revision).unwrap_or_default())
        .arg(&names.member)
        .arg(steps.now().0)
        .invoke_async(&mut session.connection)
        .await;
    Ok(session.judge(answer)?)
}

/// Some aliases that have not been used for as long as one is kept, those first that were used least
/// recently. Each is out of the way once it was looked at.
async fn unused(
    steps: &Steps,
    session: &mut Session,
    limit: usize,
) -> Result<Vec<Names>, LedgerError> {
    let before = steps.now().before(TOMBSTONE_RETENTION);
    let answer = redis::cmd("ZRANGE")
        .arg(&steps.sets.aliases)
        .arg("-inf")
        .arg(format!("({}", before.0))
        .arg("BYSCORE")
        .arg("LIMIT")
        .arg(0)
        .arg(limit)
        .query_async(&mut session.connection)
        .await;
    let members: Vec<Vec<u8>> = session.judge(answer)?;
    let names = members.into_iter();
    Ok(names.map(|it| steps.keyspace.names_found(it)).collect())
}
