//! A call that only reads: no row, no task, no gate.

use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use tokio::time::{Instant, timeout_at};
use tower_outcome::Context;
use tower_outcome_core::{Code, Envelope, Gate};

use super::Run;
use super::fold::{Word, detail};
use crate::deadline::Deadline;
use crate::progress::Reporter;

pub(super) async fn run(run: Run) -> Envelope {
    // Sealed, so that a call which the handler makes through an executor sends nothing either.
    let gate = Gate::new();
    gate.seal();
    let mut context = Context::new(&run.intent, 0, gate).reads_only();
    let deadline = Instant::now() + run.deadline;
    context = context.with_extension(Deadline::new(deadline));
    let over = Gate::new();
    if let Some(sink) = run.progress {
        context = context.with_extension(Reporter::new(sink, over.clone()));
    }
    let handler = run.tool.handle(run.arguments, context);
    // Nothing of the handler is looked at after a panic.
    let handler = AssertUnwindSafe(handler).catch_unwind();
    let ended = timeout_at(deadline, handler).await;
    over.seal();
    match ended {
        Ok(Ok(Ok(mut data))) => {
            run.redaction.apply(&mut data);
            Envelope::new(Code::Done).with_data(data)
        }
        Ok(Ok(Err(error))) => match detail(&Word::Error(error)) {
            Some(detail) => {
                Envelope::new(Code::ReadFailed).with_detail(&run.redaction.text(detail))
            }
            None => Envelope::new(Code::ReadFailed),
        },
        Ok(Err(_)) | Err(_) => Envelope::new(Code::ReadFailed),
    }
}
