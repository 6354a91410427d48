//! Rows that are likely to be as we left them.

use std::collections::HashMap;

use tower_outcome_core::ledger::{EntryKey, State};

use crate::rows::Stored;

/// The rows of claims that this process holds, so that the next change of them needs no look first.
///
/// Only a belief: it is checked by the statement that uses it. Keeps the last few thousand.
#[derive(Default)]
pub(crate) struct Hints {
    young: HashMap<EntryKey, Stored>,
    old: HashMap<EntryKey, Stored>,
}

impl Hints {
    /// Keeps the row of a claim that is likely to go on.
    pub(crate) fn keep(&mut self, stored: Stored) {
        if !matches!(stored.entry.state, State::Claimed | State::Dispatching) {
            return;
        }
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(stored.entry.key.clone(), stored);
    }

    pub(crate) fn take(&mut self, key: &EntryKey) -> Option<Stored> {
        let old = self.old.remove(key);
        self.young.remove(key).or(old)
    }
}

const GENERATION: usize = 4096;

#[cfg(test)]
mod tests {
    use tower_outcome_core::Fingerprint;
    use tower_outcome_core::IdempotencyKey;
    use tower_outcome_core::ledger::{Claim, Event, Owner, Timestamp, machine};

    use super::*;

    #[test]
    fn however_many_claims_are_made_few_are_kept_and_the_last_among_them() {
        let mut hints = Hints::default();
        for number in 0..u32::try_from(GENERATION * 3).unwrap() {
            hints.keep(claimed(number));
            assert!(hints.young.len() + hints.old.len() <= GENERATION * 2);
        }
        let last = claimed(u32::try_from(GENERATION * 3 - 1).unwrap());
        assert!(hints.take(&last.entry.key).is_some());
        assert!(hints.take(&last.entry.key).is_none());
        assert!(hints.take(&claimed(0).entry.key).is_none());
    }

    fn claimed(number: u32) -> Stored {
        let mut key = [0; 32];
        key[..4].copy_from_slice(&number.to_be_bytes());
        let key = EntryKey {
            scope: "acme".into(),
            key: IdempotencyKey::from_bytes(key),
        };
        let claim = Event::Claim(Claim {
            tool: "refund".into(),
            owner: Owner::from_bytes([7; 16]),
            lease: std::time::Duration::from_secs(1),
            fingerprint: Fingerprint::default(),
            announces_sends: true,
        });
        let (entry, _) = machine::step(&key, None, claim, Timestamp(1)).unwrap();
        let entry = entry.unwrap();
        Stored { entry, revision: 1 }
    }
}
