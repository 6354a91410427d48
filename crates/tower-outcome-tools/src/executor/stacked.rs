//! A call inside the very same call of another executor: a gateway in front of a worker, say.
//!
//! The outer one has the claim, the row and the gate. A second claim would wait for the first,
//! which waits for it; so the handler runs as a part of the outer call, whose evidence it shares.
//! Lanes, caps, deadline and drain of the inner executor hold for it all the same, and a handler
//! that may have sent something is not run again. Where the inner executor has another ledger, the
//! call is claimed there like any other.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use tokio::time::{Instant, sleep_until, timeout_at};
use tower_outcome::Context;
use tower_outcome_core::{Code, Conclusion, Envelope, Gate, Pass, Seen};

use super::fold::{Evidence, Part, Word, fold};
use super::levels::Stacked;
use super::nested::{Nest, Nested};
use super::settling::{opaque_record, opaque_word};
use super::shutdown::Running;
use super::task::{self, Cut};
use super::twins::follow;
use super::{Run, narrow, room};
use crate::tool::Kind;

/// Where a call runs.
pub(super) enum Place {
    /// As a part of the same call of another executor.
    Inside(Inside),
    /// Nowhere: it would be a part of itself.
    Nowhere,
    OfItsOwn,
}

/// The call that is around.
pub(super) struct Inside {
    context: Context,
    nest: Nest,
    /// Keeps this executor from doing it inside itself once more.
    level: Stacked,
}

pub(super) fn place(run: &Run) -> Place {
    let state = &run.executor.state;
    let outer = run.outer.as_ref();
    let Some(context) = outer.filter(|outer| outer.answers_for(&run.intent)) else {
        return Place::OfItsOwn;
    };
    let Some(nest) = context.extension::<Nest>() else {
        // Nobody's claim that we know of.
        return Place::OfItsOwn;
    };
    let mut same = context
        .lineage()
        .filter(|around| around.is_of(&run.intent))
        .filter_map(Context::extension::<Nest>);
    let is_in_itself = same.any(|nest| !nest.is_of_another(state));
    match nest.stack(state, context.gate()) {
        Some(level) if context.is_of(&run.intent) && !is_in_itself => Place::Inside(Inside {
            context: context.clone(),
            nest: nest.clone(),
            level,
        }),
        Some(_) | None => Place::Nowhere,
    }
}

pub(super) async fn run(run: Run, mut place: Inside) -> Envelope {
    match place.is_claimed_here(&run).await {
        Ok(true) => {}
        Ok(false) => {
            drop(place);
            return task::shielded(run).await;
        }
        Err(unasked) => return unasked.with_key(place.context.key()),
    }
    let envelope = match place.level.earlier() {
        Some(earlier) => follow(&earlier),
        None => {
            let envelope = place.work(run).await;
            place.level.end(&envelope);
            envelope
        }
    };
    envelope.with_key(place.context.key())
}

impl Inside {
    /// Whether the row that this executor would claim is the one that the outer one has.
    async fn is_claimed_here(&self, run: &Run) -> Result<bool, Envelope> {
        let recorder = self.context.recorder();
        let Some(claimed) = recorder.and_then(|recorder| recorder.claimed()) else {
            return Ok(false);
        };
        let entry = run.executor.read(claimed.key).await?;
        Ok(entry.is_some_and(|entry| claimed.is(&entry)))
    }

