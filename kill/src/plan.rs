//! What happens in a cycle, and when: drawn from the seed and the number of the cycle alone.
//!
//! The blow falls at random within a stretch that begins with a thing seen to happen, so that every
//! state is hit often on a machine of any speed.

use std::time::Duration;

use crate::random::Random;
use crate::timing;
use crate::words::{Pauses, Step};

/// What happens in a cycle.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) blow: Blow,
    /// Whether the process is frozen past its lease, and goes on later, instead of killed.
    pub(crate) freezes: bool,
    pub(crate) thaw: Thaw,
    /// Whether the store's server is killed at the blow as well, and the first process only once
    /// its call is over.
    pub(crate) crashes_store: bool,
    pub(crate) deadline: Duration,
    pub(crate) pauses: Pauses,
    /// What the service does with the first call's request.
    pub(crate) first: Fate,
    /// And with the second call's.
    pub(crate) second: Fate,
}

/// When the process is hit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blow {
    pub(crate) moment: Moment,
    pub(crate) delay: Duration,
}

/// Something seen to happen. Where it does not, the end of the call stands for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Moment {
    Answered(Step),
    Asked(Step),
    Committed,
    Ordered,
    Received,
    Said,
}

/// When a frozen process goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Thaw {
    /// Once the others have done all they can.
    Afterwards,
    /// This long after the service has received the second call's request.
    Between(Duration),
}

/// What the service does with a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fate {
    pub(crate) before_commit: Duration,
    pub(crate) before_answer: Duration,
    pub(crate) end: End,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// Committed and answered.
    Answered,
    /// Committed, and the connection closed.
    AnswerLost,
    /// Committed, and answered with 500.
    Error,
    /// Not committed, and answered with 422.
    Refused,
    /// Not committed, and the connection closed.
    RequestLost,
}

impl Plan {
    pub(crate) fn draw(seed: u64, cycle: u64, freezes: bool) -> Self {
        let mut random = Random::new(seed, cycle);
        let random = &mut random;
        let stretch = random.pick(STRETCHES);
        let (moment, up_to) = stretch.blow;
        let mut first = Fate::draw(random);
        if stretch.doubtful && !first.is_doubtful() {
            first.end = random.pick(&[End::AnswerLost, End::Error, End::RequestLost]);
        } else if moment == Moment::Said {
            first.end = End::Answered;
        }
        // What is to be hit once it has ended has to come to an end of its own.
        let fails_frozen = freezes && moment != Moment::Said;
        let cut_short = fails_frozen && random.chance(50) || random.chance(10);
        Self {
            blow: Blow {
                moment,
                // More often early: a store may take less than any of it.
                delay: micros(random, up_to) / random.pick(&[1, 2, 4, 8, 16]),
            },
            freezes,
            thaw: if random.chance(50) {
                Thaw::Afterwards
            } else {
                Thaw::Between(micros(random, 40))
            },
            crashes_store: random.chance(2),
            deadline: if cut_short {
                Duration::from_millis(20) + micros(random, 150)
            } else {
                timing::DEADLINE
            },
            pauses: Pauses {
                after_claim: micros(random, stretch.after_claim),
                after_send: micros(random, 8),
                before_settle: micros(random, 6),
            },
            first,
            second: Fate::draw(random),
        }
    }
}

impl Plan {
    /// The same, but the owner is frozen before it sends and fails once its heir's write is in doubt.
    pub(crate) fn with_stale_failure(mut self) -> Self {
        self.freezes = true;
        self.blow = Blow {
            moment: Moment::Answered(Step::Claim),
            delay: Duration::ZERO,
        };
        self.pauses.after_claim = timing::LEASE;
        self.deadline = timing::LEASE;
        self.second.end = End::RequestLost;
        self
    }
}

/// Where a blow falls: from when, within how many milliseconds; how long a claim takes to be told,
/// in milliseconds; whether the call is to end in doubt.
#[derive(Clone, Copy)]
struct Stretch {
    blow: (Moment, u64),
    after_claim: u64,
    doubtful: bool,
}

impl Stretch {
    const fn new(moment: Moment, up_to: u64) -> Self {
        Self {
            blow: (moment, up_to),
            after_claim: 4,
            doubtful: false,
        }
    }
}

const STRETCHES: &[Stretch] = &[
    Stretch::new(Moment::Ordered, 2),
    Stretch::new(Moment::Ordered, 1),
    Stretch::new(Moment::Asked(Step::Claim), 1),
    Stretch {
        after_claim: 40,
        ..Stretch::new(Moment::Answered(Step::Claim), 15)
    },
    Stretch::new(Moment::Answered(Step::Send), 15),
    Stretch::new(Moment::Received, 20),
    Stretch::new(Moment::Committed, 12),
    DOUBT,
    DOUBT,
    Stretch::new(Moment::Said, 5),
    Stretch::new(Moment::Said, 5),
];

const DOUBT: Stretch = Stretch {
    doubtful: true,
    ..Stretch::new(Moment::Said, 5)
};

impl Fate {
    fn draw(random: &mut Random) -> Self {
        let end = match random.below(100) {
            0..60 => End::Answered,
            60..72 => End::AnswerLost,
            72..80 => End::RequestLost,
            80..92 => End::Refused,
            _ => End::Error,
        };
        let late = random.chance(10);
        Self {
            before_commit: if late {
                timing::LONGEST_LIFE / 2 + micros(random, LATE)
            } else {
                micros(random, 20)
            },
            before_answer: micros(random, 4),
            end,
        }
    }

    fn is_doubtful(self) -> bool {
        matches!(self.end, End::AnswerLost | End::Error | End::RequestLost)
    }
}

impl Default for Fate {
    fn default() -> Self {
        Self {
            before_commit: Duration::ZERO,
            before_answer: Duration::ZERO,
            end: End::Answered,
        }
    }
}

/// Below `millis` milliseconds.
fn micros(random: &mut Random, millis: u64) -> Duration {
    Duration::from_micros(random.below(millis * 1000))
}

/// How many milliseconds a late commit is later than half the longest life.
const LATE: u64 = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_the_same_for_the_same_seed_and_cycle_and_no_other() {
        let plan = |seed, cycle| format!("{:?}", Plan::draw(seed, cycle, false));
        assert_eq!(plan(7, 8), plan(7, 8));
        assert_ne!(plan(7, 8), plan(7, 9));
        assert_ne!(plan(7, 8), plan(8, 8));
    }

    #[test]
    fn nothing_is_committed_after_the_longest_life_of_a_message() {
        let plans = (0..2000).map(|cycle| Plan::draw(1, cycle, true));
        let longest = plans.map(|plan| plan.first.before_commit.max(plan.second.before_commit));
        assert!(longest.max() <= Some(timing::LONGEST_LIFE));
    }
}
