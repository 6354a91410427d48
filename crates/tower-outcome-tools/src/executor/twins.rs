//! Identical calls that meet in one process: one leads, the others wait for its answer.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tower_outcome_core::ledger::EntryKey;
use tower_outcome_core::{Code, Envelope, Fingerprint, Intent, Outcome};

/// The calls that run in this process.
#[derive(Clone, Default)]
pub(super) struct Twins {
    running: Arc<Mutex<HashMap<EntryKey, Running>>>,
}

struct Running {
    fingerprint: Fingerprint,
    answer: watch::Receiver<Option<Envelope>>,
}

/// What a call finds when it arrives.
pub(super) enum Met {
    /// The first one differs in a field that has to be equal.
    Differs,
    Follows(Follower),
    Leads(Leader),
}

impl Twins {
    pub(super) fn meet(&self, intent: &Intent) -> Met {
        let key = EntryKey::of(intent);
        match self.lock().entry(key) {
            Entry::Occupied(running) => {
                let running = running.get();
                match running.fingerprint.differs(intent.fingerprint()) {
                    Some(_) => Met::Differs,
                    None => Met::Follows(Follower(running.answer.clone())),
                }
            }
            Entry::Vacant(place) => {
                let (tell, answer) = watch::channel(None);
                let key = place.key().clone();
                place.insert(Running {
                    fingerprint: intent.fingerprint().clone(),
                    answer,
                });
                Met::Leads(Leader {
                    twins: self.clone(),
                    key,
                    tell,
                })
            }
        }
    }

    /// Whether a call of this key is on its way.
    pub(super) fn is_running(&self, key: &EntryKey) -> bool {
        self.lock().contains_key(key)
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EntryKey, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The call that the others wait for. Dropped without an answer, one of them takes its place.
pub(super) struct Leader {
    twins: Twins,
    key: EntryKey,
    tell: watch::Sender<Option<Envelope>>,
}

impl Leader {
    pub(super) fn answer(self, envelope: &Envelope) {
        self.tell.send_replace(Some(envelope.clone()));
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // Before the channel closes: whoever is woken by that has to find the place free.
        self.twins.lock().remove(&self.key);
    }
}

/// A call that waits for an identical one.
pub(super) struct Follower(watch::Receiver<Option<Envelope>>);

impl Follower {
    /// The answer to give; `None` if the leader went away without one.
    pub(super) async fn wait(mut self) -> Option<Envelope> {
        let told = self.0.wait_for(Option::is_some).await.ok()?;
        told.as_ref().map(follow)
    }
}

/// What a leader's answer means to those that waited for it.
pub(super) fn follow(leader: &Envelope) -> Envelope {
    let code = match (leader.outcome(), leader.code()) {
        (Outcome::Ok, Code::DoneBodyLost) => Code::ResultOmitted,
        (Outcome::Ok, _) => Code::AlreadyDone,
        // One that speaks of a call before them both does so for either.
        (Outcome::Unknown, code) if !matches!(code, Code::Partial | Code::StillConfirming) => {
            Code::StillConfirming
        }
        (Outcome::AlreadyDone | Outcome::Failed | Outcome::Skipped | Outcome::Unknown, _) => {
            return leader.clone();
        }
    };
    let mut envelope = Envelope::new(code);
    if leader.outcome() == Outcome::Ok {
        envelope = envelope.with_data(leader.data().clone());
    }
    if let Some(until) = leader.deduplicated_until() {
        envelope = envelope.with_deduplicated_until(until);
    }
    envelope
}
