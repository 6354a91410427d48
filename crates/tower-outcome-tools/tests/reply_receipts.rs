//! Receipts are checked in no matter which language.

use tower_outcome_core::Outcome;
use tower_outcome_tools::reply::{Action, Reason, ReplyChecker, strip_receipts};

fn reasons(reply: &str) -> Vec<(Option<usize>, Reason)> {
    let actions = [
        Action::new("refund_order", Outcome::Ok),
        Action::new("send_email", Outcome::Unknown),
    ];
    let verdict = ReplyChecker::new().check_receipts(reply, &actions);
    verdict
        .flags()
        .iter()
        .map(|flag| (flag.action, flag.reason))
        .collect()
}

#[test]
fn true_receipts_for_every_action_pass() {
    assert_eq!(reasons("Hyvitetty [r1]. Vahvistetaan [r2 unknown]."), []);
    assert_eq!(
        reasons("Hyvitetty [R1: ok]. Vahvistetaan [ r2:unknown ]."),
        []
    );
}

#[test]
fn a_bare_receipt_says_done() {
    assert_eq!(reasons("[r1] [r2]"), [(Some(1), Reason::CitesWrongOutcome)]);
}

#[test]
fn an_action_without_a_receipt_is_flagged() {
    assert_eq!(reasons("[r1]"), [(Some(1), Reason::CitesNothing)]);
}

#[test]
fn a_receipt_for_nothing_is_flagged() {
    assert_eq!(
        reasons("[r1] [r2 unknown] [r3]"),
        [(None, Reason::CitesUnknownReceipt)]
    );
}

#[test]
fn receipts_are_stripped_and_other_brackets_stay() {
    assert_eq!(
        strip_receipts("Done [r1], see [1] and [x] [r2 failed]."),
        "Done, see [1] and [x]."
    );
}
