//! Each rule, by a story that breaks it and nothing else.

use std::time::Duration;

use serde_json::json;
use tower_outcome_core::Intent;
use tower_outcome_core::ledger::{Claim, Entry, EntryKey, Event, Owner, State, Timestamp, machine};

use super::check;
use crate::books::{Line, What};
use crate::history::{CallLog, History};
use crate::plan::Plan;
use crate::words::{Heard, Report, Said, Step};

#[test]
fn a_story_in_which_all_is_well_breaks_no_rule() {
    well(&lost_answer());
    well(&refused_and_made_again());
}

#[test]
fn a_write_takes_effect_at_most_once() {
    let mut story = lost_answer();
    story.lines.push(line(3, 1, What::Committed(3)));
    breaks(&story, "I3 at most one");
}

#[test]
fn nothing_is_sent_before_the_ledger_has_it() {
    let mut story = lost_answer();
    let first = &mut story.calls[0].reports;
    first.retain(|(_, report)| !matches!(report, Report::Answered(Step::Send, _)));
    breaks(&story, "I4 announced");
}

#[test]
fn a_skipped_call_sends_nothing() {
    let mut story = lost_answer();
    story.calls[0].reports.push(said("skipped", None));
    breaks(&story, "I8 skipped sends nothing");
}

#[test]
fn ok_is_said_of_the_one_effect_that_there_is() {
    let mut story = lost_answer();
    story.calls[1].reports.push(said("ok", Some(2)));
    well(&story);
    story.calls[1].reports.pop();
    story.calls[1].reports.push(said("ok", Some(7)));
    breaks(&story, "I2 ok is proof");
    story.calls[1].reports.pop();
    let (_, early) = said("ok", None);
    story.calls[1].reports.push((1, early));
    breaks(&story, "I2 ok is proof");
}

#[test]
fn failed_is_said_of_nothing_that_was_dispatched_before_and_took_effect() {
    let mut story = refused_and_made_again();
    story.lines.insert(1, line(1, 1, What::Committed(1)));
    story.lines.truncate(2);
    broken(&story, "I1 failed is final");

    // The second call's effect is later by the ledger's order, though the word was heard after it.
    let mut story = refused_and_made_again();
    story.calls[0].since = 9;
    well(&story);
    let first = &mut story.calls[0].reports;
    first.retain(|(_, report)| !matches!(report, Report::Answered(Step::Failed, _)));
    broken(&story, "I1 failed is final");
}

#[test]
fn failed_is_taken_down_before_it_is_said() {
    let mut story = refused_and_made_again();
    story.calls.truncate(1);
    story.lines.truncate(1);
    story.last = Some(entry(State::Failed, 1));
    well(&story);
    story.last = Some(entry(State::Unknown, 1));
    breaks(&story, "I12 the ledger's word");
}

#[test]
fn the_row_ends_in_what_the_service_did_or_in_doubt() {
    let mut story = lost_answer();
    for state in [State::Failed, State::Free] {
        story.last = Some(entry(state, 1));
        breaks(&story, "I12 the ledger's word");
    }
    story.last = Some(entry(State::Done, 1));
    story.lines.truncate(1);
    breaks(&story, "I12 the ledger's word");
    story.last = Some(entry(State::Dispatching, 1));
    breaks(&story, "I4 no orphan");
}

#[test]
fn what_is_done_stays_done() {
    let mut story = lost_answer();
    // What could be found out is another rule.
    story.crashed = true;
    story.calls[0].reports.extend(step(Step::Done));
    well(&story);
    story.last = Some(entry(State::Unknown, 1));
    breaks(&story, "I9 nothing overwrites done");
}

#[test]
fn a_claim_is_passed_over_only_where_nothing_happened() {
    let mut story = refused_and_made_again();
    story.calls[0] = call(1, 1);
    breaks(&story, "I4 no orphan");

    let mut story = refused_and_made_again();
    story.calls[0]
        .reports
        .retain(|(_, report)| !matches!(report, Report::Said(_)));
    story.lines.insert(1, line(1, 1, What::Committed(1)));
    story.lines.truncate(3);
    breaks(&story, "I9 fencing");

    let mut story = lost_answer();
    story.calls.push(call(3, 1));
    broken(&story, "I9 fencing");
}

