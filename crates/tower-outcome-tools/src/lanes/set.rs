//! The lanes of one call.

use std::ops::Deref;
use std::sync::Arc;

use super::Lane;

/// Lanes in the order in which they are taken, each once.
///
/// Cheap to clone; one alone, which is what most calls need, costs no allocation.
#[derive(Clone)]
pub(crate) enum LaneSet {
    One(Lane),
    Several(Arc<[Lane]>),
}

impl Default for LaneSet {
    fn default() -> Self {
        Self::Several(Arc::default())
    }
}

impl Deref for LaneSet {
    type Target = [Lane];

    fn deref(&self) -> &[Lane] {
        match self {
            Self::One(lane) => std::slice::from_ref(lane),
            Self::Several(lanes) => lanes,
        }
    }
}

impl FromIterator<Lane> for LaneSet {
    fn from_iter<I: IntoIterator<Item = Lane>>(lanes: I) -> Self {
        let mut lanes = lanes.into_iter();
        match (lanes.next(), lanes.next()) {
            (None, _) => Self::default(),
            (Some(lane), None) => Self::One(lane),
            (Some(first), Some(second)) => {
                let mut all: Vec<_> = [first, second].into_iter().chain(lanes).collect();
                all.sort_unstable();
                all.dedup();
                Self::Several(all.into())
            }
        }
    }
}
