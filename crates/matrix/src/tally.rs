//! The sums of many cells.

use std::iter::Sum;
use std::ops::Add;

use crate::Cell;

/// How many cells ended in which way.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// All of them.
    pub cells: usize,
    /// Told `failed`, and it happened or could have.
    pub false_failed: usize,
    /// Told done, and it was not.
    pub false_done: usize,
    /// Took effect more than once.
    pub double_commits: usize,
    /// Told `unknown`, and it could have been known.
    pub needless_unknown: usize,
    /// Told `unknown`, and it could not.
    pub honest_unknown: usize,
    /// Told `failed`, and nothing happened.
    pub proved_failed: usize,
}

impl From<Cell> for Tally {
    fn from(cell: Cell) -> Self {
        Self {
            cells: 1,
            false_failed: cell.is_false_failed().into(),
            false_done: cell.is_false_done().into(),
            double_commits: cell.is_double_commit().into(),
            needless_unknown: cell.is_needless_unknown().into(),
            honest_unknown: cell.is_honest_unknown().into(),
            proved_failed: cell.is_proved_failed().into(),
        }
    }
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cells: self.cells + other.cells,
            false_failed: self.false_failed + other.false_failed,
            false_done: self.false_done + other.false_done,
            double_commits: self.double_commits + other.double_commits,
            needless_unknown: self.needless_unknown + other.needless_unknown,
            honest_unknown: self.honest_unknown + other.honest_unknown,
            proved_failed: self.proved_failed + other.proved_failed,
        }
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), Self::add)
    }
}
