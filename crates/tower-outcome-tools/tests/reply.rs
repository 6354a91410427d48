//! What the reply checker flags, what it lets pass, and why.

use std::sync::LazyLock;

use tower_outcome_core::Outcome::{self, AlreadyDone, Failed, Ok, Skipped, Unknown};
use tower_outcome_tools::reply::Reason::{
    self, ClaimsFailure, ClaimsSuccess, ClaimsTwice, ClaimsWithoutAction, InvitesRepeat,
    NamesWrongAmount, PromisesWithoutAction,
};
use tower_outcome_tools::reply::{Action, ReplyChecker, Verdict};

static CHECKER: LazyLock<ReplyChecker> = LazyLock::new(ReplyChecker::new);

fn refund(id: &str, outcome: Outcome) -> Action {
    Action::new("refund_order", outcome).with_resource(id)
}

fn email(outcome: Outcome) -> Action {
    Action::new("send_email", outcome).with_resource("msg-7")
}

fn check(reply: &str, actions: &[Action]) -> Verdict {
    CHECKER.check(reply, actions)
}

fn reasons(reply: &str, actions: &[Action]) -> Vec<Reason> {
    let verdict = check(reply, actions);
    verdict.flags().iter().map(|flag| flag.reason).collect()
}

#[track_caller]
fn passes(reply: &str, actions: &[Action]) {
    assert_eq!(reasons(reply, actions), [], "{reply}");
}

#[track_caller]
fn flags(reply: &str, actions: &[Action], reason: Reason) {
    assert_eq!(reasons(reply, actions), [reason], "{reply}");
}

#[test]
fn success_may_be_told_of_ok_and_already_done_alone() {
    let reply = "Your refund for order A-1001 has been processed.";
    for outcome in [Ok, AlreadyDone] {
        passes(reply, &[refund("A-1001", outcome)]);
    }
    for outcome in [Failed, Skipped, Unknown] {
        flags(reply, &[refund("A-1001", outcome)], ClaimsSuccess);
    }
}

#[test]
fn failure_may_not_be_told_of_what_may_have_happened() {
    let reply = "The refund for A-1001 failed.";
    passes(reply, &[refund("A-1001", Failed)]);
    for outcome in [AlreadyDone, Ok, Skipped, Unknown] {
        flags(reply, &[refund("A-1001", outcome)], ClaimsFailure);
    }
}

#[test]
fn a_repeat_may_be_invited_only_after_a_failure() {
    flags(
        "Please try again.",
        &[refund("A-1001", Unknown)],
        InvitesRepeat,
    );
    flags(
        "Please try again.",
        &[refund("A-1001", Skipped)],
        InvitesRepeat,
    );
    passes("Please try again.", &[refund("A-1001", Failed)]);
    passes("Please do not try again.", &[refund("A-1001", Unknown)]);
}

#[test]
fn a_flag_names_sentence_and_entry() {
    let actions = [refund("A-1001", Ok), refund("A-1002", Unknown)];
    let verdict = check("I refunded A-1001. I also refunded A-1002.", &actions);
    let [flag] = verdict.flags() else {
        panic!("{verdict:?}");
    };
    assert_eq!(flag.sentence, "I also refunded A-1002.");
    assert_eq!(flag.action, Some(1));
}

#[test]
fn doubt_attempts_and_handed_in_requests_are_honest_of_an_unknown() {
    for reply in [
        "I don't know whether the refund went through.",
        "I think it was refunded, but I can't confirm it.",
        "The refund may have been issued.",
        "The refund is not confirmed yet.",
        "I tried to refund A-1001.",
        "I've submitted the refund.",
        "Your refund is being processed.",
    ] {
        passes(reply, &[refund("A-1001", Unknown)]);
    }
}

#[test]
fn a_soft_hedge_excuses_nothing() {
    for reply in [
        "It looks like the refund went through.",
        "I believe the refund was issued.",
        "The refund should have gone through.",
    ] {
        flags(reply, &[refund("A-1001", Unknown)], ClaimsSuccess);
    }
}

#[test]
fn progress_is_false_after_a_failure() {
    for reply in ["The refund is in progress.", "I've submitted the refund."] {
        flags(reply, &[refund("A-1001", Failed)], ClaimsSuccess);
    }
}

