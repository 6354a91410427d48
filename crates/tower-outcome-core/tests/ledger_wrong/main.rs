//! Ledgers that break one rule each: the suite has to name it.

#![cfg(feature = "conformance")]

mod aliases;
mod wrong;

use std::time::Duration;

use tower_outcome_core::ledger::entry::TOMBSTONE_RETENTION;
use tower_outcome_core::ledger::machine::step;
use tower_outcome_core::ledger::{Ending, Entry, EntryKey, Event, State, Timestamp};

use wrong::{Wrong, at_epoch, broken_rules};

#[test]
fn a_right_ledger_breaks_nothing() {
    assert_eq!(broken_rules(Wrong::default()), Vec::<String>::new());
}

#[test]
fn a_release_that_is_not_fenced_is_caught() {
    let unfenced = Wrong {
        step: |key, entry, event, now| {
            let event = at_epoch(entry, event, |event| matches!(event, Event::Release { .. }));
            step(key, entry, event, now)
        },
        ..Wrong::default()
    };
    caught(
        unfenced,
        &[
            "fencing::only_the_holder_of_the_epoch_may_move_a_claim",
            "fencing::an_owner_that_thaws_may_bring_proof_and_nothing_else",
            "repeats::a_release_asked_for_again_frees_nobody_elses_claim",
            "doubt::whoever_sent_before_a_resend_may_bring_proof_and_nothing_else",
        ],
    );
}

#[test]
fn a_write_ahead_that_is_not_fenced_is_caught() {
    let unfenced = Wrong {
        step: |key, entry, event, now| {
            let event = at_epoch(entry, event, |event| matches!(event, Event::Send { .. }));
            step(key, entry, event, now)
        },
        ..Wrong::default()
    };
    caught(
        unfenced,
        &[
            "fencing::only_the_holder_of_the_epoch_may_move_a_claim",
            "fencing::an_owner_that_thaws_may_bring_proof_and_nothing_else",
        ],
    );
}

#[test]
fn a_failure_that_is_not_fenced_is_caught() {
    let unfenced = Wrong {
        step: |key, entry, event, now| {
            let event = at_epoch(entry, event, is_refusal);
            step(key, entry, event, now)
        },
        ..Wrong::default()
    };
    caught(
        unfenced,
        &[
            "fencing::only_the_holder_of_the_epoch_may_move_a_claim",
            "fencing::an_owner_that_thaws_may_bring_proof_and_nothing_else",
            "doubt::whoever_sent_before_a_resend_may_bring_proof_and_nothing_else",
        ],
    );
}

#[test]
fn a_failure_written_over_whatever_is_there_is_caught() {
    let overwriting = Wrong {
        step: |key, entry, event, now| {
            let overwritten = entry.filter(|_| is_refusal(&event)).map(|entry| Entry {
                state: State::Unknown,
                ..entry.clone()
            });
            step(key, overwritten.as_ref().or(entry), event, now)
        },
        ..Wrong::default()
    };
    caught(
        overwriting,
        &[
            "settled::proof_is_never_overwritten",
            "settled::a_part_is_final",
            "repeats::an_end_settled_again_counts_once",
        ],
    );
}

#[test]
fn a_lease_that_frees_what_may_have_been_sent_is_caught() {
    fn freed(entry: Entry, now: Timestamp) -> Entry {
        let held = matches!(entry.state, State::Claimed | State::Dispatching);
        if !held || entry.lease_until > now {
            return entry;
        }
        Entry {
            state: State::Free,
            maybe_sent: false,
            ..entry
        }
    }
    let trusting = Wrong {
        step: |key, entry, event, now| {
            let freed = entry.map(|entry| freed(entry.clone(), now));
            step(key, freed.as_ref(), event, now)
        },
        shown: freed,
        ..Wrong::default()
    };
    caught(
        trusting,
        &[
            "expiry::what_was_dispatched_ends_unknown",
            "expiry::a_claim_that_does_not_announce_its_sends_ends_unknown",
            "purge::what_may_still_land_is_never_purged",
        ],
    );
}

#[test]
fn a_generation_that_stays_after_a_refusal_is_caught() {
    let standing = Wrong {
        step: |key, entry, event, now| {
            let (mut next, answer) = step(key, entry, event, now)?;
            if let Some(next) = &mut next {
                next.generation = 0;
            }
            Ok((next, answer))
        },
        ..Wrong::default()
    };
    caught(
        standing,
        &["fencing::the_generation_moves_on_a_proven_refusal_only"],
    );
}

#[test]
fn a_look_that_two_replicas_are_given_is_caught() {
    let generous = Wrong {
        step: |key, entry, event, now| {
            let looked_at = matches!(event, Event::Look { .. });
            let due = entry.filter(|_| looked_at).map(|entry| Entry {
                look_at: Timestamp(0),
                ..entry.clone()
            });
            step(key, due.as_ref().or(entry), event, now)
        },
        ..Wrong::default()
    };
    caught(
        generous,
        &[
            "doubt::a_look_is_both_lease_and_backoff",
            "races::of_many_who_look_one_is_let",
            "repeats::a_look_a_resend_and_a_word_asked_for_again_count_once",
        ],
    );
}

