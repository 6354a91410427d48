//! Writes that ended without success a moment ago, in case one of them comes again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::write::{Sent, Write};

/// Writes that ended without success, oldest first.
#[derive(Default)]
pub(super) struct Recent {
    ended: Mutex<VecDeque<(Instant, Arc<Write>)>>,
}

impl Recent {
    pub(super) fn push(&self, write: &Arc<Write>) {
        if !write.can_be_recognised() {
            return;
        }
        let mut ended = self.ended();
        if ended.len() == MAX_RECENT {
            ended.pop_front();
        }
        ended.push_back((Instant::now(), Arc::clone(write)));
    }

    /// Takes out the write that `sent` is likely to be again.
    pub(super) fn take(&self, sent: &Sent<'_>) -> Option<Arc<Write>> {
        let mut ended = self.ended();
        let now = Instant::now();
        while ended.front().is_some_and(|(at, _)| now - *at >= WINDOW) {
            ended.pop_front();
        }
        let found = ended.iter().position(|(_, write)| write.resembles(sent))?;
        ended.remove(found).map(|(_, write)| write)
    }

    /// Takes out `write`, which came again by other signs.
    pub(super) fn forget(&self, write: &Arc<Write>) {
        self.ended().retain(|(_, ended)| !Arc::ptr_eq(ended, write));
    }

    fn ended(&self) -> MutexGuard<'_, VecDeque<(Instant, Arc<Write>)>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For how long after its end a write without a mark is recognised when it is sent again.
pub const WINDOW: Duration = Duration::from_secs(30);

/// How many writes that ended without success are remembered at a time.
pub const MAX_RECENT: usize = 256;
