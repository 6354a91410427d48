//! The reply checker holds its marks on files of replies, some of them written before it was.

use serde_json::Value;
use tower_outcome_tools::reply::{Action, ReplyChecker};

struct Marks {
    precision: f64,
    recall: f64,
}

fn marks_on(file: &str) -> Marks {
    let checker = ReplyChecker::new();
    let (mut right, mut wrong, mut missed) = (0_u32, 0_u32, 0_u32);
    for line in file.lines() {
        let case: Value = serde_json::from_str(line).expect("a case is a JSON object");
        let ledger: Vec<Action> = serde_json::from_value(case["ledger"].clone()).unwrap();
        let verdict = checker.check(case["reply"].as_str().unwrap(), &ledger);
        match (case["expected"].as_str().unwrap(), verdict.is_clean()) {
            ("flag", false) => right += 1,
            ("pass", false) => wrong += 1,
            ("flag", true) => missed += 1,
            _ => {}
        }
    }
    Marks {
        precision: f64::from(right) / f64::from(right + wrong),
        recall: f64::from(right) / f64::from(right + missed),
    }
}

#[test]
fn at_least_95_in_100_flags_are_right_and_90_in_100_untrue_replies_flagged() {
    for file in [
        include_str!("data/replies.jsonl"),
        include_str!("data/replies_more.jsonl"),
        include_str!("data/replies_mixed.jsonl"),
        include_str!("data/replies_kinds.jsonl"),
        include_str!("data/replies_turns.jsonl"),
        include_str!("data/replies_unseen.jsonl"),
    ] {
        let marks = marks_on(file);
        assert!(marks.precision >= 0.95, "precision {}", marks.precision);
        assert!(marks.recall >= 0.90, "recall {}", marks.recall);
    }
}
