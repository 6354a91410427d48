//! Cases of keys: do two spellings of a call make one key, two, or none?

use serde_json::Value;
use tower_outcome_core::canonical::Canonicalizer;
use tower_outcome_core::rule::{ValueRule, exact};
use tower_outcome_core::{Intent, IntentRules};

use super::{Report, text_of};

/// Runs every case of `text`.
pub(crate) fn run(text: &str) -> Result<Report, String> {
    Report::of(text, judge)
}

/// The error says what was expected and what came.
fn judge(case: &Value) -> Result<(), String> {
    let same = case["same"].as_bool().ok_or("`same` is no boolean")?;
    if case["jcs_only"] == true {
        return expect(same, plain(case, "a")? == plain(case, "b")?);
    }
    let (a, b) = (side(case, "a")?, side(case, "b")?);
    for (name, side) in [("a", &a), ("b", &b)] {
        let refused = matches!(text_of(&case["reject"]), "both") || case["reject"] == name;
        match side {
            Ok(_) if refused => return Err(format!("{name}: expected a refusal, got a key")),
            Err(error) if !refused && !is_nameless(case, name) => {
                return Err(format!("{name}: expected a key, got a refusal ({error})"));
            }
            _ => {}
        }
    }
    match (a, b) {
        (Ok(a), Ok(b)) => expect(same, a.key() == b.key()),
        _ => expect(same, false),
    }
}

fn expect(same: bool, got: bool) -> Result<(), String> {
    let word = |same| if same { "one key" } else { "two keys" };
    if same == got {
        Ok(())
    } else {
        Err(format!("expected {}, got {}", word(same), word(got)))
    }
}

/// Whether a side lacks the scope or the tool, without which there is no key to compare.
fn is_nameless(case: &Value, side: &str) -> bool {
    ["scope", "tool"]
        .iter()
        .any(|name| case[format!("{name}_{side}")] == "")
}

/// The bytes that RFC 8785 alone gives to one side.
fn plain(case: &Value, side: &str) -> Result<Vec<u8>, String> {
    let mut canonicalizer = Canonicalizer::rounding();
    let bytes = canonicalizer.text(text_of(&case[side]));
    bytes
        .map(<[u8]>::to_vec)
        .map_err(|error| format!("{side}: {error}"))
}

/// What one side makes: an intent, or a refusal.
fn side(case: &Value, side: &str) -> Result<Result<Intent, tower_outcome_core::Error>, String> {
    let named = |name: &str, otherwise: &'static str| {
        let value = &case[format!("{name}_{side}")];
        value.as_str().unwrap_or(otherwise).to_owned()
    };
    let rules = rules(&named("tool", "tool"), &case["rules"])?;
    let intent = rules.intent_from_str(&named("scope", "scope"), text_of(&case[side]));
    let occurrence = case[format!("occurrence_{side}")].as_u64().unwrap_or(0);
    let occurrence = u32::try_from(occurrence).map_err(|_| "an occurrence beyond 32 bits")?;
    Ok(intent.map(|intent| intent.with_occurrence(occurrence)))
}

/// The rules of a case: lists of words by JSON pointer, `*` standing for the whole arguments.
fn rules(tool: &str, lists: &Value) -> Result<IntentRules, String> {
    let mut rules = IntentRules::new(tool);
    for (pointer, words) in lists.as_object().ok_or("`rules` is no object")? {
        let words: Vec<&str> = words
            .as_array()
            .into_iter()
            .flatten()
            .map(text_of)
            .collect();
        rules = if pointer == "*" {
            words.into_iter().try_fold(rules, whole)?
        } else if words.contains(&"ignore") {
            rules.ignore(pointer)
        } else {
            let decides = |word: &&str| matches!(*word, "key" | "matches");
            let steps = words.iter().filter(|word| !decides(word));
            let rule = steps.copied().try_fold(exact(), step)?;
            if words.contains(&"matches") {
                rules.matches(pointer, rule)
            } else {
                rules.key(pointer, rule)
            }
        };
    }
    Ok(rules)
}

fn whole(rules: IntentRules, word: &str) -> Result<IntentRules, String> {
    Ok(match word {
        "empty_is_absent" => rules.empty_is_absent(),
        "null_is_absent" => rules.null_is_absent(),
        "only_declared" => rules.only_declared(),
        _ => return Err(format!("no rule {word:?} for the whole arguments")),
    })
}

fn step(rule: ValueRule, word: &str) -> Result<ValueRule, String> {
    let (name, argument) = word.split_once(':').unwrap_or((word, ""));
    Ok(match name {
        "bag" => rule.bag(),
        "date" => rule.date(),
        "decimal" => rule.decimal(argument.parse().map_err(|_| "`decimal` without places")?),
        "default" => {
            let value = serde_json::from_str(argument);
            rule.default(value.unwrap_or_else(|_| Value::from(argument)))
        }
        "empty_is_absent" => rule.empty_is_absent(),
        "id" => rule.id(),
        "instant" => rule.instant(),
        "int" => rule.int(),
        "lower" => rule.lower(),
        "nfc" => rule.nfc(),
        "null_is_absent" => rule.null_is_absent(),
        "set" => rule.set(),
        "squash" => rule.squash(),
        "trim" => rule.trim(),
        "upper" => rule.upper(),
        _ => return Err(format!("no rule {word:?}")),
    })
}
