//! A text for the customer that is written from the ledger alone.

use super::{Action, Lexicon};

/// A line for each action in the language of that code.
pub(crate) fn render(lexicon: &Lexicon, language: &str, actions: &[Action]) -> String {
    let speaks = |code: &str| lexicon.packs().iter().find(|pack| pack.language() == code);
    let lines = actions.iter().map(|action| {
        let outcome = action.outcome.as_str();
        let line = [language, "en"]
            .into_iter()
            .filter_map(speaks)
            .find_map(|pack| pack.summary(outcome));
        let what = what(action);
        line.map_or_else(
            || format!("{what}: {outcome}"),
            |line| line.replace("{what}", &what),
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// "Refund order (A-1001)".
fn what(action: &Action) -> String {
    let mut name = action.tool.replace(['_', '-', '.'], " ");
    if let Some(first) = name.chars().next() {
        let upper: String = first.to_uppercase().collect();
        name.replace_range(..first.len_utf8(), &upper);
    }
    if action.resource_ids.is_empty() {
        name
    } else {
        format!("{name} ({})", action.resource_ids.join(", "))
    }
}
