//! Users extend the words of the reply checker in plain text.

use tower_outcome_core::Outcome;
use tower_outcome_tools::reply::{Action, Lexicon, ReplyChecker};

fn extended(text: &str) -> ReplyChecker {
    let mut lexicon = Lexicon::builtin();
    lexicon.extend_from_str(text).unwrap();
    ReplyChecker::with_lexicon(lexicon)
}

fn unknown(tool: &str) -> [Action; 1] {
    [Action::new(tool, Outcome::Unknown)]
}

#[test]
fn a_tool_declares_its_verbs_per_language() {
    let reply = "Der Server wurde hochgezogen.";
    assert!(
        ReplyChecker::new()
            .check(reply, &unknown("provision_vm"))
            .is_clean()
    );

    let checker = extended("language de\n[tool:provision_vm participle]\nhochgezogen\n");
    assert!(!checker.check(reply, &unknown("provision_vm")).is_clean());
    let other = [Action::new("refund_order", Outcome::Unknown)];
    let verdict = checker.check(reply, &other);
    assert!(verdict.flags().iter().all(|flag| flag.action.is_none()));
}

#[test]
fn a_tool_is_given_a_class_by_name() {
    let checker = extended("language en\n[tools]\nxk_17 = refund.refund\n");
    assert!(
        !checker
            .check("I refunded it.", &unknown("xk_17"))
            .is_clean()
    );
}

#[test]
fn a_language_is_added_as_a_whole() {
    let text = "language it\nterse 3\n[marks]\nil|la|è|stato\n[aux]\nè|stato\n\
                [refund.refund participle]\nrimborsato\n[not]\nnon\n[summary]\nok = {what}: fatto.\n";
    let checker = extended(text);
    let reply = "Il suo ordine è stato rimborsato.";
    assert!(!checker.check(reply, &unknown("refund_order")).is_clean());
    let ok = [Action::new("refund_order", Outcome::Ok)];
    assert!(checker.check(reply, &ok).is_clean());
    assert_eq!(checker.summary_in("it", &ok), "Refund order: fatto.");
}

#[test]
fn what_cannot_be_read_is_named_by_its_line() {
    for (text, message) in [
        (
            "[not]\nno",
            "line 2 of the lexicon: no language has been named",
        ),
        (
            "language en\n[nonsense]",
            "line 2 of the lexicon: no section is called so",
        ),
        (
            "language en\n[not",
            "line 2 of the lexicon: the bracket is not closed",
        ),
        (
            "language en\n[claim]\n{nowhere} done",
            "line 3 of the lexicon: a set is used before it is listed",
        ),
        (
            "language en\n[claim]\na .. b .. c .. d",
            "line 3 of the lexicon: a phrase may have two gaps at most",
        ),
        (
            "language en\n[claim]\n.. done",
            "line 3 of the lexicon: a phrase has no words",
        ),
        (
            "language en\nterse many",
            "line 2 of the lexicon: not a number",
        ),
        (
            "language en\ncolour red",
            "line 2 of the lexicon: no option is called so",
        ),
        (
            "language en\n[tools]\nrefund",
            "line 3 of the lexicon: a tool needs `= GROUP.NAME`",
        ),
    ] {
        let error = Lexicon::builtin().extend_from_str(text).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_summary_says_what_became_of_each_action() {
    let checker = ReplyChecker::new();
    let actions = [
        Action::new("refund_order", Outcome::Ok).with_resource("A-1001"),
        Action::new("send_email", Outcome::Unknown),
    ];
    assert_eq!(
        checker.summary(&actions),
        "Refund order (A-1001): done.\n\
         Send email: this is not confirmed yet. It is being checked; please do not repeat it."
    );
    assert_eq!(
        checker.summary_in("xx", &actions),
        checker.summary(&actions)
    );
    assert_eq!(checker.summary(&[]), "");
}
