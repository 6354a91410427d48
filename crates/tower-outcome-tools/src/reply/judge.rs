//! Holds what a reply says against what the ledger knows.

use tower_outcome_core::Outcome;

use super::action::Action;
use super::lexicon::{Class, Lexicon};
use super::money;
use super::statement::{Kind, Statement};
use super::{Flag, Reason};

/// A statement and where it was made.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// The place of its sentence in the reply.
    pub(crate) sentence: usize,
    pub(crate) text: String,
    pub(crate) statement: Statement,
}

/// The actions as the reply should know them.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    lexicon: &'a Lexicon,
    entries: Vec<Entry>,
    is_empty: bool,
}

#[derive(Debug)]
struct Entry {
    classes: Vec<Class>,
    is_read: bool,
    outcome: Outcome,
    amounts: Vec<u64>,
}

impl<'a> Judge<'a> {
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
            entries: entries.collect(),
            is_empty: actions.is_empty(),
        }
    }

    /// The flags that the statements of one reply deserve.
    pub(crate) fn judge(&self, mut said: Vec<Said>) -> Vec<Flag> {
        self.complete(&mut said);
        let links: Vec<Link> = self.links(&said);
        let mut flags: Vec<Flag> = Vec::new();
        if std::env::var("RC_DEBUG").is_ok() {
            for (s, l) in said.iter().zip(&links) {
                let n = |c: &Vec<Class>| {
                    c.iter()
                        .map(|c| self.lexicon.name(*c).to_owned())
                        .collect::<Vec<_>>()
                };
                let t = &s.statement;
                eprintln!(
                    "   {:?} v{:?} t{:?} own{} perf{} rep{} weak{} again{} sel{:?} -> {:?} exact{}",
                    t.kind,
                    n(&t.verbs),
                    n(&t.things),
                    t.own,
                    t.perfect,
                    t.reported,
                    t.weak,
                    t.again,
                    t.selection,
                    l.actions,
                    l.is_exact
                );
            }
        }
        for (said, link) in said.iter().zip(&links) {
            let others = Others {
                judge: self,
                all: &links,
            };
            if let Some((reason, action)) = self.fault(&said.statement, link, &others) {
                let flag = Flag {
                    sentence: said.text.clone(),
                    action,
                    reason,
                };
                if !flags.contains(&flag) {
                    flags.push(flag);
                }
            }
        }
        flags
    }

    fn fault(
        &self,
        said: &Statement,
        link: &Link,
        others: &Others<'_>,
    ) -> Option<(Reason, Option<usize>)> {
        if link.actions.is_empty() {
            return self.is_unbacked(said).map(|reason| (reason, None));
        }
        let blame = |reason, action: Option<usize>| action.map(|action| (reason, Some(action)));
        match said.kind {
            Kind::Done => self
                .undone(said, link, others)
                .and_then(|action| blame(Reason::ClaimsSuccess, Some(action)))
                .or_else(|| blame(Reason::ClaimsTwice, self.doubled(said, link)))
                .or_else(|| blame(Reason::NamesWrongAmount, self.wrong_amount(said, link))),
            Kind::Failed => blame(Reason::ClaimsFailure, self.unfailed(said, link, others)),
            Kind::Invite => {
                let failed = link
                    .actions
                    .iter()
                    .any(|&at| self.outcome(at) == Outcome::Failed);
                let open =
                    |&&at: &&usize| matches!(self.outcome(at), Outcome::Skipped | Outcome::Unknown);
                let open = link.actions.iter().find(open).copied();
                blame(Reason::InvitesRepeat, open.filter(|_| !failed))
            }
            Kind::Promise if said.verbs.iter().any(|&class| self.lexicon.is_read(class)) => None,
            Kind::Promise => {
                let done = link.actions.iter().any(|&at| self.is_done(at));
                let kept = |at: &&usize| !said.own && self.outcome(**at) != Outcome::Failed;
                let open = link.actions.iter().find(|at| !kept(at)).copied();
                blame(Reason::PromisesWithoutAction, open.filter(|_| !done))
            }
            Kind::Progress | Kind::Sent => {
                let failed = link
                    .actions
                    .iter()
                    .all(|&at| self.outcome(at) == Outcome::Failed);
                let first = link.actions.first().copied();
                blame(Reason::ClaimsSuccess, first.filter(|_| failed))
            }
            Kind::Asked | Kind::Unsure => None,
        }
    }

    /// Whether a statement with no action to match needs one.
    fn is_unbacked(&self, said: &Statement) -> Option<Reason> {
        let reads = said.verbs.iter().any(|&class| self.lexicon.is_read(class));
        let bare = said.is_bare();
        if reads || said.reported || said.reason || bare && !self.is_empty {
            return None;
        }
        match said.kind {
            Kind::Done if said.weak => {
                (self.is_empty && !said.verbs.is_empty()).then_some(Reason::ClaimsWithoutAction)
            }
            Kind::Done => {
                let read_of = !said.selection.ids.is_empty() && !said.own;
                let told =
                    (said.own || said.perfect) && !read_of || self.is_empty && said.addressed;
                told.then_some(Reason::ClaimsWithoutAction)
            }
            Kind::Progress | Kind::Sent => {
                (said.own || self.is_empty && !bare).then_some(Reason::ClaimsWithoutAction)
            }
            Kind::Promise => {
                (said.own || self.is_empty && !bare).then_some(Reason::PromisesWithoutAction)
            }
            Kind::Asked | Kind::Failed | Kind::Invite | Kind::Unsure => None,
        }
    }

    /// An action that is claimed done and is not.
    fn undone(&self, said: &Statement, link: &Link, others: &Others<'_>) -> Option<usize> {
        let undone = |actions: &[usize]| actions.iter().find(|&&at| !self.is_done(at)).copied();
        let first = undone(&link.actions)?;
        let done = link.actions.iter().filter(|&&at| self.is_done(at)).count();
        let selection = &said.selection;
        if link.is_exact {
            return Some(first);
        }
        if let Some(count) = selection.count {
            return (done < count).then_some(first);
        }
        if let Some(count) = selection.left_out.filter(|_| selection.excepted.is_empty()) {
            return (done + count < link.actions.len()).then_some(first);
        }
        if said.verbs.is_empty() && said.things.len() > 1 && !said.joined {
            let fits = |class: &Class| {
                let of = |at: &&usize| self.entries[**at].classes.contains(class);
                let mut of = link.actions.iter().filter(of).peekable();
                of.peek().is_some() && of.all(|&at| self.is_done(at))
            };
            return (!said.things.iter().any(fits)).then_some(first);
        }
        if selection.all {
            return Some(first);
        }
        if said.weak
            && link
                .actions
                .iter()
                .all(|&at| self.is_done(at) || others.disclose(at))
        {
            return None;
        }
        let open: Vec<usize> = link
            .actions
            .iter()
            .copied()
            .filter(|&at| !others.disclose(at))
            .collect();
        undone(if open.is_empty() {
            &link.actions
        } else {
            &open
        })
    }

    /// An action that is said to have failed and may well have happened.
    fn unfailed(&self, said: &Statement, link: &Link, others: &Others<'_>) -> Option<usize> {
        if said.again {
            return None;
        }
        let failed = link
            .actions
            .iter()
            .filter(|&&at| self.outcome(at) == Outcome::Failed)
            .count();
        let one_of_many = link.actions.len() > 1 && !link.is_exact && !said.selection.all;
        if one_of_many && failed >= said.selection.count.unwrap_or(1) {
            return None;
        }
        link.actions
            .iter()
            .copied()
            .find(|&at| match self.outcome(at) {
                Outcome::Failed => false,
                Outcome::Unknown => !others.say(at, &[Kind::Unsure]),
                Outcome::Skipped => !others.say(at, &[Kind::Unsure, Kind::Progress, Kind::Sent]),
                Outcome::AlreadyDone | Outcome::Ok => {
                    !one_of_many
                        && !said.is_bare()
                        && !said.reason
                        && !others.say(at, &[Kind::Done, Kind::Unsure])
                }
            })
    }

    fn doubled(&self, said: &Statement, link: &Link) -> Option<usize> {
        let done = |outcome| {
            link.actions
                .iter()
                .copied()
                .find(|&at| self.outcome(at) == outcome)
        };
        let times = said.selection.count.unwrap_or(1);
        if said.again && !said.weak {
            done(Outcome::AlreadyDone).or_else(|| {
                let count = link.actions.iter().filter(|&&at| self.is_done(at)).count();
                link.actions
                    .first()
                    .copied()
                    .filter(|_| said.selection.twice && count < times.max(2))
            })
        } else {
            None
        }
    }

    fn wrong_amount(&self, said: &Statement, link: &Link) -> Option<usize> {
        let named = &said.selection.amounts;
        let known = link
            .actions
            .iter()
            .flat_map(|&at| &self.entries[at].amounts);
        let differs = !named.is_empty()
            && known.clone().next().is_some()
            && !known.clone().any(|a| named.contains(a));
        link.actions.first().copied().filter(|_| differs)
    }

    /// Gives statements that name nothing the subject of their neighbours.
    fn complete(&self, said: &mut [Said]) {
        for at in 0..said.len() {
            let near = |other: &&Said, reach| other.sentence.abs_diff(said[at].sentence) <= reach;
            let bare = said[at].statement.is_bare();
            let open =
                said[at].statement.selection.all || said[at].statement.selection.count.is_some();
            let subject =
                |other: &&Said| !other.statement.is_bare() && !self.is_lookup(&other.statement);
            let before = said[..at]
                .iter()
                .rev()
                .take_while(|o| near(o, 1))
                .find(subject);
            let after = said[at + 1..]
                .iter()
                .take_while(|o| near(o, 1))
                .find(subject);
            if bare && !open {
                let Some(source) = before.or(after).map(|other| other.statement.clone()) else {
                    continue;
                };
                let target = &mut said[at].statement;
                target.verbs = source.verbs;
                target.things = source.things;
                target.light = source.light;
                target.joined = source.joined;
                target.selection.ids = source.selection.ids;
                target.selection.ordinals = source.selection.ordinals;
            } else if !bare
                && said[at].statement.pronoun
                && !said[at].statement.selection.names_any()
            {
                let ids = before.map(|other| other.statement.selection.ids.clone());
                let mut completed = said[at].statement.clone();
                completed.selection.ids = ids.unwrap_or_default();
                if self.link(&completed, &[]).is_exact {
                    said[at].statement = completed;
                }
            }
        }
    }

    fn links(&self, said: &[Said]) -> Vec<Link> {
        let mut seen = Vec::new();
        let mut links = Vec::with_capacity(said.len());
        for said in said {
            let link = self.link(&said.statement, &seen);
            if link.is_exact {
                seen.extend(&link.actions);
            }
            links.push(link);
        }
        links
    }

    /// The actions that a statement speaks of.
    fn link(&self, said: &Statement, seen: &[usize]) -> Link {
        let mut actions = self.of_classes(said);
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
            actions = if is_exact { named } else { actions };
        }
        let excepted = |at: &usize| {
            selection.excepted.contains(at)
                || self.entries[*at]
                    .classes
                    .iter()
                    .any(|class| selection.excepted_things.contains(class))
        };
        actions.retain(|at| !excepted(at));
        if selection.rest && !is_exact {
            actions.retain(|at| !seen.contains(at));
        }
        if !selection.ordinals.is_empty() && !is_exact && actions.len() > 1 {
            let pick = |&place: &i32| match place {
                -1 => actions.last().copied(),
                place => usize::try_from(place - 1)
                    .ok()
                    .and_then(|at| actions.get(at).copied()),
            };
            let picked: Vec<usize> = selection.ordinals.iter().filter_map(pick).collect();
            if !picked.is_empty() {
                return Link {
                    kind: said.kind,
                    actions: picked,
                    is_exact: true,
                };
            }
        }
        is_exact |= actions.len() == 1;
        Link {
            kind: said.kind,
            actions,
            is_exact,
        }
    }

    fn of_classes(&self, said: &Statement) -> Vec<usize> {
        let writes = || (0..self.entries.len()).filter(|&at| !self.entries[at].is_read);
        let exact = |classes: &[Class]| -> Vec<usize> {
            writes()
                .filter(|&at| self.entries[at].classes.iter().any(|c| classes.contains(c)))
                .collect()
        };
        let akin = |classes: &[Class]| -> Vec<usize> {
            let akin = |one: &Class| {
                classes
                    .iter()
                    .any(|&other| self.lexicon.are_akin(*one, other))
            };
            writes()
                .filter(|&at| self.entries[at].classes.iter().any(akin))
                .collect()
        };
        let unnamed = || {
            writes()
                .filter(|&at| self.entries[at].classes.is_empty())
                .collect()
        };
        if said.verbs.is_empty() && said.things.is_empty() {
            return writes().collect();
        }
        if said.verbs.iter().any(|&class| self.lexicon.is_read(class)) && said.verbs.len() == 1 {
            return Vec::new();
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
            if said
                .verbs
                .iter()
                .all(|&class| self.lexicon.takes_back(class))
            {
                tiers[1].clear();
                tiers[3].clear();
            }
            tiers.swap(1, 2);
        }
        tiers.push(unnamed());
        if said.weak && said.verbs.is_empty() {
            tiers.push(writes().collect());
        }
        tiers
            .into_iter()
            .find(|tier| !tier.is_empty())
            .unwrap_or_default()
    }

    fn is_lookup(&self, said: &Statement) -> bool {
        !said.verbs.is_empty() && said.verbs.iter().all(|&class| self.lexicon.is_read(class))
    }

    fn outcome(&self, at: usize) -> Outcome {
        self.entries[at].outcome
    }

    fn is_done(&self, at: usize) -> bool {
        self.outcome(at).is_done()
    }
}

/// The actions of a statement.
#[derive(Debug)]
struct Link {
    kind: Kind,
    actions: Vec<usize>,
    /// They are meant one by one, not as a group.
    is_exact: bool,
}

/// What the rest of the reply says.
struct Others<'a> {
    judge: &'a Judge<'a>,
    all: &'a [Link],
}

impl Others<'_> {
    /// Whether the reply says one of `kinds` of the action.
    fn say(&self, action: usize, kinds: &[Kind]) -> bool {
        self.all
            .iter()
            .any(|link| kinds.contains(&link.kind) && link.actions.contains(&action))
    }

    /// Whether the reply says that the action is not known to be done.
    fn disclose(&self, action: usize) -> bool {
        !self.judge.is_done(action)
            && self.say(
                action,
                &[Kind::Failed, Kind::Progress, Kind::Sent, Kind::Unsure],
            )
    }
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