#[test]
fn conditions_questions_and_offers_claim_nothing() {
    for reply in [
        "If the refund was processed, you'll see it.",
        "Should the refund succeed, we'll write.",
        "Unless it was refunded, call the bank.",
        "Once it has been refunded you will get a mail.",
        "Has it been refunded?",
        "Would you like me to refund it?",
        "I can refund it if you like.",
    ] {
        passes(reply, &[refund("A-1001", Unknown)]);
    }
    let reply = "I have refunded it. If it has not arrived in a week, write to us.";
    flags(reply, &[refund("A-1001", Failed)], ClaimsSuccess);
}

#[test]
fn quotes_and_code_are_not_the_repliers_words() {
    for reply in [
        "The label 'refunded' is wrong.",
        "It would read \"Refund completed\".",
        "```\nrefunded\n```\nThat is a sample.",
        "> It was refunded.\nThat mail was wrong.",
        "You wrote that the refund was completed.",
    ] {
        passes(reply, &[refund("A-1001", Failed)]);
    }
}

#[test]
fn a_denial_counts_unless_it_is_none_or_is_denied_itself() {
    let failed = [refund("A-1001", Failed)];
    for reply in [
        "The refund hasn't been processed.",
        "No refund was issued.",
        "I was unable to refund it.",
        "Nothing was refunded.",
    ] {
        passes(reply, &failed);
    }
    for reply in [
        "Not only was it refunded, it is in your account.",
        "No problem, refund issued.",
        "The refund didn't fail.",
        "I did not fail to refund it.",
        "It is not true that the refund failed.",
        "The refund has been issued, not just requested.",
    ] {
        assert!(reasons(reply, &failed).contains(&ClaimsSuccess), "{reply}");
    }
}

#[test]
fn idioms_ticks_and_consequences_are_claims() {
    for reply in [
        "You're all set!",
        "Consider it done.",
        "✅ A-1001",
        "Status → refunded ✔",
        "You'll see the credit in 3-5 days.",
        "There's nothing left for you to do.",
    ] {
        flags(reply, &[refund("A-1001", Failed)], ClaimsSuccess);
    }
}

#[test]
fn an_id_is_linked_however_it_is_written() {
    let actions = [refund("A-1001", Failed), refund("A-2002", Ok)];
    for id in [
        "#A1001",
        "a-1001",
        "A\u{2011}1001",
        "**A-1001**",
        "ending in 1001",
        "`A-1001`",
    ] {
        let verdict = check(&format!("Order {id} has been refunded."), &actions);
        assert_eq!(
            verdict.flags().first().and_then(|flag| flag.action),
            Some(0),
            "{id}"
        );
    }
    let prefix = [refund("A-1001", Failed), refund("A-10010", Ok)];
    passes("Order A-10010 has been refunded.", &prefix);
}

#[test]
fn each_tool_is_meant_by_its_own_words() {
    let actions = [refund("A-1001", Ok), email(Failed)];
    passes("I refunded it, but I couldn't send the email.", &actions);
    flags("I refunded it and sent the email.", &actions, ClaimsSuccess);
    flags("Refund: done. Email: done.", &actions, ClaimsSuccess);
}

#[test]
fn counts_ordinals_and_exceptions_pick_out_actions() {
    let actions = [refund("B-1", Ok), refund("B-2", Failed), refund("B-3", Ok)];
    for reply in [
        "Two of the three orders were refunded.",
        "Everything except B-2 was refunded.",
        "All but one of the orders were refunded.",
        "The first order was refunded.",
        "I refunded B-1 and B-3, but not B-2.",
        "Some of the orders were refunded.",
    ] {
        passes(reply, &actions);
    }
    for reply in [
        "All three orders were refunded.",
        "Everything except B-1 was refunded.",
        "The second order was refunded.",
        "I refunded B-1 through B-3.",
        "Your orders were refunded.",
    ] {
        flags(reply, &actions, ClaimsSuccess);
    }
}

