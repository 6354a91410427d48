//! The rules that every store of entries keeps, as one suite.
//!
//! A store is right when it answers as [`machine::step`](super::machine::step) does, keeps every
//! column of a row, and asks the clock that it was given. The suite compares it with a model event
//! by event, and spells the rules out that must not break even if the model did.
//!
//! ```
//! use tower_outcome_core::MemoryLedger;
//! use tower_outcome_core::ledger::conformance;
//!
//! let suite = conformance::run(async |clock| {
//!     MemoryLedger::new(10_000).with_clock(move || clock.now())
//! });
//! # let mut suite = std::pin::pin!(suite);
//! # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
//! # assert!(suite.as_mut().poll(&mut context).is_ready());
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Ledger, Timestamp};
use bench::{
    Bench, LEASE, REFUSED, SENDS_FOR, claim, done, key, release, send, settle, unannounced, unknown,
};
use shared::Shared;
use verdict::Verdict;

pub use secrets::{MARKER, carry_secrets, holds_marker};

mod aliases;
mod bench;
mod caps;
mod changes;
mod circles;
mod doubt;
mod drops;
mod expiry;
mod fencing;
mod lists;
mod mirror;
mod purge;
mod races;
mod repeats;
mod secrets;
mod settled;
mod shared;
mod verdict;
mod walks;

/// Holds a store to every rule. `fresh` makes an empty ledger that reads the time from the clock.
///
/// Needs no runtime of its own: await it on the one that the store needs.
///
/// # Panics
///
/// Where the store breaks a rule or does not answer. The text names every rule that is broken.
pub async fn run<L: Ledger>(fresh: impl AsyncFn(Clock) -> L) {
    let mut verdict = Verdict::default();
    macro_rules! each {
        ($($rule:path,)+) => {$(
            let tried = async {
                let clock = Clock::new();
                $rule(&Bench::new(fresh(clock.clone()).await, clock)).await;
            };
            verdict.hold(stringify!($rule), tried).await;
        )+};
    }
    each! {
        aliases::an_alias_is_kept_until_its_entry_is_gone,
        aliases::an_alias_leads_on_and_is_never_claimed,
        aliases::an_alias_that_is_used_is_not_forgotten,
        aliases::an_alias_that_two_wishes_share_leads_nowhere,
        aliases::a_retired_version_stays_done,
        aliases::of_two_versions_that_race_one_is_granted,
        aliases::tenants_with_equal_keys_have_aliases_of_their_own,
        aliases::versions_that_know_nothing_of_each_others_fields_are_not_compared,
        aliases::whichever_of_three_versions_comes_first_is_met_by_the_others,
        caps::a_name_over_the_cap_is_refused,
        caps::a_request_over_the_cap_is_left_out,
        caps::a_result_over_the_cap_is_left_out,
        caps::names_and_bytes_of_any_kind_come_back,
        changes::every_change_is_told,
        changes::who_no_longer_waits_keeps_nobody,
        circles::a_circle_that_is_closed_again_is_opened_where_it_was,
        circles::of_rules_that_were_taken_back_one_is_granted,
        circles::only_an_alias_is_set_free_and_only_from_where_it_was_seen_to_lead,
        doubt::a_look_is_both_lease_and_backoff,
        doubt::a_new_claim_has_not_been_looked_at,
        doubt::a_person_speaks_of_the_entry_that_was_shown,
        doubt::a_request_is_kept_until_its_call_has_ended,
        doubt::an_ended_lease_is_looked_at_at_once,
        doubt::nobody_says_failed_while_something_may_still_be_sent,
        doubt::only_what_is_in_doubt_is_looked_at_resolved_or_sent_again,
        doubt::whoever_sent_before_a_resend_may_bring_proof_and_nothing_else,
        drops::what_nobody_waits_for_is_done_whole_or_not_at_all,
        expiry::a_claim_that_announces_its_sends_ends_free,
        expiry::a_claim_that_does_not_announce_its_sends_ends_unknown,
        expiry::what_was_dispatched_ends_unknown,
        expiry::a_send_prolongs_the_lease,
        expiry::an_ended_entry_outlives_every_lease,
        expiry::unresolved_counts_ended_leases_and_lists_the_oldest_first,
        fencing::only_the_holder_of_the_epoch_may_move_a_claim,
        fencing::an_owner_that_thaws_may_bring_proof_and_nothing_else,
        fencing::an_owner_that_thaws_before_anyone_else_may_still_prove_a_refusal,
        fencing::an_absent_entry_knows_only_claims,
        fencing::tenants_do_not_meet,
        fencing::the_generation_moves_on_a_proven_refusal_only,
        lists::a_filter_admits_what_it_says,
        lists::a_place_that_was_made_up_is_refused,
        lists::counts_are_those_of_the_entries,
        lists::pages_list_everything_that_stays,
        lists::what_waits_longest_is_due_first,
        mirror::every_state_meets_every_event_as_the_model_does,
        purge::a_claim_is_not_purged_before_its_owner_is_gone,
        purge::a_purge_takes_a_few_at_a_time,
        purge::what_has_ended_is_recognised_until_its_retention_ends,
        purge::what_may_still_land_is_never_purged,
        races::claims_of_many_tenants_do_not_stop_each_other,
        races::of_a_resend_and_a_word_that_it_failed_one_counts,
        races::of_many_claimants_one_is_granted,
        races::of_many_who_look_one_is_let,
        races::of_many_who_send_again_one_is_granted,
        races::proof_wins_whatever_comes_at_the_same_time,
        repeats::a_claim_asked_for_again_is_not_granted_again,
        repeats::a_look_a_resend_and_a_word_asked_for_again_count_once,
        repeats::a_release_asked_for_again_frees_nobody_elses_claim,
        repeats::a_send_announced_again_is_one_write,
        repeats::an_end_settled_again_counts_once,
        repeats::proof_brought_again_changes_nothing,
        settled::proof_is_never_overwritten,
        settled::a_part_is_final,
        settled::a_field_that_differs_is_named_once_it_is_done,
        settled::a_result_is_replayed_until_its_retention_ends,
        settled::a_look_up_is_proof_at_any_epoch,
        walks::a_clock_that_is_set_back_or_ahead_changes_no_rule,
        walks::a_life_drawn_at_random_is_the_models,
    }
    verdict.pronounce();
}

