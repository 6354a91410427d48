//! Tables that only remember: what the ledger is compared with.

use std::hash::{BuildHasherDefault, Hasher};
use std::time::Duration;

use hashbrown::HashMap;
use parking_lot::Mutex;
use tower_outcome_core::ledger::{Claim, EntryKey};

use super::RESULT;

/// Something that can be claimed and then ended.
pub(super) trait Table {
    fn pair(&self, key: &EntryKey, claim: &Claim);
}

/// 64 maps, each behind a lock, that take the key's own bytes for its hash.
pub(super) struct Sharded(Vec<Mutex<Shard>>);

type Shard = HashMap<[u8; 32], Option<[u8; 8]>, BuildHasherDefault<OwnBytes>>;

impl Sharded {
    pub(super) fn new() -> Self {
        Self((0..SHARDS).map(|_| Mutex::default()).collect())
    }

    fn shard(&self, key: &[u8; 32]) -> &Mutex<Shard> {
        &self.0[usize::from(key[31]) % SHARDS]
    }
}

impl Table for Sharded {
    fn pair(&self, key: &EntryKey, _: &Claim) {
        let key = key.key.as_bytes();
        self.shard(key).lock().entry(*key).or_insert(None);
        if let Some(result) = self.shard(key).lock().get_mut(key) {
            *result = Some(*RESULT);
        }
    }
}

/// The first eight bytes of a key, which are a hash already.
#[derive(Default)]
pub(super) struct OwnBytes(u64);

impl Hasher for OwnBytes {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 = u64::from_le_bytes(*first);
        }
    }

    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A cache that forgets by itself.
pub(super) struct Moka(moka::sync::Cache<[u8; 32], Option<[u8; 8]>>);

impl Moka {
    pub(super) fn new() -> Self {
        let day = Duration::from_hours(24);
        Self(moka::sync::Cache::builder().time_to_live(day).build())
    }
}

impl Table for Moka {
    fn pair(&self, key: &EntryKey, _: &Claim) {
        let key = *key.key.as_bytes();
        self.0.entry(key).or_insert(None);
        self.0.insert(key, Some(*RESULT));
    }
}

const SHARDS: usize = 64;
