//! What a call has to have before it may claim: its lanes and its permits.

use std::sync::Arc;

use tower_outcome_core::{Code, Envelope};

use super::permits::{Permit, Permits};
use super::{Run, narrow, nested};
use crate::lanes::{Held, Lane, LaneSet, Lanes};

/// What a call holds while it runs.
#[derive(Debug)]
pub(super) struct Room {
    lanes: Option<Held>,
    #[expect(dead_code, reason = "held until nothing of the call is under way")]
    permits: Vec<Permit>,
}

impl Room {
    /// Lets the next call have the lanes.
    pub(super) fn leave_lanes(&mut self) {
        self.lanes = None;
    }

    pub(super) fn holds(&self, lanes: &Lanes, lane: &Lane) -> bool {
        let held = self.lanes.as_ref();
        held.is_some_and(|held| held.holds(lanes, lane))
    }
}

/// Takes what `run` needs: its lanes first, so that a lane which many wait for costs no permits.
///
/// Nothing is held while it waits for its first lane, and a call that is refused holds nothing.
pub(super) async fn take(run: &Run, lanes: &LaneSet) -> Result<Room, Envelope> {
    let config = &run.executor.config;
    let state = &run.executor.state;
    let outer = run.outer.as_ref();
    let lanes = nested::missing(outer, &config.lanes, lanes.clone());
    // The tool's first: a call that waits for its own tool keeps no other from running.
    let caps = [run.tool.permits(), config.permits.as_ref()];
    // What the calls around it hold covers it.
    let covered = nested::has_permit(outer, state);
    let caps: Vec<_> = caps.into_iter().flatten().filter(|_| !covered).collect();
    if let Some(lanes) = config.lanes.try_lock_set(lanes.clone())
        && let Some(permits) = caps.iter().map(|cap| cap.try_acquire()).collect()
    {
        let lanes = Some(lanes);
        return Ok(Room { lanes, permits });
    }
    let scope = run.intent.scope();
    let place = state.queue.enter(scope, config.queue);
    let _place = place.ok_or_else(|| narrow(Code::Overloaded))?;
    let lanes = Some(config.lanes.lock(lanes.iter().cloned()).await);
    let permits = acquire(&caps, scope).await;
    Ok(Room { lanes, permits })
}

async fn acquire(caps: &[&Arc<Permits>], scope: &str) -> Vec<Permit> {
    let mut permits = Vec::with_capacity(caps.len());
    for cap in caps {
        permits.push(cap.acquire(scope).await);
    }
    permits
}
