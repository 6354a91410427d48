//! Who waits for which entry to change: for stores.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! use tower_outcome_core::IdempotencyKey;
//! use tower_outcome_core::ledger::{Changes, EntryKey};
//!
//! let changes = Changes::default();
//! let key = EntryKey {
//!     scope: "acme".into(),
//!     key: IdempotencyKey::from_bytes([7; 32]),
//! };
//! let changed = changes.wait_for(&key);
//! changes.tell(&key);
//! changed.await;
//! # }
//! ```

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::entry::EntryKey;

/// Those who wait, by what they wait for. Needs no runtime.
#[derive(Default)]
pub struct Changes {
    waiting: Mutex<HashMap<EntryKey, Vec<Arc<Bell>>>>,
    /// How many wait: hardly ever anybody, and every change asks.
    bells: AtomicUsize,
}

impl Changes {
    /// Ready once the entry of `key` has changed after this call.
    pub fn wait_for<'a>(&'a self, key: &'a EntryKey) -> Waiting<'a> {
        let bell = Arc::new(Bell::default());
        let mut waiting = self.lock();
        let bells = waiting.entry(key.clone()).or_default();
        bells.push(Arc::clone(&bell));
        drop(waiting);
        // Before whoever waits reads the entry, so that a change which it does not see sees it.
        self.bells.fetch_add(1, Ordering::SeqCst);
        Waiting {
            changes: self,
            key,
            bell,
        }
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Wakes all who wait for the entry of `key`.
    #[inline]
    pub fn tell(&self, key: &EntryKey) {
        if self.bells.load(Ordering::SeqCst) != 0 {
            self.ring(key);
        }
    }

    /// Wakes all who wait for any entry.
    pub fn tell_all(&self) {
        let bells = std::mem::take(&mut *self.lock());
        for bell in bells.into_values().flatten() {
            bell.ring();
        }
    }

    fn ring(&self, key: &EntryKey) {
        let bells = self.lock().remove(key);
        for bell in bells.into_iter().flatten() {
            bell.ring();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EntryKey, Vec<Arc<Bell>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes")
            .field("awaited", &self.lock().len())
            .finish_non_exhaustive()
    }
}

/// What [`Changes::wait_for`] returns. Dropping it ends the waiting.
pub struct Waiting<'a> {
    changes: &'a Changes,
    key: &'a EntryKey,
    bell: Arc<Bell>,
}

impl fmt::Debug for Waiting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").finish_non_exhaustive()
    }
}

impl Future for Waiting<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.bell.poll(context)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.changes.bells.fetch_sub(1, Ordering::SeqCst);
        let mut waiting = self.changes.lock();
        if let Some(bells) = waiting.get_mut(self.key) {
            bells.retain(|bell| !Arc::ptr_eq(bell, &self.bell));
            if bells.is_empty() {
                waiting.remove(self.key);
            }
        }
    }
}

#[derive(Default)]
struct Bell(Mutex<Rope>);

#[derive(Default)]
enum Rope {
    #[default]
    Loose,
    Held(Waker),
    Rung,
}

impl Bell {
    fn ring(&self) {
        let mut rope = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *rope, Rope::Rung);
        drop(rope);
        if let Rope::Held(waker) = before {
            waker.wake();
        }
    }

    fn poll(&self, context: &Context<'_>) -> Poll<()> {
        let mut rope = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*rope, Rope::Rung) {
            return Poll::Ready(());
        }
        *rope = Rope::Held(context.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IdempotencyKey;

    #[test]
    fn who_no_longer_waits_leaves_nothing_behind() {
        let changes = Changes::default();
        let key = EntryKey {
            scope: "acme".into(),
            key: IdempotencyKey::from_bytes([1; 32]),
        };
        let (one, other) = (changes.wait_for(&key), changes.wait_for(&key));
        drop(one);
        assert_eq!(changes.lock()[&key].len(), 1);
        drop(other);
        assert!(changes.is_empty());
    }
}
