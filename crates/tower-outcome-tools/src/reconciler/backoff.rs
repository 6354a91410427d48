//! How long an entry rests between two looks.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

/// Pauses that double up to a longest one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backoff {
    first: Duration,
    longest: Duration,
}

impl Backoff {
    pub(super) fn new(first: Duration, longest: Duration) -> Self {
        Self {
            first: first.min(longest),
            longest,
        }
    }

    pub(super) const fn longest(self) -> Duration {
        self.longest
    }

    /// The pause after a look that `looks` others went before: replicas that met once do not meet
    /// again.
    pub(super) fn after(self, looks: u32) -> Duration {
        let doubled = self.first.saturating_mul(1 << looks.min(30));
        let random = RandomState::new().hash_one(looks) % 1024;
        let jitter = u32::try_from(random).unwrap_or_default();
        let half = doubled.min(self.longest) / 2;
        half + half / 1024 * jitter
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new(Duration::from_secs(30), Duration::from_hours(6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_less_a_jitter_of_a_half() {
        let backoff = Backoff::new(Duration::from_secs(10), Duration::from_mins(1));
        for (looks, whole) in [(0, 10), (1, 20), (2, 40), (3, 60), (u32::MAX, 60)] {
            for _ in 0..50 {
                let pause = backoff.after(looks);
                assert!(pause >= Duration::from_secs(whole) / 2, "{pause:?}");
                assert!(pause <= Duration::from_secs(whole), "{pause:?}");
            }
        }
    }
}
