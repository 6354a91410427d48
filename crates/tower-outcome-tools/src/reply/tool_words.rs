//! The verbs of tools that the lexicon does not know, inflected as in English.

use std::collections::HashMap;

use super::action::Action;
use super::lexicon::{Lexicon, Role};

/// What the words made of tool names say in a reply.
#[derive(Debug, Default)]
pub(crate) struct ToolWords {
    roles: HashMap<String, Role>,
}

impl ToolWords {
    pub(crate) fn new(lexicon: &Lexicon, actions: &[Action]) -> Self {
        let mut roles = HashMap::new();
        for action in actions {
            if lexicon.knows_verb_of(&action.tool) {
                continue;
            }
            let Some(verb) = Lexicon::words_of_name(&action.tool).into_iter().next() else {
                continue;
            };
            if verb.chars().count() < SHORTEST_VERB || !verb.is_ascii() {
                continue;
            }
            for stem in stems(&verb) {
                roles.insert(format!("{stem}ed"), Role::Past);
                roles.insert(format!("{stem}ing"), Role::Ing);
            }
            roles.insert(verb, Role::Base);
        }
        Self { roles }
    }

    /// What the word says, if a tool is called by it.
    pub(crate) fn role(&self, word: &str) -> Option<Role> {
        self.roles.get(word).copied()
    }
}

/// "sign", "merg", "notifi", "swapp": what "-ed" and "-ing" are put behind.
fn stems(verb: &str) -> Vec<String> {
    let mut stems = vec![verb.to_owned()];
    if let Some(stem) = verb.strip_suffix('e') {
        stems.push(stem.to_owned());
    }
    if let Some(stem) = verb.strip_suffix('y') {
        stems.push(format!("{stem}i"));
    }
    if let Some(last) = verb.chars().last().filter(|c| !"aeiouwxy".contains(*c)) {
        stems.push(format!("{verb}{last}"));
    }
    stems
}

/// A shorter name of a tool is rather no verb.
const SHORTEST_VERB: usize = 3;

#[cfg(test)]
mod tests {
    use tower_outcome_core::Outcome;

    use super::ToolWords;
    use crate::reply::Action;
    use crate::reply::lexicon::{Lexicon, Role};

    #[test]
    fn verbs_of_unknown_tools_are_inflected() {
        let lexicon = Lexicon::builtin();
        let action = |tool| Action::new(tool, Outcome::Ok);
        let words = ToolWords::new(&lexicon, &[action("sign_document"), action("zap_it")]);
        assert_eq!(words.role("signed"), Some(Role::Past));
        assert_eq!(words.role("signing"), Some(Role::Ing));
        assert_eq!(words.role("zapped"), Some(Role::Past));
        assert_eq!(words.role("refunded"), None);
    }
}