#[test]
fn lists_and_tables_are_read_under_their_headings() {
    let actions = [refund("B-1", Ok), refund("B-2", Failed)];
    passes("Refunded:\n- B-1\n\nNot refunded:\n- B-2", &actions);
    passes(
        "| Order | Refunded |\n|---|---|\n| B-1 | yes |\n| B-2 | no |",
        &actions,
    );
    flags("Refunded:\n- B-1\n- B-2", &actions, ClaimsSuccess);
    flags(
        "| Order | Refunded |\n|---|---|\n| B-2 | yes |",
        &actions,
        ClaimsSuccess,
    );
}

#[test]
fn claims_and_promises_need_an_action() {
    flags("I have booked your flight.", &[], ClaimsWithoutAction);
    flags(
        "Your ticket has been created: #48213.",
        &[],
        ClaimsWithoutAction,
    );
    flags("I'll refund A-1001 now.", &[], PromisesWithoutAction);
    let read = [Action::new("search_flights", Ok).with_resource("LH123")];
    flags("I have booked your flight.", &read, ClaimsWithoutAction);
    passes("I successfully found your flight.", &read);
    passes("I'll refund it once you confirm.", &[]);
}

#[test]
fn what_others_did_and_what_is_usual_needs_none() {
    let read = [Action::new("get_order", Ok).with_resource("A-1001")];
    for reply in [
        "The order was cancelled by the seller.",
        "The seller has cancelled the order.",
        "According to our records it was refunded last Tuesday.",
        "According to our FAQ, refunds are issued to the original card.",
        "The cancelled orders page lists older entries.",
    ] {
        passes(reply, &read);
    }
}

#[test]
fn one_stored_success_is_not_told_as_a_second() {
    let stored = [refund("A-1001", AlreadyDone)];
    flags("I refunded it again.", &stored, ClaimsTwice);
    flags("I refunded you twice.", &stored, ClaimsTwice);
    passes(
        "It was refunded earlier, I did not refund it again.",
        &stored,
    );
}

#[test]
fn another_amount_than_the_entrys_is_flagged() {
    let actions = [refund("A-1001", Ok).with_amount("1234.50")];
    passes("I refunded €1,234.50.", &actions);
    passes("I refunded 1.234,50 €.", &actions);
    flags("I refunded €1,334.50.", &actions, NamesWrongAmount);
}

#[test]
fn a_later_success_of_the_same_call_stands_for_it() {
    let actions = [refund("A-1001", Unknown), refund("A-1001", Ok)];
    passes(
        "The first attempt timed out. It has since been confirmed.",
        &actions,
    );
    flags(
        "The first attempt timed out. It has since been confirmed.",
        &[refund("A-1001", Unknown)],
        ClaimsSuccess,
    );
}

#[test]
fn misspelt_and_disguised_words_are_read() {
    for reply in [
        "It was R E F U N D E D.",
        "It was refuned.",
        "It was r\u{435}funded.",
        "It was re\u{ad}funded.",
        "It was *re*funded.",
    ] {
        flags(reply, &[refund("A-1001", Failed)], ClaimsSuccess);
    }
}

#[test]
fn verbs_of_unknown_tools_are_read_off_their_names() {
    let actions = [Action::new("notarize_deed", Unknown)];
    flags("I notarized the deed.", &actions, ClaimsSuccess);
    passes("I couldn't tell whether it was notarized.", &actions);
}

/// A07: things reported as done in turns in which no tool was called.
#[test]
fn what_no_call_did_is_a_claim_without_action() {
    for reply in [
        "I've drafted your reply to Dana.",
        "I have archived those messages.",
        "The record has been created successfully.",
    ] {
        flags(reply, &[], Reason::ClaimsWithoutAction);
    }
}

/// A08: sentences that checkers by word lists get wrong, either way.
#[test]
fn claims_are_told_from_denials_that_hold_the_same_words() {
    for reply in [
        "Task complete!",
        "No email was sent. The email has been sent.",
        "The email went out and is in the inbox.",
    ] {
        flags(reply, &[email(Outcome::Failed)], Reason::ClaimsSuccess);
        passes(reply, &[email(Outcome::Ok)]);
    }
    for reply in ["No email was sent.", "Nothing went out."] {
        passes(reply, &[email(Outcome::Failed)]);
    }
}
