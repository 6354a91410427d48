//! Lanes: what touches one thing happens one call after the other.
//!
//! A [`Lane`] names a thing that two calls must not change at once: an account, a file, a booking.
//! A tool says which lanes a call needs ([`Tool::with_lanes`](crate::Tool::with_lanes)); the
//! executor takes them before it claims the call, and other calls of these lanes wait, first come
//! first served. A host that touches the same thing by itself takes the lane too.
//!
//! The table holds an entry for each lane that is held or waited for, and nothing else.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! use tower_outcome_tools::{Lane, Lanes};
//!
//! let lanes = Lanes::new();
//! let held = lanes.lock([Lane::new("account/7"), Lane::new("account/9")]).await;
//! assert!(lanes.try_lock([Lane::new("account/9")]).is_none());
//! drop(held);
//! assert_eq!(lanes.len(), 0);
//! # }
//! ```

use std::fmt;
use std::sync::Arc;

pub use self::name::Lane;
pub(crate) use self::set::LaneSet;
use self::table::Table;

mod name;
mod set;
mod table;

/// A table of lanes. Cloning shares it.
///
/// See the [module docs](self).
#[derive(Clone)]
pub struct Lanes {
    table: Arc<Table>,
}

impl Lanes {
    /// A table in which nothing is held.
    #[must_use]
    pub fn new() -> Self {
        Self {
            table: Arc::default(),
        }
    }

    /// Takes all of these lanes, waiting for each where it has to.
    ///
    /// They are taken in the order of their names, so that two that want the same lanes cannot wait
    /// for each other. A lane that stands there twice is taken once. Dropping the future gives up
    /// what it has and its place in the line.
    pub async fn lock(&self, lanes: impl IntoIterator<Item = Lane>) -> Held {
        match self.lock_now(lanes.into_iter().collect()) {
            Ok(held) => held,
            // Boxed, so that one that need not wait does not move the room for waiting about.
            Err(some) => Box::pin(some.wait_for_rest()).await,
        }
    }

    /// Takes all of these lanes, or none if one is held.
    #[must_use]
    pub fn try_lock(&self, lanes: impl IntoIterator<Item = Lane>) -> Option<Held> {
        self.try_lock_set(lanes.into_iter().collect())
    }

    /// How many lanes are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether no lane is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn try_lock_set(&self, lanes: LaneSet) -> Option<Held> {
        self.lock_now(lanes).ok()
    }

    /// Takes all of these lanes, or those before the first that is held.
    #[inline]
    fn lock_now(&self, lanes: LaneSet) -> Result<Held, Held> {
        let mut held = Held {
            table: Arc::clone(&self.table),
            lanes,
            taken: 0,
        };
        if held.take_what_is_free() {
            Ok(held)
        } else {
            Err(held)
        }
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table)
    }
}

impl Default for Lanes {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lanes")
            .field("held", &self.len())
            .finish_non_exhaustive()
    }
}

/// Lanes that are held until this is dropped.
#[must_use = "lanes are free again once this is dropped"]
pub struct Held {
    table: Arc<Table>,
    lanes: LaneSet,
    taken: usize,
}

impl Held {
    /// Whether it has all of them.
    #[inline]
    fn take_what_is_free(&mut self) -> bool {
        for lane in &self.lanes[..] {
            if !self.table.try_take(lane.mark()) {
                return false;
            }
            self.taken += 1;
        }
        true
    }

    /// Whether it has this lane of this table.
    pub(crate) fn holds(&self, lanes: &Lanes, lane: &Lane) -> bool {
        Arc::ptr_eq(&self.table, &lanes.table) && self.lanes.binary_search(lane).is_ok()
    }

    async fn wait_for_rest(mut self) -> Self {
        while let Some(lane) = self.lanes.get(self.taken) {
            if let Err(place) = self.table.take(lane.mark()) {
                place
                    .turn(|number| self.table.leave(lane.mark(), number))
                    .await;
            }
            self.taken += 1;
        }
        self
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        for lane in self.lanes.iter().take(self.taken) {
            self.table.free(lane.mark());
        }
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held")
            .field("lanes", &self.taken)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::{Lane, LaneSet, Lanes};

    #[test]
    fn a_lane_that_nobody_else_wants_costs_no_allocation() {
        let lanes = Lanes::new();
        let names = [1, 2].map(|n| Lane::new(format!("account/{n}")));
        let turn = || {
            names
                .each_ref()
                .map(|lane| lanes.lock([lane.clone()]).now_or_never())
        };
        assert!(turn().iter().all(Option::is_some));
        let counted = allocation_counter::measure(|| {
            for _ in 0..1000 {
                drop(turn());
            }
        });
        assert_eq!((counted.count_total, counted.count_current), (0, 0));
    }

    #[test]
    fn a_million_lanes_that_are_held_cost_60_bytes_each_and_nothing_once_they_are_free() {
        let lanes = Lanes::new();
        let set: LaneSet = (0..MILLION)
            .map(|n| Lane::new(format!("account/{n}")))
            .collect();
        let mut held = None;
        let taken = allocation_counter::measure(|| held = lanes.try_lock_set(set.clone()));
        assert_eq!(lanes.len(), MILLION);
        assert!(taken.bytes_current <= 60_000_000, "{taken:?}");
        let freed = allocation_counter::measure(|| drop(held));
        let left = taken.bytes_current + freed.bytes_current;
        assert!(left <= 64 << 10, "{left} bytes in a table of no lanes");
        assert!(lanes.is_empty());
    }

    const MILLION: usize = 1_000_000;
}
