//! Everything that a call waits for before it claims: an identical call, an earlier occurrence of
//! the same wish, a lane, a permit. Nothing is held here that the ledger knows of, so that all of it can be
//! dropped at any time.

use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};
use tower_outcome_core::ledger::{EntryKey, State};
use tower_outcome_core::{Code, Envelope, Fingerprint, Landing};

use super::replay::{self, Stands, stands};
use super::room::{self, Room};
use super::twins::{Leader, Met};
use super::{Run, narrow};
use crate::lanes::LaneSet;
use crate::tool::NearMisses;

/// A call on its way to its claim.
pub(super) struct Admission<'a> {
    run: &'a Run,
    key: EntryKey,
    lanes: LaneSet,
    leader: Option<Leader>,
    fingerprint: Fingerprint,
    give_up: Instant,
    pause: Duration,
}

/// What came of waiting.
pub(super) enum Admitted {
    Answered(Envelope),
    /// The entry has another key than it was looked for under.
    Moved,
    /// The claim may be asked for.
    Ready(Room),
}

impl<'a> Admission<'a> {
    pub(super) fn new(run: &'a Run, lanes: LaneSet, give_up: Instant) -> Self {
        Self {
            run,
            lanes,
            key: EntryKey::of(&run.intent),
            leader: None,
            fingerprint: run.intent.entry_fingerprint(),
            give_up,
            pause: FIRST_PAUSE,
        }
    }

    pub(super) fn lead_on(&mut self, leader: Option<Leader>) {
        self.leader = leader;
    }

    pub(super) fn take_leader(&mut self) -> Option<Leader> {
        self.leader.take()
    }

    pub(super) async fn admit(&mut self) -> Admitted {
        if let Some(envelope) = self.lead().await {
            return Admitted::Answered(envelope);
        }
        loop {
            match self.stands().await {
                Stands::Ended(envelope) => return Admitted::Answered(envelope),
                Stands::InProgress => {
                    if let Some(envelope) = self.wait_a_while().await {
                        return Admitted::Answered(envelope);
                    }
                }
                Stands::Moved => return Admitted::Moved,
                Stands::Open => break,
            }
        }
        if let Some(envelope) = self.lower_occurrence().await {
            return Admitted::Answered(envelope);
        }
        if let Some(envelope) = self.near_miss().await {
            return Admitted::Answered(envelope);
        }
        let room = match room::take(self.run, &self.lanes).await {
            Ok(room) => room,
            Err(overloaded) => return Admitted::Answered(overloaded),
        };
        // Whoever had the lane before may have left it in doubt.
        match self.near_miss().await {
            Some(envelope) => Admitted::Answered(envelope),
            None => Admitted::Ready(room),
        }
    }

    /// Waits for another owner's claim a little longer; the answer once it has been long enough.
    async fn wait_a_while(&mut self) -> Option<Envelope> {
        if Instant::now() >= self.give_up {
            return Some(Envelope::new(Code::AlreadyInProgress));
        }
        sleep_until(self.give_up.min(Instant::now() + self.pause)).await;
        self.pause = (self.pause * 2).min(LAST_PAUSE);
        None
    }

    /// Becomes the first of its kind in this process, or takes the first one's answer.
    async fn lead(&mut self) -> Option<Envelope> {
        while self.leader.is_none() {
            match self.run.executor.state.twins.meet(&self.run.intent) {
                Met::Leads(leader) => self.leader = Some(leader),
                Met::Differs => return Some(self.beside().await),
                Met::Follows(follower) => {
                    let (scope, config) = (self.run.intent.scope(), &self.run.executor.config);
                    let place = self.run.executor.state.queue.enter(scope, config.queue);
                    let Some(_place) = place else {
                        return Some(narrow(Code::Overloaded));
                    };
                    match timeout_at(self.give_up, follower.wait()).await {
                        Ok(Some(envelope)) => return Some(envelope),
                        // It went away and nothing was sent.
                        Ok(None) => {}
                        Err(_) => return Some(Envelope::new(Code::AlreadyInProgress)),
                    }
                }
            }
        }
        None
    }

    /// The answer to a call that meets another one under its key.
    async fn beside(&self) -> Envelope {
        match self.stands().await {
            Stands::Ended(envelope) => envelope,
            // It has not claimed yet, or not been told apart yet: nothing is known to have left.
            Stands::InProgress | Stands::Moved | Stands::Open => {
                Envelope::new(Code::AlreadyInProgress)
            }
        }
    }

    async fn stands(&self) -> Stands {
        match self.run.executor.read(&self.key).await {
            Ok(None) => Stands::Open,
            Ok(Some(entry)) => stands(&entry, &self.fingerprint),
            Err(refused) => Stands::Ended(refused),
        }
    }

    /// A wish is not made once more while it is not known what became of it before.
    async fn lower_occurrence(&self) -> Option<Envelope> {
        for lower in (0..self.run.intent.occurrence()).rev() {
            // A ledger that is always ready would keep the clock from being asked.
            tokio::task::yield_now().await;
            let wish = self.run.intent.clone().with_occurrence(lower);
            let code = match self.run.executor.find(&wish).await {
                Err(refused) => return Some(refused),
                Ok((_, entry)) => match entry.map(|entry| entry.state) {
                    Some(State::Claimed | State::Dispatching) => Code::AlreadyInProgress,
                    Some(State::Alias | State::Unknown) => Code::StillConfirming,
                    Some(State::Done | State::Failed | State::Free | State::Partial) | None => {
                        continue;
                    }
                },
            };
            return Some(Envelope::new(code));
        }
        None
    }

    /// The answer to a call that may be an unresolved one spelt otherwise, or that touches the same
    /// thing: what is known of that one.
    async fn near_miss(&self) -> Option<Envelope> {
        let (intent, meant) = (&self.run.intent, self.run.near_misses);
        let executor = &self.run.executor;
        let doubts = &executor.state.doubts;
        if meant == NearMisses::Lifted {
            if doubts.are_many() {
                // Nothing else would have those forgotten that were resolved elsewhere.
                let _ = doubts.refresh(&*executor.config.ledger).await;
            }
            return None;
        }
        if let Err(code) = doubts.refresh(&*executor.config.ledger).await {
            return Some(narrow(code));
        }
        while let Some(near) = doubts.near(intent, &self.lanes, meant) {
            // A ledger that is always ready would keep the clock from being asked.
            tokio::task::yield_now().await;
            let landing = match executor.read(&near).await {
                Ok(entry) if !doubts.contains(&near) => {
                    drop(entry);
                    continue;
                }
                Ok(entry) => entry.map(|entry| entry.landing).unwrap_or_default(),
                Err(_) => Landing::InFlight,
            };
            let envelope = Envelope::new(replay::doubt(landing)).with_detail(HELD);
            return Some(envelope.with_key(&near.key));
        }
        None
    }
}

const HELD: &str = "That earlier request is not this one but much like it, or about the same \
    thing; this one can be made once that one is resolved.";

/// The first and the longest pause between two looks at another owner's claim.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LAST_PAUSE: Duration = Duration::from_millis(250);
