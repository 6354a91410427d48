//! The calls that this process knows to be in doubt: for when the ledger cannot be asked, and for
//! what is much like one of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tower_outcome_core::ledger::{Entry, EntryKey, Ledger, LedgerError, State};
use tower_outcome_core::{Code, Intent};

use super::LONGEST_WAIT;
use super::status::is_short_of;
use crate::lanes::{Lane, LaneSet};
use crate::tool::NearMisses;

/// What the ledger said last. Kept small by every answer that says otherwise.
#[derive(Default)]
pub(super) struct Doubts {
    calls: Mutex<HashMap<EntryKey, Doubt>>,
    /// When the ledger was asked for all of them.
    listed: tokio::sync::Mutex<Option<Instant>>,
}

struct Doubt {
    /// Not known of a call whose entry cannot be read.
    tool: Option<Arc<str>>,
    /// What was wished; not known of a call that another process made.
    wish: Option<(Intent, LaneSet)>,
    /// Until when the ledger may not know it yet.
    unlisted_until: Instant,
}

impl Doubts {
    /// Takes down that a call of this process is in doubt, whose `lease` ends it in the ledger where
    /// its owner could not write.
    pub(super) fn note(&self, intent: &Intent, lanes: LaneSet, lease: Duration) {
        let doubt = Doubt {
            tool: Some(intent.tool().into()),
            wish: Some((intent.clone(), lanes)),
            unlisted_until: Instant::now() + lease.min(LONGEST_WAIT),
        };
        self.lock().insert(EntryKey::of(intent), doubt);
    }

    /// Takes in what the ledger says of a call.
    pub(super) fn learn(&self, key: &EntryKey, entry: Option<&Entry>) {
        match entry.map(|entry| (entry.state, &entry.tool)) {
            Some((State::Unknown, tool)) => {
                self.take_in(key, Some(tool));
            }
            // Its owner could not take the doubt down; the end of the lease will.
            Some((State::Dispatching, _)) => {}
            Some(_) | None => self.forget(key),
        }
    }

    fn take_in(&self, key: &EntryKey, tool: Option<&Arc<str>>) {
        let mut calls = self.lock();
        let doubt = calls.entry(key.clone()).or_insert_with(|| Doubt {
            tool: None,
            wish: None,
            unlisted_until: Instant::now(),
        });
        if let Some(tool) = tool {
            doubt.tool.get_or_insert_with(|| tool.clone());
        }
    }

    pub(super) fn forget(&self, key: &EntryKey) {
        self.lock().remove(key);
    }

    /// The code of a call that the ledger could not be asked about.
    pub(super) fn unasked(&self, key: &EntryKey, error: &LedgerError) -> Code {
        tracing::warn!(%error, "the ledger could not be asked about a tool call");
        if self.contains(key) {
            Code::StillConfirming
        } else {
            error.code()
        }
    }

    pub(super) fn contains(&self, key: &EntryKey) -> bool {
        self.lock().contains_key(key)
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there are so many that those have to be found which are none any more.
    pub(super) fn are_many(&self) -> bool {
        self.len() > LISTED
    }

    /// The calls of `scope` in doubt whose shortened key is `short`.
    pub(super) fn find(&self, scope: &str, short: [u8; 4]) -> Vec<EntryKey> {
        let calls = self.lock();
        let found = calls.keys().filter(|key| is_short_of(key, scope, short));
        found.cloned().collect()
    }

    /// A call in doubt that `intent` may be another spelling of, or that touches the same thing.
    pub(super) fn near(
        &self,
        intent: &Intent,
        lanes: &[Lane],
        meant: NearMisses,
    ) -> Option<EntryKey> {
        if meant == NearMisses::Lifted {
            return None;
        }
        let own = EntryKey::of(intent);
        let is_near = |key: &EntryKey, doubt: &Doubt| {
            let its_tool = doubt.tool.as_deref();
            let same_tool =
                key.scope == own.scope && its_tool.is_none_or(|tool| tool == intent.tool());
            let Some((wish, its)) = &doubt.wish else {
                return same_tool;
            };
            let alike = meant != NearMisses::Alike || wish.near_miss(intent).is_some();
            same_tool && alike || lanes.iter().any(|lane| its.binary_search(lane).is_ok())
        };
        let calls = self.lock();
        let mut others = calls.iter().filter(|(key, _)| **key != own);
        others
            .find(|(key, doubt)| is_near(key, doubt))
            .map(|(key, _)| key.clone())
    }

    /// Asks for what other processes, or this one before it was started anew, left in doubt: the
    /// first time, and again after [`LISTED_FOR`].
    pub(super) async fn refresh(&self, ledger: &dyn Ledger) -> Result<(), Code> {
        let mut listed = self.listed.lock().await;
        if listed.is_some_and(|at| at.elapsed() < LISTED_FOR) {
            return Ok(());
        }
        let asked = Instant::now();
        let listing = ledger.unresolved(LISTED).await.map_err(|error| {
            tracing::warn!(%error, "the ledger did not list what is in doubt");
            error.code()
        })?;
        let (entries, unreadable) = (listing.entries, listing.unreadable);
        if entries.len() < LISTED {
            // That is all of them, but for rows whose owner could not write and whose lease runs.
            let fresh = |doubt: &Doubt| doubt.unlisted_until >= asked;
            let listed = entries.iter().map(|entry| &entry.key).chain(&unreadable);
            let is_listed = |key: &EntryKey| listed.clone().any(|listed| listed == key);
            self.lock()
                .retain(|key, doubt| fresh(doubt) || is_listed(key));
        }
        for entry in &entries {
            self.learn(&entry.key, Some(entry));
        }
        // It may be in doubt, and of any tool.
        for key in &unreadable {
            tracing::warn!(?key, "an entry that may be in doubt cannot be read");
            self.take_in(key, None);
        }
        *listed = Some(asked);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EntryKey, Doubt>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many calls in doubt are asked for, and for how long they are believed.
const LISTED: usize = 1000;
const LISTED_FOR: Duration = Duration::from_secs(30);
