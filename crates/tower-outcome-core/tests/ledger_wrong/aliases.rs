//! What a ledger may do wrong with the aliases of a wish that has several keys.

use tower_outcome_core::ledger::entry::TOMBSTONE_RETENTION;
use tower_outcome_core::ledger::machine::step;
use tower_outcome_core::ledger::{Entry, Event, State};

use super::caught;
use super::wrong::Wrong;

#[test]
fn an_alias_that_is_claimed_is_caught() {
    let granting = Wrong {
        step: |key, entry, event, now| {
            let claims = matches!(event, Event::Claim(_));
            let free = entry.filter(|entry| !claims || entry.state != State::Alias);
            step(key, free, event, now)
        },
        ..Wrong::default()
    };
    caught(
        granting,
        &[
            "aliases::an_alias_leads_on_and_is_never_claimed",
            "aliases::tenants_with_equal_keys_have_aliases_of_their_own",
        ],
    );
}

#[test]
fn an_alias_that_is_not_stored_is_caught() {
    let forgetful = Wrong {
        step: |key, entry, event, now| {
            let introduced = matches!(event, Event::Alias { .. });
            let (next, answer) = step(key, entry, event, now)?;
            Ok((next.filter(|_| !introduced), answer))
        },
        ..Wrong::default()
    };
    caught(
        forgetful,
        &[
            "aliases::a_retired_version_stays_done",
            "aliases::whichever_of_three_versions_comes_first_is_met_by_the_others",
        ],
    );
}

#[test]
fn an_entry_in_use_that_becomes_an_alias_is_caught() {
    let overwriting = Wrong {
        step: |key, entry, event, now| {
            let introduced = matches!(event, Event::Alias { .. });
            let vacant = entry.filter(|_| !introduced);
            step(key, vacant, event, now)
        },
        ..Wrong::default()
    };
    caught(
        overwriting,
        &[
            "aliases::an_alias_leads_on_and_is_never_claimed",
            "aliases::whichever_of_three_versions_comes_first_is_met_by_the_others",
        ],
    );
}

#[test]
fn an_alias_that_leads_one_of_two_wishes_to_the_other_is_caught() {
    let trusting = Wrong {
        step: |key, entry, event, now| {
            let claims = matches!(event, Event::Claim(_));
            let shared = entry.filter(|entry| claims && entry.is_shared());
            let leading = shared.map(|entry| Entry {
                code: None,
                ..entry.clone()
            });
            step(key, leading.as_ref().or(entry), event, now)
        },
        ..Wrong::default()
    };
    caught(
        trusting,
        &["aliases::an_alias_that_two_wishes_share_leads_nowhere"],
    );
}

#[test]
fn a_result_that_another_versions_fields_are_taken_for_is_caught() {
    let careless = Wrong {
        step: |key, entry, event, now| {
            let Event::Claim(claim) = &event else {
                return step(key, entry, event, now);
            };
            let alike = entry.map(|entry| Entry {
                fingerprint: claim.fingerprint.clone(),
                ..entry.clone()
            });
            step(key, alike.as_ref(), event, now)
        },
        ..Wrong::default()
    };
    caught(
        careless,
        &["aliases::versions_that_know_nothing_of_each_others_fields_are_not_compared"],
    );
}

#[test]
fn an_alias_that_is_forgotten_before_its_entry_is_caught() {
    let hasty = Wrong {
        forgets: |alias, now, _| now > alias.updated_at.after(TOMBSTONE_RETENTION),
        ..Wrong::default()
    };
    caught(
        hasty,
        &["aliases::an_alias_is_kept_until_its_entry_is_gone"],
    );
}

#[test]
fn an_alias_that_is_forgotten_although_it_is_used_is_caught() {
    let idle = Wrong {
        step: |key, entry, event, now| {
            let alias = entry.is_some_and(|entry| entry.state == State::Alias);
            let (next, answer) = step(key, entry, event, now)?;
            Ok((next.filter(|next| !alias || next.is_shared()), answer))
        },
        ..Wrong::default()
    };
    caught(idle, &["aliases::an_alias_that_is_used_is_not_forgotten"]);
}

#[test]
fn a_circle_that_nobody_opens_is_caught() {
    let closed = Wrong {
        step: |key, entry, event, now| {
            let opens = matches!(event, Event::Home { .. });
            let (next, answer) = step(key, entry, event, now)?;
            Ok((next.filter(|_| !opens), answer))
        },
        ..Wrong::default()
    };
    caught(
        closed,
        &[
            "circles::a_circle_that_is_closed_again_is_opened_where_it_was",
            "circles::of_rules_that_were_taken_back_one_is_granted",
        ],
    );
}

#[test]
fn an_alias_that_is_set_free_wherever_it_leads_is_caught() {
    let careless = Wrong {
        step: |key, entry, mut event, now| {
            let target = entry.and_then(|entry| entry.alias_of);
            if let (Event::Home { instead_of }, Some(target)) = (&mut event, target) {
                *instead_of = target;
            }
            step(key, entry, event, now)
        },
        ..Wrong::default()
    };
    caught(
        careless,
        &["circles::only_an_alias_is_set_free_and_only_from_where_it_was_seen_to_lead"],
    );
}

#[test]
fn a_circle_that_is_opened_by_beginning_anew_is_caught() {
    let forgetful = Wrong {
        step: |key, entry, event, now| {
            let opens = matches!(event, Event::Home { .. });
            let (next, answer) = step(key, entry, event, now)?;
            let anew = |next| Entry { epoch: 0, ..next };
            Ok((
                next.map(|next| if opens { anew(next) } else { next }),
                answer,
            ))
        },
        ..Wrong::default()
    };
    caught(
        forgetful,
        &["circles::a_circle_that_is_closed_again_is_opened_where_it_was"],
    );
}
