//! The end of a claimed call: its evidence, its word, its row.

use std::sync::Arc;

use futures_util::future::{join, join_all};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tower_outcome::context::Recorder as _;
use tower_outcome::{Call, Context};
use tower_outcome_core::ledger::entry::TOMBSTONE_RETENTION;
use tower_outcome_core::ledger::{Timestamp, WriteRecord};
use tower_outcome_core::{BoxError, Code, Conclusion, Envelope, Gate, Intent, Outcome, Pass, Seen};

use super::fold::{Evidence, Folded, Part, Word, fold};
use super::nested::{Nest, Nested};
use super::replay::seconds;
use super::row::Row;
use super::task::Cut;
use super::{Run, State};
use crate::deadline::Deadline;
use crate::lanes::LaneSet;
use crate::progress::Reporter;
use crate::tool::{Kind, NothingSent, Redaction, Tool};

/// A claimed call and everything that tells what became of it.
pub(super) struct Settling {
    tool: Arc<Tool>,
    intent: Intent,
    redaction: Redaction,
    lanes: LaneSet,
    state: Arc<State>,
    context: Context,
    nest: Nest,
    /// What it is to the call whose handler makes it.
    nested: Option<Nested>,
    row: Arc<Row>,
    deadline: Instant,
    /// What an opaque handler holds while it runs.
    pass: Option<Pass>,
    cut: Option<Cut>,
}

/// A handler that runs.
pub(super) type Handler = JoinHandle<Result<Value, BoxError>>;

impl Settling {
    /// `lanes` are those that the call needs, held by itself or by a call around it.
    pub(super) fn new(
        run: &Run,
        gate: &Gate,
        row: Arc<Row>,
        generation: u32,
        lanes: LaneSet,
        deadline: Instant,
    ) -> Self {
        let state = Arc::clone(&run.executor.state);
        let table = run.executor.config.lanes.clone();
        let nest = Nest::new(Arc::clone(&state), table, lanes.clone());
        let mut context = Context::new(&run.intent, generation, gate.clone())
            .with_recorder(Arc::clone(&row) as _)
            .with_extension(nest.clone())
            .with_extension(Deadline::new(deadline));
        if let Some(outer) = &run.outer {
            context = context.with_outer(outer.clone());
        }
        if let Some(sink) = &run.progress {
            context = context.with_extension(Reporter::new(Arc::clone(sink), gate.clone()));
        }
        Self {
            tool: Arc::clone(&run.tool),
            intent: run.intent.clone(),
            redaction: run.redaction.clone(),
            lanes,
            state,
            context,
            nest,
            nested: run.nested.clone(),
            row,
            deadline,
            pass: None,
            cut: None,
        }
    }

    /// Starts the handler, in a task of its own so that it can neither hold up the clock nor take
    /// this one with it. An opaque one is taken down as sent first.
    pub(super) async fn start(&mut self, arguments: Value) -> Result<Handler, Envelope> {
        if self.tool.kind() == Kind::Opaque
            && let Err(conclusion) = self.announce().await
        {
            return Err(Envelope::new(self.row.release(conclusion).await));
        }
        let context = self.context.clone();
        let handler = Arc::clone(&self.tool).handle(arguments, context);
        Ok(tokio::spawn(handler))
    }

    async fn announce(&mut self) -> Result<(), Conclusion> {
        let announced = self.row.before_send(opaque_record(self.tool.name())).await;
        announced.map_err(|error| Conclusion::new(error.code()).for_this_call())?;
        // The ledger may have taken its time.
        let ended = if self.state.running.is_draining() {
            Some(Cut::Shutdown)
        } else {
            (Instant::now() >= self.deadline).then_some(Cut::Deadline)
        };
        if let Some(cut) = ended {
            self.context.gate().seal();
            return Err(cut.unsent().into());
        }
        let pass = self.context.gate().pass();
        self.pass = Some(pass.map_err(|_| Conclusion::new(Code::CancelledBeforeSend))?);
        Ok(())
    }

    /// Notes that the call was ended from outside.
    pub(super) const fn cut_by(&mut self, cut: Cut) {
        self.cut = Some(cut);
    }

    /// Waits for writes that have not ended, for a while: most are proven unsent at once.
    pub(super) async fn settle_until(&self, until: Instant) {
        let writes = self.context.writes();
        let open = writes.iter().filter(|write| write.conclusion().is_none());
        // What is still open then counts as such.
        let open = join(join_all(open.map(Call::settled)), self.nest.settled());
        let _ = timeout_at(until, open).await;
    }