    async fn work(&mut self, mut run: Run) -> Envelope {
        let running = std::sync::Arc::clone(&run.executor.state.running);
        let Some(_under_way) = Running::enter(&running) else {
            return narrow(Code::ShuttingDown);
        };
        let deadline = Instant::now() + run.deadline;
        let gate = self.level.gate().clone();
        let arguments = std::mem::take(&mut run.arguments);
        // A lane function of the host's may panic.
        let room = AssertUnwindSafe(async {
            let lanes = run.tool.lanes(run.intent.scope(), &arguments);
            room::take(&run, &lanes).await
        });
        let room = tokio::select! {
            biased;
            room = room.catch_unwind() => match room {
                Ok(room) => room,
                Err(_) => Err(narrow(Code::NotSent)),
            },
            cut = cut(&gate, &running, deadline) => Err(narrow(cut.unsent())),
        };
        match room {
            Ok(room) => self.level.hold(room),
            Err(refused) => return refused,
        }
        let context = self.context.within(gate.clone());
        let opaque = match announce(&run, &context, deadline).await {
            Ok(opaque) => opaque,
            Err(conclusion) => return Envelope::new(conclusion),
        };
        let opaque = opaque.map(|(pass, nested)| {
            self.level.starts(nested.clone());
            (pass, nested)
        });
        let handler = std::sync::Arc::clone(&run.tool).handle(arguments, context);
        // Nothing of the handler is looked at after a panic.
        let mut handler = Box::pin(AssertUnwindSafe(handler).catch_unwind());
        let mut ended = tokio::select! {
            biased;
            word = &mut handler => Ok(word),
            cut = ended_here(&running, deadline) => Err(cut),
        };
        if let Err(Cut::Shutdown) = ended
            && gate.look() != Seen::Never
        {
            // What may have left is given the time that there is.
            let until = running.drains_until().unwrap_or(deadline).min(deadline);
            ended = timeout_at(until, &mut handler)
                .await
                .map_err(|_| Cut::Shutdown);
        }
        let seen = gate.seal();
        drop(handler);
        let (word, cut) = match ended {
            Ok(Ok(Ok(value))) => (Word::Ok(value), None),
            Ok(Ok(Err(error))) => (Word::Error(error), None),
            Ok(Err(_)) => (Word::Panicked, None),
            Err(cut) => (Word::Running, Some(cut)),
        };
        if let Some((pass, nested)) = opaque {
            nested.end(opaque_word(&word, cut, &mut Some(pass)).into());
        }
        let mut parts: Vec<_> = self.context.writes().iter().map(Part::of).collect();
        parts.extend(self.nest.parts());
        let folded = fold(&Evidence {
            single_write: run.tool.is_single_write(),
            word: &word,
            parts,
            seen,
            cut,
        });
        folded.redacted(&run.redaction).envelope()
    }
}

/// Waits until the inner executor ends the call, or the outer one has.
async fn cut(gate: &Gate, running: &Running, deadline: Instant) -> Cut {
    tokio::select! {
        biased;
        () = gate.sealed() => Cut::Abandoned,
        cut = ended_here(running, deadline) => cut,
    }
}

async fn ended_here(running: &Running, deadline: Instant) -> Cut {
    tokio::select! {
        biased;
        _ = running.draining() => Cut::Shutdown,
        () = sleep_until(deadline) => Cut::Deadline,
    }
}

/// Has an opaque handler taken down as sent, as a part of the outer call.
async fn announce(
    run: &Run,
    context: &Context,
    deadline: Instant,
) -> Result<Option<(Pass, Nested)>, Conclusion> {
    if run.tool.kind() != Kind::Opaque {
        return Ok(None);
    }
    if let Some(recorder) = context.recorder() {
        let recorded = recorder.before_send(opaque_record(run.tool.name())).await;
        recorded.map_err(|error| Conclusion::new(error.code()).for_this_call())?;
    }
    // The ledger may have taken its time.
    if let Some(cut) = ended_here(&run.executor.state.running, deadline).now_or_never() {
        return Err(Conclusion::new(cut.unsent()).for_this_call());
    }
    let gate = context.gate().child();
    let nested = Nest::enter(context, run.tool.name(), &gate);
    let pass = gate.pass().map_err(|_| unsent())?;
    // Its run is awaited, or has been dropped.
    let (nested, _) = nested.ok_or_else(unsent)?;
    Ok(Some((pass, nested)))
}

fn unsent() -> Conclusion {
    Conclusion::new(Code::NotSent).for_this_call()
}
