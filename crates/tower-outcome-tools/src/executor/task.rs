//! One writing call, from its arrival until nothing of it is under way any more.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout_at};
use tower_outcome_core::ledger::{Answer, Claim, EntryKey, Event};
use tower_outcome_core::{Code, Conclusion, Envelope, Gate, IdempotencyKey, Outcome, Seen};

use super::admission::{Admission, Admitted};
use super::around::Around;
use super::fold::Word;
use super::nested::{Nest, Nested};
use super::room::Room;
use super::row::Row;
use super::settling::{Settling, end};
use super::shutdown::{Running, Untold};
use super::twins::Leader;
use super::{GRACE, Run, narrow, replay};
use crate::tool::NearMisses;

/// Runs a call in a task of its own and waits for its answer.
pub(super) async fn shielded(mut run: Run) -> Envelope {
    let key = *run.intent.key();
    let gate = match &run.outer {
        Some(outer) => outer.gate().child(),
        None => Gate::new(),
    };
    let outer = run.outer.as_ref();
    let nested = outer.and_then(|outer| Nest::enter(outer, run.tool.name(), &gate));
    let (nested, under_way) = nested.unzip();
    run.nested = nested;
    let Some((open, untold)) = Running::enter(&run.executor.state.running) else {
        gate.seal();
        return narrow(Code::ShuttingDown).with_key(&key);
    };
    run.executor.state.recent.note(EntryKey::of(&run.intent));
    let (tell, told) = oneshot::channel();
    let teller = Teller {
        key,
        leader: None,
        nested: run.nested.clone(),
        tell,
        _untold: untold,
    };
    let abandoned = Abandoned(gate.clone());
    tokio::spawn(async move {
        arrive(run, gate, teller).await;
        drop((open, under_way));
    });
    let envelope = told.await.unwrap_or_else(|_| {
        // The runtime is going down, or the ledger panicked.
        match abandoned.0.seal() {
            Seen::Never => narrow(Code::NotSent),
            Seen::InFlight | Seen::Left => Envelope::new(Code::ResponseLost),
        }
    });
    keyed(envelope, &key)
}

/// The answer with the key of its call. One that speaks of another call has that call's key.
fn keyed(envelope: Envelope, key: &IdempotencyKey) -> Envelope {
    match envelope.key() {
        Some(_) => envelope,
        None => envelope.with_key(key),
    }
}

/// Ends a call whose caller has left, if nothing of it has.
struct Abandoned(Gate);

impl Drop for Abandoned {
    fn drop(&mut self) {
        if self.0.look() == Seen::Never {
            self.0.seal();
        }
    }
}

/// Gives the answer to everyone who waits for it.
pub(super) struct Teller {
    /// That of the call's entry.
    key: IdempotencyKey,
    leader: Option<Leader>,
    nested: Option<Nested>,
    tell: oneshot::Sender<Envelope>,
    _untold: Untold,
}

impl Teller {
    pub(super) fn tell(self, envelope: Envelope) {
        let envelope = keyed(envelope, &self.key);
        if let Some(nested) = &self.nested {
            // An outer `failed` can speak for no more than this.
            nested.end(Conclusion::new(envelope.code()).for_this_call());
        }
        // A call that was cancelled unsent makes room for one of those that wait for it.
        if let Some(leader) = self.leader
            && envelope.code() != Code::CancelledBeforeSend
        {
            leader.answer(&envelope);
        }
        // The caller may have left.
        let _ = self.tell.send(envelope);
    }
}

/// What ends a call from outside.
#[derive(Clone, Copy)]
pub(super) enum Cut {
    Abandoned,
    Deadline,
    Shutdown,
}

impl Cut {
    pub(super) const fn unsent(self) -> Code {
        match self {
            Self::Abandoned => Code::CancelledBeforeSend,
            Self::Deadline => Code::TimeoutBeforeSend,
            Self::Shutdown => Code::ShuttingDown,
        }
    }

    pub(super) const fn lost(self) -> Code {
        match self {
            Self::Abandoned | Self::Shutdown => Code::ResponseLost,
            Self::Deadline => Code::TimeoutAfterSend,
        }
    }
}

/// Waits until the call is ended from outside. Its gate is sealed then.
async fn cut(gate: &Gate, running: &Running, deadline: Instant) -> Cut {
    tokio::select! {
        biased;
        () = gate.sealed() => Cut::Abandoned,
        _ = running.draining() => {
            gate.seal();
            Cut::Shutdown
        }
        () = sleep_until(deadline) => {
            gate.seal();
            Cut::Deadline
        }
    }
}

