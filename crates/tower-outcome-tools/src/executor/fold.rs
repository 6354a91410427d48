//! One word for a whole call, from the evidence of its writes and the handler's own.
//!
//! The writes decide; the handler can only take away. Its `Ok` cannot turn a write that failed or
//! is in doubt into success, and its error cannot take back a write that is done.

use serde_json::{Value, json};
use tower_outcome::Call;
use tower_outcome_core::{BoxError, Code, Conclusion, Envelope, Error, Outcome, Seen};

use super::task::Cut;
use crate::tool::{NothingSent, Redaction};

/// How the handler ended.
#[derive(Debug)]
pub(super) enum Word {
    Error(BoxError),
    Ok(Value),
    Panicked,
    /// It has not ended, and nothing more of it can leave.
    Running,
}

/// What is known once nothing more can leave. An opaque handler is a part of its own.
pub(super) struct Evidence<'a> {
    pub(super) single_write: bool,
    pub(super) word: &'a Word,
    pub(super) parts: Vec<Part>,
    pub(super) seen: Seen,
    /// What ended the call from outside, if anything did.
    pub(super) cut: Option<Cut>,
}

/// One write of the call, or one call that the handler made through an executor.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) name: Box<str>,
    pub(super) conclusion: Conclusion,
    pub(super) seen: Seen,
}

impl Part {
    pub(super) fn of(call: &Call) -> Self {
        let seen = call.look();
        Self {
            name: call.route().into(),
            // A write that has not ended and never left is held back by the sealed gate.
            conclusion: call.conclusion().unwrap_or_else(|| open(seen)),
            seen,
        }
    }
}

/// What can be said of a part that has not ended behind a sealed gate.
pub(super) fn open(seen: Seen) -> Conclusion {
    Conclusion::new(match seen {
        Seen::Never => Code::NotSent,
        Seen::InFlight | Seen::Left => Code::ResponseLost,
    })
}

/// The word for the whole call, and what goes with it.
#[derive(Debug)]
pub(super) struct Folded {
    pub(super) conclusion: Conclusion,
    pub(super) data: Option<Value>,
    pub(super) detail: Option<String>,
}

impl Folded {
    fn new(conclusion: impl Into<Conclusion>) -> Self {
        Self {
            conclusion: conclusion.into(),
            data: None,
            detail: None,
        }
    }

    fn with_data(mut self, data: Option<Value>) -> Self {
        self.data = data;
        self
    }

    fn with_detail(mut self, detail: Option<String>) -> Self {
        self.detail = detail;
        self
    }

    /// The same without the values that `redaction` covers.
    pub(super) fn redacted(mut self, redaction: &Redaction) -> Self {
        if let Some(data) = &mut self.data {
            redaction.apply(data);
        }
        self.detail = self.detail.map(|detail| redaction.text(detail));
        self
    }

    /// What the caller is told.
    pub(super) fn envelope(self) -> Envelope {
        let mut envelope = Envelope::new(self.conclusion);
        if let Some(data) = self.data {
            envelope = envelope.with_data(data);
        }
        if let Some(detail) = &self.detail {
            envelope = envelope.with_detail(detail);
        }
        envelope
    }

    /// The data as the ledger keeps it.
    pub(super) fn result(&self) -> Option<Box<[u8]>> {
        let data = self.data.as_ref()?;
        serde_json::to_vec(data).ok().map(Vec::into_boxed_slice)
    }
}

/// Folds the evidence into one word.
pub(super) fn fold(evidence: &Evidence<'_>) -> Folded {
    let value = match evidence.word {
        Word::Ok(value) => Some(value.clone()),
        Word::Error(_) | Word::Panicked | Word::Running => None,
    };
    if let Some(doubt) = doubt(evidence) {
        return Folded::new(doubt)
            .with_data(value)
            .with_detail(detail(evidence.word));
    }
    match (evidence.word, evidence.is_done(), evidence.failed()) {
        (_, false, failed) => refused(evidence, failed, value),
        (Word::Ok(_), true, None) => Folded::new(proof(&evidence.parts)).with_data(value),
        _ if evidence.is_settled_by_promise() => Folded::new(proof(&evidence.parts)),
        _ => partial(evidence, value.as_ref()),
    }
}

