//! No text brings the reply checker down, and what it writes itself it finds no fault with.

use std::sync::LazyLock;

use proptest::prelude::*;
use tower_outcome_core::Outcome;
use tower_outcome_tools::reply::{Action, ReplyChecker, strip_receipts};

static CHECKER: LazyLock<ReplyChecker> = LazyLock::new(ReplyChecker::new);

const LANGUAGES: [&str; 7] = ["en", "de", "fr", "es", "pt", "zh", "ja"];
const TOOLS: [&str; 12] = [
    "refund_order",
    "cancel_order",
    "send_email",
    "delete_user",
    "book_flight",
    "update_address",
    "transfer_money",
    "create_ticket",
    "revoke_access",
    "deploy_service",
    "get_order",
    "frobnicate",
];
const OUTCOMES: [Outcome; 5] = [
    Outcome::AlreadyDone,
    Outcome::Failed,
    Outcome::Ok,
    Outcome::Skipped,
    Outcome::Unknown,
];

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = (
        prop::sample::select(TOOLS.to_vec()),
        prop::sample::select(OUTCOMES.to_vec()),
        "[A-Z]-[1-9][0-9]{2,3}",
    );
    let action =
        action.prop_map(|(tool, outcome, id)| Action::new(tool, outcome).with_resource(id));
    prop::collection::vec(action, 0..5)
}

/// Text out of the pieces that the checker looks for, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "refunded",
        "not",
        "A-1001",
        "if",
        "\n- ",
        "\n> ",
        "| ",
        "\n|---|\n",
        "✅",
        "❌",
        ":",
        "\"",
        "'",
        "`",
        "```\n",
        "“",
        "退款",
        "已",
        "返金",
        "ました",
        "except",
        "two of the three",
        "[x] ",
        "##",
        "**",
        "I will",
        "?",
        ".",
        "1,234.50",
        "€",
        "the second",
        "](",
        "\u{ad}",
        "\u{301}",
        "ß",
        "İ",
        "—",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gets_a_verdict(reply in "\\PC*", actions in actions()) {
        let _ = CHECKER.check(&reply, &actions);
        let _ = CHECKER.check_receipts(&reply, &actions);
        let _ = strip_receipts(&reply);
    }

    #[test]
    fn any_mix_of_telling_words_gets_a_verdict_that_names_entries(
        reply in pieces(),
        actions in actions(),
    ) {
        let verdict = CHECKER.check(&reply, &actions);
        for flag in verdict.flags() {
            prop_assert!(flag.action.is_none_or(|at| at < actions.len()));
        }
    }

    #[test]
    fn a_summary_is_never_flagged(actions in actions()) {
        for language in LANGUAGES {
            let summary = CHECKER.summary_in(language, &actions);
            let verdict = CHECKER.check(&summary, &actions);
            prop_assert!(verdict.is_clean(), "{summary}\n{verdict:?}");
        }
    }
}
