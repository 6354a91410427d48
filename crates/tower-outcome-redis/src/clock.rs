//! What time it is for a lease.
//!
//! The server's clock is the one that all processes share. It comes with every answer of the script
//! and with every new connection; in between it is counted on by the process's own steady clock. So
//! processes agree to within a round trip, however wrong the clocks of their machines are.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tower_outcome_core::ledger::Timestamp;

/// Tells the time, from any task.
pub(crate) enum Clock {
    /// As a test gives it.
    Given(Box<dyn Fn() -> Timestamp + Send + Sync>),
    /// The server's, as of its last answer.
    Shared(Mutex<Option<(Instant, Timestamp)>>),
}

impl Clock {
    pub(crate) fn now(&self) -> Timestamp {
        match self {
            Self::Given(clock) => clock(),
            Self::Shared(seen) => {
                let seen = *seen.lock().unwrap_or_else(PoisonError::into_inner);
                // Every connection begins with the time, so that nobody asks before the first one.
                seen.map_or_else(Timestamp::now, |(at, time)| time.after(at.elapsed()))
            }
        }
    }

    /// Takes the server's time down.
    pub(crate) fn see(&self, (seconds, microseconds): (u64, u64)) {
        if let Self::Shared(seen) = self {
            let time = Timestamp(0)
                .after(Duration::from_secs(seconds))
                .after(Duration::from_micros(microseconds));
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            *seen = Some((Instant::now(), time));
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::Shared(Mutex::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_believed_and_not_the_machine() {
        let clock = Clock::default();
        clock.see((1, 500_000));
        // Counted on from there: the machine's own clock is decades ahead.
        assert!((1_500..1_000_000_000).contains(&clock.now().0));
        clock.see((0, 500_000));
        assert!(clock.now().0 < 1_000_000_000);
    }

    #[test]
    fn a_given_clock_is_not_set() {
        let clock = Clock::Given(Box::new(|| Timestamp(7)));
        clock.see((1, 0));
        assert_eq!(clock.now(), Timestamp(7));
    }
}
