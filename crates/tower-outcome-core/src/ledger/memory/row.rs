//! An entry as it lies in memory.
//!
//! A million of them are kept for months, and hardly any is looked at again: what few entries have
//! at all lies apart.

use std::sync::Arc;

use super::super::entry::{Entry, EntryKey, Owner, Resolution, State, Timestamp, WriteRecord};
use super::super::life::Life;
use crate::{Code, Fingerprint, IdempotencyKey, Landing};

/// One entry.
pub(super) struct Row {
    pub(super) key: EntryKey,
    tool: Arc<str>,
    flat: Flat,
    rest: Rest,
}

/// What every entry has.
#[derive(Clone, Copy)]
struct Flat {
    /// As bytes: a number of that size would be aligned, and the row with it.
    owner: [u8; 16],
    epoch: u64,
    created_at: Timestamp,
    updated_at: Timestamp,
    lease_until: Timestamp,
    generation: u32,
    state: State,
    code: Option<Code>,
    landing: Landing,
    maybe_sent: bool,
}

/// What not every entry has.
enum Rest {
    Result(Box<[u8]>),
    More(Option<Box<More>>),
}

#[derive(Clone)]
struct More {
    result: Option<Box<[u8]>>,
    fingerprint: Fingerprint,
    writes: Vec<WriteRecord>,
    last_send_by: Option<Timestamp>,
    looks: u32,
    look_at: Timestamp,
    resolution: Option<Resolution>,
    alias_of: Option<IdempotencyKey>,
}

impl Row {
    pub(super) fn new(entry: Entry) -> Self {
        let (key, tool, flat, more) = apart(entry);
        let mut rest = Rest::More(None);
        rest.put(more, flat.lease_until);
        Self {
            key,
            tool,
            flat,
            rest,
        }
    }

    /// The entry, to be put back by [`store`](Self::store) or [`restore`](Self::restore).
    pub(super) fn take(&mut self) -> Entry {
        let more = self.rest.take(self.flat.lease_until);
        self.with(more)
    }

    pub(super) fn store(&mut self, entry: Entry) {
        let (_, tool, flat, more) = apart(entry);
        self.tool = tool;
        self.flat = flat;
        self.rest.put(more, flat.lease_until);
    }

    /// Puts back what was taken, as it was: what only looked as if its lease had ended stays what it
    /// is.
    pub(super) fn restore(&mut self, entry: Entry) {
        let (_, _, _, more) = apart(entry);
        self.rest.put(more, self.flat.lease_until);
    }

    /// The entry as it was stored.
    pub(super) fn entry(&self) -> Entry {
        let more = match &self.rest {
            Rest::Result(result) => More {
                result: Some(result.clone()),
                ..More::none(self.flat.lease_until)
            },
            Rest::More(Some(more)) => (**more).clone(),
            Rest::More(None) => More::none(self.flat.lease_until),
        };
        self.with(more)
    }

    pub(super) fn life(&self) -> Life {
        Life {
            state: self.flat.state,
            maybe_sent: self.flat.maybe_sent,
            lease_until: self.flat.lease_until,
            updated_at: self.flat.updated_at,
            has_result: match &self.rest {
                Rest::Result(_) => true,
                Rest::More(more) => more.as_ref().is_some_and(|more| more.result.is_some()),
            },
        }
    }

    pub(super) const fn created_at(&self) -> Timestamp {
        self.flat.created_at
    }

    pub(super) const fn updated_at(&self) -> Timestamp {
        self.flat.updated_at
    }

    pub(super) fn look_at(&self) -> Timestamp {
        match &self.rest {
            Rest::More(Some(more)) => more.look_at,
            Rest::More(None) | Rest::Result(_) => self.flat.lease_until,
        }
    }

    /// Where the entry is that this one is an alias of, shared or not.
    pub(super) fn target(&self) -> Option<EntryKey> {
        match &self.rest {
            Rest::More(Some(more)) => Some(self.key.at(more.alias_of?)),
            Rest::More(None) | Rest::Result(_) => None,
        }
    }

    pub(super) fn forget_result(&mut self) {
        let more = self.rest.take(self.flat.lease_until);
        let result = None;
        self.rest
            .put(More { result, ..more }, self.flat.lease_until);
    }

    fn with(&self, more: More) -> Entry {
        let flat = self.flat;
        Entry {
            key: self.key.clone(),
            tool: Arc::clone(&self.tool),
            state: flat.state,
            epoch: flat.epoch,
            generation: flat.generation,
            maybe_sent: flat.maybe_sent,
            owner: Owner::from_bytes(flat.owner),
            lease_until: flat.lease_until,
            fingerprint: more.fingerprint,
            code: flat.code,
            landing: flat.landing,
            result: more.result,
            writes: more.writes,
            created_at: flat.created_at,
            updated_at: flat.updated_at,
            last_send_by: more.last_send_by,
            looks: more.looks,
            look_at: more.look_at,
            resolution: more.resolution,
            alias_of: more.alias_of,
        }
    }
}

impl Rest {
    /// Leaves nothing behind but the room for it.
    fn take(&mut self, lease_until: Timestamp) -> More {
        let none = More::none(lease_until);
        match self {
            Self::Result(result) => More {
                result: Some(std::mem::take(result)),
                ..none
            },
            Self::More(Some(more)) => std::mem::replace(more, none),
            Self::More(None) => none,
        }
    }

    fn put(&mut self, more: More, lease_until: Timestamp) {
        if more.is_result(lease_until) {
            *self = more.result.map_or(Self::More(None), Self::Result);
        } else if let Self::More(Some(room)) = self {
            **room = more;
        } else {
            *self = Self::More(Some(Box::new(more)));
        }
    }
}

impl More {
    const fn none(lease_until: Timestamp) -> Self {
        Self {
            result: None,
            fingerprint: Fingerprint::none(),
            writes: Vec::new(),
            last_send_by: None,
            looks: 0,
            look_at: lease_until,
            resolution: None,
            alias_of: None,
        }
    }

    /// Whether there is a result at most.
    fn is_result(&self, lease_until: Timestamp) -> bool {
        self.fingerprint.is_empty()
            && self.writes.is_empty()
            && self.last_send_by.is_none()
            && self.looks == 0
            && self.look_at == lease_until
            && self.resolution.is_none()
            && self.alias_of.is_none()
    }
}

fn apart(entry: Entry) -> (EntryKey, Arc<str>, Flat, More) {
    let flat = Flat {
        owner: entry.owner.to_bytes(),
        epoch: entry.epoch,
        created_at: entry.created_at,
        updated_at: entry.updated_at,
        lease_until: entry.lease_until,
        generation: entry.generation,
        state: entry.state,
        code: entry.code,
        landing: entry.landing,
        maybe_sent: entry.maybe_sent,
    };
    let more = More {
        result: entry.result,
        fingerprint: entry.fingerprint,
        writes: entry.writes,
        last_send_by: entry.last_send_by,
        looks: entry.looks,
        look_at: entry.look_at,
        resolution: entry.resolution,
        alias_of: entry.alias_of,
    };
    (entry.key, entry.tool, flat, more)
}

#[cfg(test)]
mod tests {
    use super::Row;

    #[test]
    fn a_row_is_small_enough_for_millions() {
        assert!(size_of::<Row>() <= 136, "{}", size_of::<Row>());
    }
}
