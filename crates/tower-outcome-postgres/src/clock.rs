//! What time it is for a lease.
//!
//! The database's clock is the one that all processes share. It comes with every answer; in between
//! it is counted on by the process's own steady clock. So processes agree to within a round trip,
//! however wrong the clocks of their machines are.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tower_outcome_core::ledger::Timestamp;

/// Tells the time, from any task.
pub(crate) enum Clock {
    /// As a test gives it.
    Given(Arc<dyn Fn() -> Timestamp + Send + Sync>),
    /// The database's, as of its last answer.
    Shared(Mutex<Option<(Instant, Timestamp)>>),
}

impl Clock {
    pub(crate) fn now(&self) -> Timestamp {
        match self {
            Self::Given(clock) => clock(),
            Self::Shared(seen) => {
                let seen = *seen.lock().unwrap_or_else(PoisonError::into_inner);
                // Connecting is an answer too, so that nobody asks before the first one.
                seen.map_or_else(Timestamp::now, |(at, time)| time.after(at.elapsed()))
            }
        }
    }

    /// Takes the database's time down.
    pub(crate) fn see(&self, time: Timestamp) {
        if let Self::Shared(seen) = self {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            *seen = Some((Instant::now(), time));
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::Shared(Mutex::new(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_is_believed_and_not_the_machine() {
        let clock = Clock::default();
        clock.see(Timestamp(1_000));
        // Counted on from there: the machine's own clock is decades ahead.
        assert!((1_000..1_000_000_000).contains(&clock.now().0));
        clock.see(Timestamp(500));
        assert!(clock.now().0 < 1_000_000_000);
    }

    #[test]
    fn a_given_clock_is_not_set() {
        let clock = Clock::Given(Arc::new(|| Timestamp(7)));
        clock.see(Timestamp(1_000));
        assert_eq!(clock.now(), Timestamp(7));
    }
}
