//! An entry as the rules work on it and as it lies in memory.
//!
//! A million of them are kept for months, and hardly any is looked at again: what few entries have
//! at all lies apart, and is not so much as touched where there is none of it.

use std::sync::Arc;

use super::entry::{Entry, EntryKey, Owner, Resolution, State, Timestamp, WriteRecord};
use super::life::{Life, Standing};
use crate::fingerprint::Comparison;
use crate::{Fingerprint, IdempotencyKey, Landing};

/// One entry.
pub(super) struct Row {
    pub(super) key: EntryKey,
    pub(super) tool: Arc<str>,
    /// As bytes: a number of that size would be aligned, and the row with it.
    pub(super) owner: [u8; 16],
    pub(super) epoch: u64,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    pub(super) lease_until: Timestamp,
    pub(super) generation: u32,
    pub(super) standing: Standing,
    pub(super) maybe_sent: bool,
    rest: Rest,
}

/// What not every entry has.
enum Rest {
    Result(Box<[u8]>),
    More(Option<Box<More>>),
}

/// What hardly any entry has.
#[derive(Clone)]
pub(super) struct More {
    result: Option<Box<[u8]>>,
    pub(super) fingerprint: Fingerprint,
    pub(super) writes: Vec<WriteRecord>,
    pub(super) last_send_by: Option<Timestamp>,
    pub(super) looks: u32,
    pub(super) look_at: Timestamp,
    pub(super) resolution: Option<Resolution>,
    pub(super) alias_of: Option<IdempotencyKey>,
}

impl Row {
    /// The row of a key that nobody has claimed.
    pub(super) fn vacant(key: &EntryKey, now: Timestamp) -> Self {
        Self {
            key: key.clone(),
            tool: Arc::default(),
            owner: [0; 16],
            epoch: 0,
            created_at: now,
            updated_at: now,
            lease_until: now,
            generation: 0,
            standing: Standing {
                state: State::Free,
                code: None,
                landing: Landing::InFlight,
            },
            maybe_sent: false,
            rest: Rest::More(None),
        }
    }

    pub(super) fn new(entry: Entry) -> Self {
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
        let mut row = Self {
            key: entry.key,
            tool: entry.tool,
            owner: entry.owner.to_bytes(),
            epoch: entry.epoch,
            created_at: entry.created_at,
            updated_at: entry.updated_at,
            lease_until: entry.lease_until,
            generation: entry.generation,
            standing: Standing {
                state: entry.state,
                code: entry.code,
                landing: entry.landing,
            },
            maybe_sent: entry.maybe_sent,
            rest: Rest::More(Some(Box::new(more))),
        };
        row.tidy();
        row
    }

    /// The entry as it is stored.
    pub(super) fn entry(&self) -> Entry {
        let more = match &self.rest {
            Rest::Result(result) => More {
                result: Some(result.clone()),
                ..More::none(self.lease_until)
            },
            Rest::More(Some(more)) => (**more).clone(),
            Rest::More(None) => More::none(self.lease_until),
        };
        Entry {
            key: self.key.clone(),
            tool: Arc::clone(&self.tool),
            state: self.standing.state,
            epoch: self.epoch,
            generation: self.generation,
            maybe_sent: self.maybe_sent,
            owner: Owner::from_bytes(self.owner),
            lease_until: self.lease_until,
            fingerprint: more.fingerprint,
            code: self.standing.code,
            landing: self.standing.landing,
            result: more.result,
            writes: more.writes,
            created_at: self.created_at,
            updated_at: self.updated_at,
            last_send_by: more.last_send_by,
            looks: more.looks,
            look_at: more.look_at,
            resolution: more.resolution,
            alias_of: more.alias_of,
        }
    }

    pub(super) fn life(&self) -> Life {
        Life {
            state: self.standing.state,
            maybe_sent: self.maybe_sent,
            lease_until: self.lease_until,
            updated_at: self.updated_at,
            has_result: self.result().is_some(),
        }
    }

    /// Takes a lease that has ended into account.
    #[inline]
    pub(super) fn expire(&mut self, now: Timestamp) {
        if self.lease_until <= now {
            self.standing = self.life().standing_at(self.standing, now);
        }
    }