impl Evidence<'_> {
    fn is_done(&self) -> bool {
        let mut words = self.parts.iter().map(|part| part.conclusion.outcome());
        words.any(Outcome::is_done)
    }

    fn failed(&self) -> Option<&Part> {
        let mut parts = self.parts.iter();
        parts.find(|part| part.conclusion.outcome() == Outcome::Failed)
    }

    /// The first part that may have happened.
    fn doubtful(&self) -> Option<Conclusion> {
        let doubt = |part: &Part| match part.conclusion.outcome() {
            Outcome::Unknown => Some(part.conclusion),
            Outcome::Skipped => Some(Code::StillConfirming.into()),
            Outcome::AlreadyDone | Outcome::Failed | Outcome::Ok => None,
        };
        self.parts.iter().find_map(doubt)
    }

    /// Whether something passed the gate that none of the parts accounts for.
    fn has_more(&self) -> bool {
        self.seen != Seen::Never && self.parts.iter().all(|part| part.seen == Seen::Never)
    }

    /// Whether the handler stopped at the doubt about a write that is done after all, and had no
    /// other to make.
    fn is_settled_by_promise(&self) -> bool {
        self.single_write && self.parts.len() == 1 && in_doubt(self.word).is_some()
    }
}

/// Why it can be said neither that all of it happened nor that nothing did.
fn doubt(evidence: &Evidence<'_>) -> Option<Conclusion> {
    let lost = Conclusion::new(evidence.cut.map_or(Code::ResponseLost, Cut::lost));
    let part = evidence.doubtful();
    let nothing = part.is_none() && !evidence.is_done() && !evidence.has_more();
    match evidence.word {
        Word::Panicked | Word::Running if nothing => None,
        Word::Panicked => Some(Code::HandlerPanicked.into()),
        Word::Running => Some(lost),
        Word::Error(_) | Word::Ok(_) if part.is_some() => part,
        Word::Error(_) | Word::Ok(_) if evidence.has_more() => Some(lost),
        Word::Ok(_) => None,
        // It stopped in doubt and may have had more to write, or it knows of more than the parts.
        Word::Error(_) if evidence.is_done() && evidence.is_settled_by_promise() => None,
        Word::Error(_) => in_doubt(evidence.word),
    }
}

/// The doubt that the handler's error speaks of.
fn in_doubt(word: &Word) -> Option<Conclusion> {
    let conclusion = ours(word)?.conclusion();
    (conclusion.outcome() == Outcome::Unknown).then_some(conclusion)
}

/// Something happened, and not all of it.
fn partial(evidence: &Evidence<'_>, value: Option<&Value>) -> Folded {
    let line = |part: &Part| {
        json!({
            "write": part.name,
            "outcome": part.conclusion.outcome(),
            "code": part.conclusion.code(),
        })
    };
    let writes: Vec<_> = evidence.parts.iter().map(line).collect();
    Folded::new(Code::Partial)
        .with_data(Some(json!({ "writes": writes, "result": value })))
        .with_detail(detail(evidence.word))
}

/// Nothing happened.
fn refused(evidence: &Evidence<'_>, failed: Option<&Part>, value: Option<Value>) -> Folded {
    let cut = evidence.cut.filter(|_| evidence.seen == Seen::Never);
    let own = || {
        let conclusion = ours(evidence.word)?.conclusion();
        (conclusion.outcome() == Outcome::Failed).then_some(conclusion)
    };
    let conclusion = match (cut, failed, evidence.word) {
        (Some(cut), ..) => cut.unsent().into(),
        (None, Some(part), _) => part.conclusion,
        (None, None, Word::Ok(_)) => Code::NotSent.into(),
        (None, None, _) => own().unwrap_or(Code::HandlerError.into()),
    };
    let folded = Folded::new(conclusion).with_data(value);
    match evidence.word {
        Word::Ok(_) if failed.is_none() => folded.with_detail(Some(
            "The tool reported success without a write.".to_owned(),
        )),
        word => folded.with_detail(detail(word)),
    }
}