#[test]
fn a_word_about_an_entry_that_has_moved_on_is_caught() {
    let credulous = Wrong {
        step: |key, entry, event, now| {
            let event = at_epoch(entry, event, |event| matches!(event, Event::Resolve { .. }));
            step(key, entry, event, now)
        },
        ..Wrong::default()
    };
    caught(
        credulous,
        &["doubt::a_person_speaks_of_the_entry_that_was_shown"],
    );
}

#[test]
fn a_word_that_it_failed_while_it_may_still_be_sent_is_caught() {
    let hasty = Wrong {
        step: |key, entry, event, now| {
            let decided = matches!(event, Event::Resolve { .. });
            let landed = entry.filter(|_| decided).map(|entry| Entry {
                last_send_by: Some(Timestamp(0)),
                ..entry.clone()
            });
            step(key, landed.as_ref().or(entry), event, now)
        },
        ..Wrong::default()
    };
    caught(
        hasty,
        &["doubt::nobody_says_failed_while_something_may_still_be_sent"],
    );
}

#[test]
fn a_resend_that_fences_nobody_off_is_caught() {
    let open = Wrong {
        step: |key, entry, event, now| {
            let resent = matches!(event, Event::Resend { .. });
            let (mut next, answer) = step(key, entry, event, now)?;
            if let Some(next) = next.as_mut().filter(|_| resent) {
                next.epoch -= 1;
            }
            Ok((next, answer))
        },
        ..Wrong::default()
    };
    caught(
        open,
        &[
            "doubt::whoever_sent_before_a_resend_may_bring_proof_and_nothing_else",
            "races::of_many_who_send_again_one_is_granted",
            "repeats::a_look_a_resend_and_a_word_asked_for_again_count_once",
        ],
    );
}

#[test]
fn a_purge_of_what_may_still_land_is_caught() {
    let by_age = Wrong {
        outlived: |entry, now| now > entry.updated_at.after(TOMBSTONE_RETENTION),
        ..Wrong::default()
    };
    caught(
        by_age,
        &[
            "purge::what_may_still_land_is_never_purged",
            "purge::a_claim_is_not_purged_before_its_owner_is_gone",
        ],
    );
}

#[test]
fn a_purge_of_what_still_has_to_be_recognised_is_caught() {
    let eager = Wrong {
        outlived: |entry, now| {
            let ended = matches!(entry.state, State::Done | State::Partial);
            ended && now > entry.updated_at.after(Duration::from_hours(24))
        },
        ..Wrong::default()
    };
    caught(
        eager,
        &["purge::what_has_ended_is_recognised_until_its_retention_ends"],
    );
}

#[test]
fn a_row_that_is_read_and_written_in_two_steps_is_caught() {
    let torn = Wrong {
        pauses: true,
        ..Wrong::default()
    };
    caught(
        torn,
        &[
            "aliases::of_two_versions_that_race_one_is_granted",
            "races::of_many_claimants_one_is_granted",
            "races::of_many_who_look_one_is_let",
            "races::of_many_who_send_again_one_is_granted",
            "races::of_a_resend_and_a_word_that_it_failed_one_counts",
        ],
    );
}

#[test]
fn a_row_that_tenants_share_is_caught() {
    let shared = Wrong {
        row: |key| EntryKey {
            scope: "".into(),
            ..key.clone()
        },
        ..Wrong::default()
    };
    caught(
        shared,
        &[
            "aliases::tenants_with_equal_keys_have_aliases_of_their_own",
            "fencing::tenants_do_not_meet",
            "races::claims_of_many_tenants_do_not_stop_each_other",
        ],
    );
}

#[test]
fn a_column_that_is_not_kept_is_caught() {
    let columns: [fn(&mut Entry); 9] = [
        |entry| entry.alias_of = None,
        |entry| entry.looks = 0,
        |entry| entry.look_at = Timestamp(0),
        |entry| entry.resolution = None,
        |entry| entry.last_send_by = None,
        |entry| entry.owner = tower_outcome_core::ledger::Owner::from_bytes([0; 16]),
        |entry| entry.landing = tower_outcome_core::Landing::InFlight,
        |entry| entry.writes.iter_mut().for_each(|it| it.credential = None),
        |entry| entry.writes.iter_mut().for_each(|it| it.request = None),
    ];
    for forget in columns {
        let forgetful = Wrong {
            forget,
            ..Wrong::default()
        };
        caught(
            forgetful,
            &["mirror::every_state_meets_every_event_as_the_model_does"],
        );
    }
}

#[test]
fn a_cap_that_is_not_kept_is_caught() {
    let long = Wrong {
        step: |key, entry, event, now| {
            let asked = event.clone();
            let (mut next, answer) = step(key, entry, event, now)?;
            if let (Some(next), Event::Settle { ending, .. }) = (&mut next, asked)
                && let Ending::Done { result, .. } = ending
                && next.state == State::Done
            {
                next.result = result;
            }
            Ok((next, answer))
        },
        ..Wrong::default()
    };
    caught(long, &["caps::a_result_over_the_cap_is_left_out"]);
}

/// The suite has to name each of these rules; it may name others, too.
#[track_caller]
pub(crate) fn caught(wrong: Wrong, rules: &[&str]) {
    let broken = broken_rules(wrong);
    for rule in rules {
        assert!(broken.iter().any(|it| it == rule), "{rule} of {broken:?}");
    }
}

fn is_refusal(event: &Event) -> bool {
    matches!(event, Event::Settle { ending, .. } if matches!(ending, Ending::Failed { .. }))
}