    /// Whether the key is an alias that several entries have.
    pub(super) fn is_shared(&self) -> bool {
        self.standing.state == State::Alias && self.standing.code.is_some()
    }

    /// Leaves nothing but the key, who has claimed it, and what must be equal in an identical call.
    #[inline]
    pub(super) fn renew(&mut self, fingerprint: Fingerprint) {
        self.rest = Rest::More(None);
        if !fingerprint.is_empty() {
            self.more_mut().fingerprint = fingerprint;
        }
    }

    pub(super) fn result(&self) -> Option<&[u8]> {
        match &self.rest {
            Rest::Result(result) => Some(result),
            Rest::More(more) => more.as_ref()?.result.as_deref(),
        }
    }

    #[inline]
    pub(super) fn set_result(&mut self, result: Option<Box<[u8]>>) {
        match &mut self.rest {
            Rest::More(Some(more)) => more.result = result,
            rest => *rest = result.map_or(Rest::More(None), Rest::Result),
        }
    }

    pub(super) fn take_result(&mut self) -> Option<Box<[u8]>> {
        match &mut self.rest {
            Rest::More(more) => more.as_mut()?.result.take(),
            Rest::Result(result) => {
                let result = std::mem::take(result);
                self.rest = Rest::More(None);
                Some(result)
            }
        }
    }

    pub(super) fn more(&self) -> Option<&More> {
        match &self.rest {
            Rest::More(more) => more.as_deref(),
            Rest::Result(_) => None,
        }
    }

    /// What hardly any entry has, if this one has it.
    pub(super) fn any_more_mut(&mut self) -> Option<&mut More> {
        match &mut self.rest {
            Rest::More(more) => more.as_deref_mut(),
            Rest::Result(_) => None,
        }
    }

    /// What hardly any entry has, and from now on this one.
    pub(super) fn more_mut(&mut self) -> &mut More {
        let none = || More::none(self.lease_until);
        if let Rest::Result(result) = &mut self.rest {
            let result = Some(std::mem::take(result));
            self.rest = Rest::More(Some(Box::new(More { result, ..none() })));
        }
        match &mut self.rest {
            Rest::More(more) => more.get_or_insert_with(|| Box::new(none())),
            Rest::Result(_) => unreachable!("it was moved a line above"),
        }
    }

    fn fingerprint(&self) -> &Fingerprint {
        static NONE: Fingerprint = Fingerprint::none();
        self.more().map_or(&NONE, |more| &more.fingerprint)
    }

    /// Compares what has to be equal in an identical call with what a call says.
    pub(super) fn compare<'a>(&'a self, call: &'a Fingerprint) -> Comparison<'a> {
        self.fingerprint().compare(call, &self.key.key)
    }

    /// Takes over what a call that is equal says by further versions of the rules. Returns whether
    /// there are any.
    pub(super) fn learn(&mut self, call: &Fingerprint) -> bool {
        let own = self.key.key;
        call.has_marks() && self.more_mut().fingerprint.learn(call, &own)
    }

    /// What has ended is never sent again.
    #[inline]
    pub(super) fn forget_requests(&mut self) {
        for write in self
            .any_more_mut()
            .into_iter()
            .flat_map(|it| &mut it.writes)
        {
            write.request = None;
        }
    }

    pub(super) fn look_at(&self) -> Timestamp {
        self.more().map_or(self.lease_until, |more| more.look_at)
    }

    pub(super) fn last_send_by(&self) -> Option<Timestamp> {
        self.more()?.last_send_by
    }

    pub(super) fn alias_of(&self) -> Option<IdempotencyKey> {
        self.more()?.alias_of
    }

    /// Gives the room back for what there is no more of.
    #[inline]
    pub(super) fn tidy(&mut self) {
        if let Rest::More(Some(more)) = &mut self.rest
            && more.is_result(self.lease_until)
        {
            let result = more.result.take();
            self.rest = result.map_or(Rest::More(None), Rest::Result);
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

#[cfg(test)]
mod tests {
    use super::Row;

    #[test]
    fn a_row_is_small_enough_for_millions() {
        assert!(size_of::<Row>() <= 136, "{}", size_of::<Row>());
    }
}