#[test]
fn what_can_be_found_out_is() {
    let mut story = lost_answer();
    story.last = Some(entry(State::Unknown, 1));
    breaks(&story, "I4 no orphan");
    story.plan.freezes = true;
    breaks(&story, "I4 no orphan");
    story.crashed = true;
    well(&story);

    let mut story = lost_answer();
    story.lines.clear();
    story.calls[0].reports.truncate(1);
    story.last = Some(entry(State::Free, 1));
    breaks(&story, "I4 no orphan");
    story.plan.freezes = true;
    well(&story);
    story.plan.freezes = false;
    story.calls.push(call(3, 2));
    well(&story);
}

#[test]
fn a_store_that_forgot_is_held_to_what_its_failover_may_not_lose() {
    let mut story = lost_answer();
    (story.crashed, story.forgot) = (true, true);
    story.calls.push(call(3, 1));
    story.last = None;
    well(&story);
    story.lines.push(line(3, 1, What::Committed(3)));
    breaks(&story, "I3 at most one");
}

/// The first call is killed after its request took effect; a look-up finds it.
fn lost_answer() -> History {
    History {
        plan: Plan::draw(1, 1, false),
        calls: vec![call(1, 1), CallLog::new(2, 3)],
        at_blow: None,
        last: Some(entry(State::Done, 1)),
        lines: vec![line(1, 1, What::Received), line(2, 1, What::Committed(2))],
        crashed: false,
        forgot: false,
    }
}

/// The first call is refused, and the second one is not.
fn refused_and_made_again() -> History {
    let mut story = lost_answer();
    let mut first = call(1, 1);
    first.reports.extend(step(Step::Failed));
    first.reports.push(said("failed", None));
    story.calls = vec![first, call(2, 2)];
    story.lines = vec![
        line(1, 1, What::Received),
        line(2, 2, What::Received),
        line(3, 2, What::Committed(3)),
    ];
    story.last = Some(entry(State::Done, 2));
    story
}

/// A call that was granted this epoch and announced its send.
fn call(number: u32, epoch: u64) -> CallLog {
    let mut call = CallLog::new(number, 0);
    let granted = Report::Answered(Step::Claim, Heard::Granted { epoch });
    call.reports.push((0, granted));
    call.reports.extend(step(Step::Send));
    call
}

fn step(step: Step) -> [(u64, Report); 2] {
    let applied = Report::Answered(step, Heard::Applied);
    [(0, Report::Asked(step)), (0, applied)]
}

fn said(outcome: &str, effect: Option<u64>) -> (u64, Report) {
    let said = Said {
        outcome: outcome.to_owned(),
        code: "code".to_owned(),
        of_intent: true,
        effect,
    };
    (9, Report::Said(said))
}

const fn line(at: u64, call: u32, what: What) -> Line {
    Line { at, call, what }
}

fn entry(state: State, epoch: u64) -> Entry {
    let intent = Intent::new("kill", "refund", &json!({})).unwrap();
    let claim = Claim::new(&intent, Owner::random(), Duration::ZERO);
    let key = EntryKey::of(&intent);
    let stepped = machine::step(&key, None, Event::Claim(claim), Timestamp(0));
    let mut entry = stepped.unwrap().0.unwrap();
    (entry.state, entry.epoch) = (state, epoch);
    entry
}

fn well(story: &History) {
    assert_eq!(check(story), []);
}

/// Breaks this rule and no other.
fn breaks(story: &History, rule: &str) {
    let found = check(story);
    assert!(!found.is_empty(), "{rule} holds");
    assert!(found.iter().all(|it| it.rule == rule), "{found:?}");
}

/// Breaks this rule, and others with it.
fn broken(story: &History, rule: &str) {
    let found = check(story);
    assert!(found.iter().any(|it| it.rule == rule), "{found:?}");
}
