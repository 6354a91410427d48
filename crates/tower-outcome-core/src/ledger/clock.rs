use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::Timestamp;

/// What time it is for a lease, for stores on a server.
///
/// The server's clock is the one that all processes share. It comes with the server's answers; in
/// between it is counted on by the process's own steady clock. So processes agree to within a round
/// trip, however wrong the clocks of their machines are. Clones are the same clock.
///
/// ```
/// use tower_outcome_core::ledger::{StoreClock, Timestamp};
///
/// let clock = StoreClock::default();
/// clock.see(Timestamp(1_000)); // an answer of a server whose clock is decades behind
/// assert!((1_000..1_000_000_000).contains(&clock.now().0));
/// ```
#[derive(Clone, Default)]
pub struct StoreClock(Source);

#[derive(Clone)]
enum Source {
    Given(Arc<dyn Fn() -> Timestamp + Send + Sync>),
    /// The server's, as of its last answer.
    Shared(Arc<Mutex<Option<(Instant, Timestamp)>>>),
}

impl StoreClock {
    /// A clock that no server sets: for tests of leases.
    #[must_use]
    pub fn given(clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Source::Given(Arc::new(clock)))
    }

    /// The time. Before the server has told its own, this machine's: a store that is told the time
    /// as it connects never asks before.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::Given(clock) => clock(),
            Source::Shared(seen) => {
                let seen = *seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.map_or_else(Timestamp::now, |(at, time)| time.after(at.elapsed()))
            }
        }
    }

    /// Takes down the time that the server told just now.
    pub fn see(&self, time: Timestamp) {
        if let Source::Shared(seen) = &self.0 {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            *seen = Some((Instant::now(), time));
        }
    }
}

impl Default for Source {
    fn default() -> Self {
        Self::Shared(Arc::default())
    }
}

impl fmt::Debug for StoreClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreClock").field(&self.now()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_believed_and_not_the_machine() {
        let clock = StoreClock::default();
        clock.clone().see(Timestamp(1_000));
        // Counted on from there: the machine's own clock is decades ahead.
        assert!((1_000..1_000_000_000).contains(&clock.now().0));
        clock.see(Timestamp(500));
        assert!(clock.now().0 < 1_000_000_000);
    }

    #[test]
    fn a_given_clock_is_not_set() {
        let clock = StoreClock::given(|| Timestamp(7));
        clock.see(Timestamp(1_000));
        assert_eq!(clock.now(), Timestamp(7));
    }
}