    /// Chooses the word, takes it down, and says it.
    pub(super) async fn conclude(&mut self, word: &Word) -> Envelope {
        let folded = self.fold(word);
        let seen = self.context.gate().look();
        let conclusion = self.row.settle(&folded, seen).await;
        if conclusion.outcome() == Outcome::Unknown {
            let lanes = self.lanes.clone();
            let doubts = &self.state.doubts;
            doubts.note(&self.intent, lanes, self.row.lease);
        }
        let folded = Folded {
            conclusion,
            ..folded
        };
        let envelope = folded.envelope();
        if conclusion.outcome().is_done() {
            let until = Timestamp::now().after(TOMBSTONE_RETENTION);
            return envelope.with_deduplicated_until(seconds(until));
        }
        envelope
    }

    /// Waits for everything whose answer is late, and takes down what it proves.
    pub(super) async fn conclude_late(mut self, word: Word, handler: Handler) {
        let word = match word {
            Word::Running => self.late_word(handler).await,
            word => word,
        };
        let writes = self.context.writes();
        let open = writes.iter().filter(|write| is_open(write));
        let open = join(join_all(open.map(Call::settled)), self.nest.known());
        let _ = timeout(self.row.lease, open).await;
        let folded = self.fold(&word);
        let conclusion = folded.conclusion;
        if conclusion.outcome() != Outcome::Unknown || conclusion.code() == Code::Partial {
            let conclusion = self.row.settle(&folded, self.context.gate().look()).await;
            if conclusion.outcome() != Outcome::Unknown || conclusion.code() == Code::Partial {
                self.state.doubts.forget(&self.row.key);
                if let Some(nested) = &self.nested {
                    nested.end_late(Conclusion::new(conclusion.code()).for_this_call());
                }
            }
        }
    }

    /// An opaque handler may write as long as it runs. Of any other nothing can leave any more.
    async fn late_word(&self, mut handler: Handler) -> Word {
        if self.tool.kind() == Kind::Opaque {
            return end(&mut handler).await;
        }
        match timeout(self.row.lease, end(&mut handler)).await {
            Ok(word) => word,
            Err(_) => {
                handler.abort();
                Word::Running
            }
        }
    }

    fn fold(&mut self, word: &Word) -> Folded {
        let mut parts: Vec<_> = self.context.writes().iter().map(Part::of).collect();
        parts.extend(self.nest.parts());
        parts.extend(self.opaque_part(word));
        fold(&Evidence {
            single_write: self.tool.is_single_write(),
            word,
            parts,
            seen: self.context.gate().look(),
            cut: self.cut,
        })
        .redacted(&self.redaction)
    }

    /// What an opaque handler says of itself, which is all there is.
    fn opaque_part(&mut self, word: &Word) -> Option<Part> {
        if self.tool.kind() != Kind::Opaque {
            return None;
        }
        let code = opaque_word(word, self.cut, &mut self.pass);
        Some(Part {
            name: self.tool.name().into(),
            conclusion: code.into(),
            seen: match code.outcome() {
                Outcome::Failed => Seen::Never,
                _ => Seen::Left,
            },
        })
    }
}

/// The record of an opaque handler. No token of ours travels with it, so that no look-up can
/// confirm it.
pub(super) fn opaque_record(tool: &str) -> WriteRecord {
    WriteRecord {
        label: "opaque".to_owned(),
        route: tool.to_owned(),
        ..WriteRecord::default()
    }
}

/// How an opaque handler's writing ended. Takes `pass` back if it knows that nothing was sent.
pub(super) fn opaque_word(word: &Word, cut: Option<Cut>, pass: &mut Option<Pass>) -> Code {
    let nothing_sent = matches!(word, Word::Error(error) if error.is::<NothingSent>());
    if !matches!(word, Word::Running)
        && let Some(pass) = pass.take()
        && nothing_sent
    {
        pass.prove_unsent();
    }
    match word {
        Word::Ok(_) => Code::Done,
        _ if nothing_sent => Code::HandlerError,
        _ => cut.map_or(Code::ResponseLost, Cut::lost),
    }
}

/// Whether a write's answer may still come.
fn is_open(write: &Call) -> bool {
    let conclusion = write.conclusion();
    conclusion.is_none_or(|conclusion| conclusion.outcome() == Outcome::Unknown)
}

/// How a handler ended.
pub(super) async fn end(handler: &mut Handler) -> Word {
    match handler.await {
        Ok(Ok(value)) => Word::Ok(value),
        Ok(Err(error)) => Word::Error(error),
        // Or the runtime is going down, which leaves as much behind.
        Err(_) => Word::Panicked,
    }
}
