//! What must hold of a cycle, whatever was hit and when.
//!
//! Nothing here looks at a clock. What came before what is taken from what was caused by what: a
//! word is heard after it was said, a request leaves after its send was taken down, and epochs are
//! the store's own order of claims.

use tower_outcome_core::ledger::State;

use crate::history::{CallLog, History};
use crate::site::is_held;
use crate::words::{Said, Step};

/// A rule that did not hold.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Violation {
    pub(crate) rule: &'static str,
    pub(crate) what: String,
}

/// All rules that did not hold.
pub(crate) fn check(history: &History) -> Vec<Violation> {
    let mut found = Found(Vec::new());
    at_most_one(history, &mut found);
    words(history, &mut found);
    row(history, &mut found);
    if !history.forgot {
        claims(history, &mut found);
        liveness(history, &mut found);
    }
    found.0
}

struct Found(Vec<Violation>);

impl Found {
    fn add(&mut self, rule: &'static str, what: impl Into<String>) {
        let what = what.into();
        self.0.push(Violation { rule, what });
    }
}

fn at_most_one(history: &History, found: &mut Found) {
    let commits = history.commits().count();
    if commits > 1 {
        let calls: Vec<u32> = history.commits().map(|(_, call, _)| call).collect();
        let what = format!("{commits} effects of one write, by the calls {calls:?}");
        found.add("I3 at most one", what);
    }
    for line in &history.lines {
        let announced = |call: &CallLog| call.applied(Step::Send);
        if !history.call(line.call).is_some_and(announced) {
            let what = format!("call {} sent before the ledger had it", line.call);
            found.add("I4 announced", what);
        }
    }
}

/// What each caller was told, against what the service did.
fn words(history: &History, found: &mut Found) {
    for call in &history.calls {
        let Some((heard, said)) = call.said() else {
            continue;
        };
        match said.outcome.as_str() {
            "ok" | "already_done" => done(history, call, (heard, said), found),
            "failed" => failed(history, call, said, found),
            "skipped" if history.lines.iter().any(|line| line.call == call.number) => {
                let what = format!("call {} was skipped, and sent", call.number);
                found.add("I8 skipped sends nothing", what);
            }
            _ => {}
        }
    }
}

fn done(history: &History, call: &CallLog, (heard, said): (u64, &Said), found: &mut Found) {
    let before = history.commits().filter(|(at, ..)| *at < heard);
    let effects: Vec<u64> = before.map(|(.., effect)| effect).collect();
    let told = format!("call {} ended in {}", call.number, said.outcome);
    match (effects.as_slice(), said.effect) {
        ([effect], Some(named)) if *effect != named => {
            let what = format!("{told} and names another effect than the one there is");
            found.add("I2 ok is proof", what);
        }
        ([_], _) => {}
        _ => {
            let what = format!("{told} with {} effects", effects.len());
            found.add("I2 ok is proof", what);
        }
    }
}

fn failed(history: &History, call: &CallLog, said: &Said, found: &mut Found) {
    let told = format!("call {} ended in failed/{}", call.number, said.code);
    // The ledger's order is the order: a word that it has may be late, and others may go first.
    let taken_down = call.applied(Step::Failed) || call.applied(Step::Release);
    let dispatched_before = |by: u32| {
        let received = history.lines.iter().find(|line| line.call == by);
        let epochs = history.call(by).and_then(CallLog::epoch).zip(call.epoch());
        epochs.is_some_and(|(theirs, ours)| theirs <= ours)
            || !taken_down && received.is_some_and(|line| line.at < call.since)
    };
    for (_, by, _) in history.commits() {
        let speaks_of_it = said.of_intent && !history.forgot && dispatched_before(by);
        if by == call.number || speaks_of_it {
            let what = format!("{told}, and call {by}, dispatched before, took effect");
            found.add("I1 failed is final", what);
        }
    }
    let Some(last) = history.last.as_ref().filter(|_| !history.forgot) else {
        return;
    };
    let theirs = said.of_intent && call.epoch() == Some(last.epoch);
    if theirs && !matches!(last.state, State::Failed | State::Free) {
        let what = format!("{told}, and its row is {}", last.state.as_str());
        found.add("I12 the ledger's word", what);
    }
}

/// What the ledger has at the end, against what the service did.
fn row(history: &History, found: &mut Found) {
    let state = history.last.as_ref().map(|last| last.state);
    let commits = history.commits().count();
    let contradicts = match state {
        Some(State::Done) => commits == 0,
        Some(State::Failed | State::Free) | None => commits > 0 && !history.forgot,
        _ => false,
    };
    if contradicts {
        let state = state.map_or("absent", State::as_str);
        let what = format!("the row is {state} at the end, with {commits} effects");
        found.add("I12 the ledger's word", what);
    }
    let settled = |call: &CallLog| call.applied(Step::Done);
    if history.calls.iter().any(settled) && state != Some(State::Done) && !history.forgot {
        found.add("I9 nothing overwrites done", "a row that was done is not");
    }
    if history.last.as_ref().is_some_and(is_held) {
        found.add("I4 no orphan", "the row is held by an owner that is gone");
    }
}

/// A claim is passed over only where its owner has proof that nothing of it happened.
fn claims(history: &History, found: &mut Found) {
    let granted = history
        .calls
        .iter()
        .filter_map(|call| Some((call.epoch()?, call)));
    for (epoch, call) in granted.clone() {
        let same = granted.clone().filter(|(other, _)| *other == epoch).count();
        if same > 1 {
            found.add("I9 fencing", format!("epoch {epoch} was granted twice"));
        }
        let Some((_, heir)) = granted.clone().find(|(later, _)| *later > epoch) else {
            continue;
        };
        let heir = heir.number;
        let gave_up = call.asked(Step::Release) || call.asked(Step::Failed);
        if call.applied(Step::Send) && !gave_up {
            let what = format!(
                "call {heir} was granted the claim of call {}, which may have sent",
                call.number
            );
            found.add("I4 no orphan", what);
        }
        if history.commits().any(|(_, by, _)| by == call.number) {
            let what = format!(
                "call {} took effect, and call {heir} was granted its claim",
                call.number
            );
            found.add("I9 fencing", what);
        }
    }
}

/// What could be found out was.
fn liveness(history: &History, found: &mut Found) {
    if history.crashed {
        return;
    }
    let state = history.last.as_ref().map(|last| last.state);
    if history.commits().count() == 1 && state == Some(State::Unknown) {
        let what = "the effect can be looked up, and the row is still unknown";
        found.add("I4 no orphan", what);
    }
    let Some((first, others)) = history.calls.split_first() else {
        return;
    };
    let unsent = first.epoch().is_some() && !first.asked(Step::Send);
    let died = unsent && !history.plan.freezes;
    if died && others.iter().all(|call| call.epoch().is_none()) {
        let what = "call 1 died before it sent, and its claim was not given on";
        found.add("I4 no orphan", what);
    }
}

#[cfg(test)]
mod tests;
