//! Tables of spellings and of what they should come to.

use tower_outcome_core::{Error, Intent, IntentRules};

/// Makes the intent that a JSON text spells.
pub(crate) fn derive(rules: &IntentRules, text: &str) -> Result<Intent, Error> {
    rules.intent_from_str("acme", text)
}

/// Checks a table, one line each: `a == b` for one key, `a != b` for two keys, `a refused` for
/// none. The arguments are made of each spelling.
#[track_caller]
pub(crate) fn each_line(rules: &IntentRules, table: &str, make: impl Fn(&str) -> String) {
    let key = |text| derive(rules, &make(text)).map(|intent| *intent.key());
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(refused) = line.strip_suffix(" refused") {
            assert!(key(refused).is_err(), "{line}");
        } else if let Some((one, same)) = line.split_once(" == ") {
            assert_eq!(key(one).unwrap(), key(same).unwrap(), "{line}");
        } else if let Some((one, other)) = line.split_once(" != ") {
            assert_ne!(key(one).unwrap(), key(other).unwrap(), "{line}");
        } else {
            panic!("{line} is no line of a table");
        }
    }
}
