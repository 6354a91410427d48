//! The entries of the ledger, and which of them a statement means.

use tower_outcome_core::Outcome;

use super::action::Action;
use super::lexicon::{Class, Lexicon};
use super::money;
use super::statement::{Kind, Statement};

/// The actions as the reply should know them.
#[derive(Debug)]
pub(crate) struct Entries<'a> {
    lexicon: &'a Lexicon,
    all: Vec<Entry>,
    pub(crate) is_empty: bool,
}

#[derive(Debug)]
struct Entry {
    classes: Vec<Class>,
    is_read: bool,
    outcome: Outcome,
    amounts: Vec<u64>,
}

impl<'a> Entries<'a> {
    pub(crate) fn new(lexicon: &'a Lexicon, actions: &[Action]) -> Self {
        let entries = actions.iter().map(|action| {
            let classes = lexicon.classes_of(&action.tool);
            Entry {
                is_read: !classes.is_empty() && classes.iter().all(|&class| lexicon.is_read(class)),
                classes,
                outcome: latest(actions, action),
                amounts: action
                    .amounts
                    .iter()
                    .filter_map(|text| money::hundredths(text))
                    .collect(),
            }
        });
        Self {
            lexicon,
            all: entries.collect(),
            is_empty: actions.is_empty(),
        }
    }

    /// The actions that a statement speaks of.
    pub(crate) fn link(&self, said: &Statement, seen: &[bool]) -> Link {
        let (mut actions, is_guess) = self.of_classes(said);
        let selection = &said.selection;
        let mut is_exact = false;
        if selection.foreign && selection.ids.is_empty() && said.kind == Kind::Done {
            actions.clear();
        }
        if !selection.ids.is_empty() {
            let named: Vec<usize> = actions
                .iter()
                .copied()
                .filter(|at| selection.ids.contains(at))
                .collect();
            is_exact = !named.is_empty();
            let only_read = selection.ids.iter().all(|&at| self.all[at].is_read);
            if is_exact || said.verbs.is_empty() && only_read {
                actions = named;
            }
        }
        let excepted = |at: &usize| {
            selection.excepted.contains(at)
                || self.all[*at]
                    .classes
                    .iter()
                    .any(|class| selection.excepted_things.contains(class))
        };
        let left_out = places(&selection.excepted_ordinals, &actions);
        actions.retain(|at| !excepted(at) && !left_out.contains(at));
        if selection.rest && !is_exact {
            actions.retain(|&at| !seen.get(at).is_some_and(|seen| *seen));
        }
        if !selection.ordinals.is_empty() && !is_exact && actions.len() > 1 {
            let picked = places(&selection.ordinals, &actions);
            if !picked.is_empty() {
                return Link {
                    kind: said.kind,
                    actions: picked,
                    is_exact: true,
                    is_guess,
                };
            }
        }
        is_exact |= actions.len() == 1;
        Link {
            kind: said.kind,
            actions,
            is_exact,
            is_guess,
        }
    }

    /// The actions of the statement's kinds, and whether that is a guess.
    fn of_classes(&self, said: &Statement) -> (Vec<usize>, bool) {
        let writes = || self.writes();
        let exact = |classes: &[Class]| -> Vec<usize> {
            writes()
                .filter(|&at| self.all[at].classes.iter().any(|c| classes.contains(c)))
                .collect()
        };
        let akin = |classes: &[Class]| -> Vec<usize> {
            let akin = |one: &Class| {
                classes
                    .iter()
                    .any(|&other| self.lexicon.are_akin(*one, other))
            };
            writes()
                .filter(|&at| self.all[at].classes.iter().any(akin))
                .collect()
        };
        let unnamed = || {
            writes()
                .filter(|&at| self.all[at].classes.is_empty())
                .collect()
        };
        if said.verbs.is_empty() && said.things.is_empty() {
            return (writes().collect(), false);
        }
        if said.verbs.iter().any(|&class| self.lexicon.is_read(class)) && said.verbs.len() == 1 {
            return (Vec::new(), false);
        }
        let mut tiers = vec![
            exact(&said.verbs),
            exact(&said.things),
            akin(&said.verbs),
            akin(&said.things),
        ];
        if said.light && !said.things.is_empty() {
            tiers.swap(0, 1);
        } else if !said.verbs.is_empty() {
            // "Cancelled your booking" is no word of having booked.
            let takes_back = |&class: &Class| self.lexicon.takes_back(class);
            if !said.general && said.verbs.iter().all(takes_back) {
                tiers[1].clear();
                tiers[3].clear();
            }
            tiers.swap(1, 2);
        }
        if let Some(tier) = tiers.into_iter().find(|tier| !tier.is_empty()) {
            return (tier, false);
        }
        let unnamed: Vec<usize> = unnamed();
        let is_general = said.general && (said.weak || !said.verbs.is_empty());
        if unnamed.is_empty() && is_general {
            (writes().collect(), true)
        } else {
            (unnamed, true)
        }
    }

    /// The actions that change something.
    pub(crate) fn writes(&self) -> impl Iterator<Item = usize> {
        (0..self.all.len()).filter(|&at| !self.all[at].is_read)
    }

    pub(crate) fn is_lookup(&self, said: &Statement) -> bool {
        !said.verbs.is_empty() && said.verbs.iter().all(|&class| self.lexicon.is_read(class))
    }

    pub(crate) fn outcome(&self, at: usize) -> Outcome {
        self.all[at].outcome
    }

    pub(crate) fn is_done(&self, at: usize) -> bool {
        self.outcome(at).is_done()
    }

    pub(crate) fn is_read(&self, class: Class) -> bool {
        self.lexicon.is_read(class)
    }

    pub(crate) fn has_class(&self, at: usize, class: Class) -> bool {
        self.all[at].classes.contains(&class)
    }

    pub(crate) fn amounts(&self, at: usize) -> &[u64] {
        &self.all[at].amounts
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
}

/// The actions of a statement.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) kind: Kind,
    pub(crate) actions: Vec<usize>,
    /// They are meant one by one, not as a group.
    pub(crate) is_exact: bool,
    /// Nothing in the words says that these are meant, only that no others are.
    pub(crate) is_guess: bool,
}

/// The actions at the given places, counted from one.
fn places(places: &[i32], actions: &[usize]) -> Vec<usize> {
    let pick = |&place: &i32| match place {
        -1 => actions.last().copied(),
        place => usize::try_from(place - 1)
            .ok()
            .and_then(|at| actions.get(at).copied()),
    };
    places.iter().filter_map(pick).collect()
}

/// The word that stands for all calls of one tool on the same resources.
fn latest(actions: &[Action], action: &Action) -> Outcome {
    let same =
        |other: &&Action| other.tool == action.tool && other.resource_ids == action.resource_ids;
    let rank = |outcome| match outcome {
        Outcome::Ok => 4,
        Outcome::AlreadyDone => 3,
        Outcome::Unknown => 2,
        Outcome::Skipped => 1,
        Outcome::Failed => 0,
    };
    let outcomes = actions.iter().filter(same).map(|other| other.outcome);
    let best = outcomes.max_by_key(|&outcome| rank(outcome));
    best.filter(|_| !action.resource_ids.is_empty())
        .unwrap_or(action.outcome)
}