/// The strongest proof that all parts share.
fn proof(writes: &[Part]) -> Code {
    let has = |code: Code| writes.iter().any(|part| part.conclusion.code() == code);
    let done_now = writes
        .iter()
        .any(|part| part.conclusion.outcome() == Outcome::Ok);
    match done_now {
        true if has(Code::DoneBodyLost) => Code::DoneBodyLost,
        true if has(Code::DoneReplayed) => Code::DoneReplayed,
        true => Code::Done,
        false if has(Code::AlreadyDone) => Code::AlreadyDone,
        false => Code::ResultOmitted,
    }
}

/// What a typed error says for the caller's eyes. Other errors may hold anything.
pub(super) fn detail(word: &Word) -> Option<String> {
    let Word::Error(error) = word else {
        return None;
    };
    let error = &**error;
    if let Some(error) = error.downcast_ref::<tower_outcome::Error>() {
        return error.detail().map(str::to_owned);
    }
    if let Some(error) = error.downcast_ref::<NothingSent>() {
        return error.reason().map(str::to_owned);
    }
    error.downcast_ref::<Error>().map(ToString::to_string)
}

fn ours(word: &Word) -> Option<&tower_outcome::Error> {
    match word {
        Word::Error(error) => error.downcast_ref(),
        Word::Ok(_) | Word::Panicked | Word::Running => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Code, Evidence, Outcome, Part, Seen, Value, Word, fold};

    const CODES: [Code; 5] = [
        Code::AlreadyDone,
        Code::AlreadyInProgress,
        Code::Done,
        Code::Rejected,
        Code::ServerError,
    ];

    /// The table of what a call ends in.
    fn table(parts: &[Outcome], word: &Word) -> Outcome {
        let any = |outcome| parts.contains(&outcome);
        let is_done = any(Outcome::AlreadyDone) || any(Outcome::Ok);
        match word {
            _ if any(Outcome::Skipped) || any(Outcome::Unknown) => Outcome::Unknown,
            _ if !is_done => Outcome::Failed,
            Word::Error(_) | Word::Panicked | Word::Running => Outcome::Unknown,
            Word::Ok(_) if any(Outcome::Failed) => Outcome::Unknown,
            Word::Ok(_) if any(Outcome::Ok) => Outcome::Ok,
            Word::Ok(_) => Outcome::AlreadyDone,
        }
    }

    #[test]
    fn every_line_of_the_table_holds_for_all_that_up_to_three_writes_and_a_handler_say() {
        let combinations = (0..5_usize.pow(3)).map(|n| [n % 5, n / 5 % 5, n / 25]);
        for (codes, many) in combinations.flat_map(|it| (0..=3).map(move |many| (it, many))) {
            let codes = codes.map(|at| CODES[at]);
            let parts = codes[..many].iter().map(|code| Part {
                name: "a write".into(),
                conclusion: (*code).into(),
                seen: match code {
                    Code::Done | Code::Rejected | Code::ServerError => Seen::Left,
                    _ => Seen::Never,
                },
            });
            let parts: Vec<_> = parts.collect();
            let outcomes: Vec<_> = codes[..many].iter().map(|code| code.outcome()).collect();
            let left = parts.iter().any(|part| part.seen == Seen::Left);
            let words = [
                Word::Ok(Value::Null),
                Word::Error("broken".into()),
                Word::Panicked,
                Word::Running,
            ];
            for word in words {
                let folded = fold(&Evidence {
                    single_write: false,
                    word: &word,
                    parts: parts.clone(),
                    seen: if left { Seen::Left } else { Seen::Never },
                    cut: None,
                });
                let (told, expected) = (folded.conclusion.outcome(), table(&outcomes, &word));
                assert_eq!(told, expected, "{outcomes:?} {word:?}");
            }
        }
    }
}
