//! A call inside the very same call of another executor: a gateway in front of a worker, say.
//!
//! The outer one has the claim, the row and the gate. A second claim would wait for the first,
//! which waits for it; so the handler runs as a part of the outer call, whose evidence it shares.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use tokio::time::timeout;
use tower_outcome::Context;
use tower_outcome_core::{Code, Conclusion, Envelope, Pass};

use super::fold::{Evidence, Part, Word, fold};
use super::nested::{Nest, Nested, Stacked};
use super::settling::{opaque_record, opaque_word};
use super::shutdown::Running;
use super::task::Cut;
use super::{Run, narrow};
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
    _once: Stacked,
}

pub(super) fn place(run: &Run) -> Place {
    let state = &run.executor.state;
    // The executor around may know one version of the rules only, and not the oldest one.
    let versions = || std::iter::successors(Some(&run.intent), |intent| intent.successor());
    let answers = |outer: &&Context| versions().any(|intent| outer.answers_for(intent.key()));
    let Some(context) = run.outer.as_ref().filter(answers) else {
        return Place::OfItsOwn;
    };
    let is_same = || versions().any(|intent| context.is_named_by(intent.key()));
    let Some(nest) = context.extension::<Nest>() else {
        // Nobody's claim that we know of.
        return Place::OfItsOwn;
    };
    match nest.stack(state) {
        Some(once) if is_same() && nest.is_of_another(state) => Place::Inside(Inside {
            context: context.clone(),
            nest: nest.clone(),
            _once: once,
        }),
        Some(_) | None => Place::Nowhere,
    }
}

pub(super) async fn run(run: Run, place: Inside) -> Envelope {
    let Inside { context, nest, .. } = &place;
    let Some(_under_way) = Running::enter(&run.executor.state.running) else {
        return narrow(Code::ShuttingDown).with_key(context.key());
    };
    let opaque = match announce(&run, context).await {
        Ok(opaque) => opaque,
        Err(conclusion) => return Envelope::new(conclusion).with_key(context.key()),
    };
    let single_write = run.tool.is_single_write();
    let handler = run.tool.handle(run.arguments, context.clone());
    // Nothing of the handler is looked at after a panic.
    let handler = AssertUnwindSafe(handler).catch_unwind();
    let (word, cut) = match timeout(run.deadline, handler).await {
        Ok(Ok(Ok(value))) => (Word::Ok(value), None),
        Ok(Ok(Err(error))) => (Word::Error(error), None),
        Ok(Err(_)) => (Word::Panicked, None),
        Err(_) => (Word::Running, Some(Cut::Deadline)),
    };
    if let Some((pass, nested)) = opaque {
        nested.end(opaque_word(&word, cut, &mut Some(pass)).into());
    }
    let mut parts: Vec<_> = context.writes().iter().map(Part::of).collect();
    parts.extend(nest.parts());
    let folded = fold(&Evidence {
        single_write,
        word: &word,
        parts,
        seen: context.gate().look(),
        cut,
    });
    let folded = folded.redacted(&run.redaction);
    folded.envelope().with_key(context.key())
}

/// Has an opaque handler taken down as sent, as a part of the outer call.
async fn announce(run: &Run, context: &Context) -> Result<Option<(Pass, Nested)>, Conclusion> {
    if run.tool.kind() != Kind::Opaque {
        return Ok(None);
    }
    if let Some(recorder) = context.recorder() {
        let recorded = recorder.before_send(opaque_record(run.tool.name())).await;
        recorded.map_err(|error| Conclusion::new(error.code()).for_this_call())?;
    }
    let gate = context.gate().child();
    let nested = Nest::enter(context, run.tool.name(), &gate);
    let pass = gate.pass().map_err(|_| unsent())?;
    let nested = nested.ok_or_else(unsent)?;
    Ok(Some((pass, nested)))
}

fn unsent() -> Conclusion {
    Conclusion::new(Code::NotSent).for_this_call()
}