/// Holds a store that outlives its handle to what it promises beyond [`run`]: restarts, several
/// processes at once, and clocks that disagree.
///
/// `open` opens the store of a number, which is empty the first time. It stays open where the handle
/// of another opening is still there.
///
/// ```
/// use tower_outcome_core::Ledger;
/// use tower_outcome_core::ledger::conformance::{self, Clock};
///
/// # async fn f<L: Ledger>(connect: impl AsyncFn(String, Clock) -> L) {
/// conformance::run_shared(async |clock, number| connect(format!("ledger_{number}"), clock).await)
///     .await;
/// # }
/// ```
///
/// # Panics
///
/// Where the store breaks a rule or does not answer. The text names every rule that is broken.
pub async fn run_shared<L: Ledger>(open: impl AsyncFn(Clock, u32) -> L) {
    let mut verdict = Verdict::default();
    let mut number = 0;
    macro_rules! each {
        ($($rule:path,)+) => {$(
            number += 1;
            let store = Shared {
                open: &open,
                number,
                clock: Clock::new(),
            };
            verdict.hold(stringify!($rule), $rule(&store)).await;
        )+};
    }
    each! {
        shared::an_owner_that_restarts_is_another_owner,
        shared::an_owner_that_thaws_is_fenced_off_by_another_process,
        shared::changes_of_another_process_are_told,
        shared::claimants_of_several_processes_race_for_one_claim,
        shared::clocks_that_disagree_cost_patience_and_no_rule,
        shared::every_state_is_there_after_a_restart,
        shared::two_versions_in_two_processes_race_for_one_claim,
    }
    verdict.pronounce();
}

/// A clock that stands still until it is moved.
#[derive(Clone, Debug)]
pub struct Clock {
    milliseconds: Arc<AtomicU64>,
}

impl Clock {
    fn new() -> Self {
        Self {
            milliseconds: Arc::new(AtomicU64::new(START)),
        }
    }

    /// The moment at which the clock stands.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        Timestamp(self.milliseconds.load(Ordering::SeqCst))
    }

    fn advance(&self, by: Duration) {
        let now = self.now().after(by);
        self.milliseconds.store(now.0, Ordering::SeqCst);
    }

    fn set_back(&self, by: Duration) {
        let now = self.now().before(by);
        self.milliseconds.store(now.0, Ordering::SeqCst);
    }
}

/// Any moment will do that is no edge of a calendar.
const START: u64 = 1_750_000_000_123;