async fn arrive(mut run: Run, gate: Gate, mut teller: Teller) {
    let running = Arc::clone(&run.executor.state.running);
    let lanes = run.tool.lanes(run.intent.scope(), &run.arguments);
    let arguments = std::mem::take(&mut run.arguments);
    let deadline = Instant::now() + run.deadline;
    let give_up = deadline.min(Instant::now() + run.executor.config.patience);
    // Nobody has to ask where a call with one key is: its row says so if it is elsewhere.
    let mut moved = run.intent.successor().is_some();
    loop {
        if moved {
            let placed = tokio::select! {
                biased;
                placed = run.executor.place(&run.intent) => placed,
                cut = cut(&gate, &running, deadline) => Err(narrow(cut.unsent())),
            };
            match placed {
                Ok(intent) => run.intent = intent,
                Err(envelope) => return teller.tell(envelope),
            }
            teller.key = *run.intent.key();
        }
        let mut admission = Admission::new(&run, lanes.clone(), give_up);
        loop {
            admission.lead_on(teller.leader.take());
            let admitted = tokio::select! {
                biased;
                admitted = admission.admit() => admitted,
                cut = cut(&gate, &running, deadline) => Admitted::Answered(narrow(cut.unsent())),
            };
            teller.leader = admission.take_leader();
            let room = match admitted {
                Admitted::Answered(envelope) => return teller.tell(envelope),
                Admitted::Moved => break,
                Admitted::Ready(room) => room,
            };
            let asked = claim(&run, &gate, deadline, teller, room).await;
            let Some((teller_back, claimed)) = asked else {
                return;
            };
            teller = teller_back;
            match claimed {
                Claimed::Answered(envelope) => return teller.tell(envelope),
                Claimed::Granted(row, generation, room) => {
                    drop(admission);
                    let settling = Settling::new(&run, &gate, row, generation, lanes, deadline);
                    return work(&run, settling, arguments, &gate, deadline, teller, room).await;
                }
                // Another process was faster.
                Claimed::InProgress => {}
                Claimed::Moved => break,
            }
        }
        moved = true;
    }
}

enum Claimed {
    Answered(Envelope),
    Granted(Arc<Row>, u32, Room),
    InProgress,
    Moved,
}

/// Asks for the claim. `None` where the call has ended meanwhile and was answered. Unless the claim
/// is granted, the room is left: nobody keeps one while waiting.
async fn claim(
    run: &Run,
    gate: &Gate,
    deadline: Instant,
    teller: Teller,
    room: Room,
) -> Option<(Teller, Claimed)> {
    let config = &run.executor.config;
    let key = EntryKey::of(&run.intent);
    let lease = config.lease(run.deadline);
    let asked_at = Instant::now();
    let row = |epoch| {
        Arc::new(Row {
            ledger: Arc::clone(&config.ledger),
            key: key.clone(),
            gate: gate.clone(),
            owner: config.owner,
            epoch,
            lease,
            single_write: run.tool.is_single_write(),
            redaction: run.redaction.clone(),
            around: Around::of(run),
            asked_at,
        })
    };
    let claim = Claim::new(&run.intent, config.owner, lease);
    // Never dropped: a claim that was granted to nobody would stand in the way for its lease.
    let mut asked = config.ledger.apply(&key, Event::Claim(claim));
    let answer = tokio::select! {
        biased;
        answer = &mut asked => answer,
        cut = cut(gate, &run.executor.state.running, deadline) => {
            teller.tell(narrow(cut.unsent()));
            drop(room);
            if let Ok(Answer::Granted(grant)) = asked.await {
                row(grant.epoch).release(cut.unsent().into()).await;
            }
            return None;
        }
    };
    let claimed = match answer {
        Ok(Answer::Granted(grant)) => Claimed::Granted(row(grant.epoch), grant.generation, room),
        Ok(Answer::Moved(_)) => Claimed::Moved,
        Ok(other) => replay::answered(other).map_or(Claimed::InProgress, Claimed::Answered),
        Err(error) => {
            let code = run.executor.state.doubts.unasked(&key, &error);
            Claimed::Answered(narrow(code))
        }
    };
    Some((teller, claimed))
}

/// Runs the handler under its claim and settles what became of it.
async fn work(
    run: &Run,
    mut settling: Settling,
    arguments: Value,
    gate: &Gate,
    deadline: Instant,
    teller: Teller,
    // Held until nothing is under way any more.
    mut room: Room,
) {
    let running = &*run.executor.state.running;
    let mut handler = match settling.start(arguments).await {
        Ok(handler) => handler,
        Err(refused) => return teller.tell(refused),
    };
    // The answer first: proof in hand beats a clock that ran out in the same wake-up.
    let ended = tokio::select! {
        biased;
        word = end(&mut handler) => Ok(word),
        cut = cut(gate, running, deadline) => Err(cut),
    };
    let seen = gate.seal();
    let mut until = Instant::now() + GRACE;
    let word = match ended {
        Ok(word) => word,
        Err(cut) => {
            settling.cut_by(cut);
            // What may have left is given the time that there is.
            if matches!(cut, Cut::Shutdown) && seen != Seen::Never {
                let drained = running.drains_until().unwrap_or(until);
                until = until.max(drained.min(deadline));
            }
            let word = timeout_at(until, end(&mut handler)).await;
            word.unwrap_or(Word::Running)
        }
    };
    if !matches!(word, Word::Running) {
        settling
            .settle_until(until.max(Instant::now() + GRACE))
            .await;
    }
    let envelope = settling.conclude(&word).await;
    let in_doubt = envelope.outcome() == Outcome::Unknown && envelope.code() != Code::Partial;
    if in_doubt && run.tool.near_misses() != NearMisses::Lifted {
        // From here on the doubt itself holds back whatever touches the same thing.
        room.leave_lanes();
    }
    teller.tell(envelope);
    if in_doubt {
        settling.conclude_late(word, handler).await;
    } else {
        // Nothing of it can leave, so that nothing is cut off in the middle.
        handler.abort();
    }
}
