//! What the phrases of a lexicon find in a sentence.

use std::collections::HashMap;

use super::Class;
use super::phrase::Phrase;
use super::role::Role;

/// Where phrases of the same words match.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) roles: Vec<(Role, Option<Class>, i32)>,
}

impl Hit {
    /// The hit of `phrases` on the words at `places`.
    pub(crate) fn of<'a>(phrases: impl Iterator<Item = &'a Phrase>, places: &[usize]) -> Self {
        Self {
            start: places.first().copied().unwrap_or_default(),
            end: places.last().map_or(0, |last| last + 1),
            roles: phrases
                .map(|phrase| (phrase.role, phrase.class, phrase.value))
                .collect(),
        }
    }

    pub(crate) fn is(&self, role: Role) -> bool {
        self.roles.iter().any(|(other, _, _)| *other == role)
    }

    /// Whether the hit stands in one of `roles` for any kind of action.
    pub(crate) fn is_general(&self, roles: &[Role]) -> bool {
        self.roles
            .iter()
            .any(|(role, class, _)| class.is_none() && roles.contains(role))
    }

    /// Whether the word stands behind what it governs, as a section `[if 1]` says.
    pub(crate) fn is_postposed(&self) -> bool {
        self.roles.iter().any(|(_, _, value)| *value == 1)
    }

    /// The classes that the hit stands for in one of `roles`.
    pub(crate) fn classes(&self, roles: &[Role]) -> impl Iterator<Item = Class> {
        self.roles
            .iter()
            .filter(|(role, _, _)| roles.contains(role))
            .filter_map(|(_, c, _)| *c)
    }
}

/// All that one pack finds in a sentence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    /// Hits that own their words, in order.
    pub(crate) hits: Vec<Hit>,
    /// Hits that only say something of their surroundings, by role and in order.
    around: HashMap<Role, Vec<Hit>>,
}

impl Scan {
    /// Adds a hit on words that no phrase owns.
    pub(crate) fn add(&mut self, at: usize, role: Role) {
        let place = self.hits.partition_point(|hit| hit.start < at);
        let before = place
            .checked_sub(1)
            .and_then(|before| self.hits.get(before));
        let is_owned = before.is_some_and(|hit| hit.end > at)
            || self.hits.get(place).is_some_and(|hit| hit.start == at);
        if !is_owned {
            let roles = vec![(role, None, 0)];
            self.hits.insert(
                place,
                Hit {
                    start: at,
                    end: at + 1,
                    roles,
                },
            );
        }
    }

    /// Adds a hit that owns no words; they come in order.
    pub(crate) fn add_around(&mut self, role: Role, hit: Hit) {
        self.around.entry(role).or_default().push(hit);
    }

    /// The hits of a role that owns no words.
    pub(crate) fn around(&self, role: Role) -> &[Hit] {
        self.around.get(&role).map_or(&[], Vec::as_slice)
    }
}
