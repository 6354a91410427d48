//! Holds what a reply says against what the ledger knows.

use tower_outcome_core::Outcome;

use super::entries::{Entries, Link};
use super::lexicon::Class;
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

/// Compares statements with entries.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    entries: Entries<'a>,
}

impl<'a> Judge<'a> {
    pub(crate) const fn new(entries: Entries<'a>) -> Self {
        Self { entries }
    }

    /// The flags that the statements of one reply deserve.
    pub(crate) fn judge(&self, mut said: Vec<Said>) -> Vec<Flag> {
        for said in &mut said {
            // "Status: success" is no word of a look-up.
            let things = &mut said.statement.things;
            things.retain(|&class| !self.entries.is_read(class));
        }
        self.complete(&mut said);
        let links: Vec<Link> = self.links(&said);
        let spoken = Spoken::new(self.entries.len(), &links);
        let mut flags: Vec<Flag> = Vec::new();
        for (said, link) in said.iter().zip(&links) {
            if let Some((reason, action)) = self.fault(&said.statement, link, &spoken) {
                let flag = Flag {
                    sentence: said.text.clone(),
                    action,
                    reason,
                };
                if !flags.iter().rev().take(NEAR).any(|near| *near == flag) {
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
        spoken: &Spoken,
    ) -> Option<(Reason, Option<usize>)> {
        if link.actions.is_empty() {
            return self.is_unbacked(said).map(|reason| (reason, None));
        }
        let blame = |reason, action: Option<usize>| action.map(|action| (reason, Some(action)));
        match said.kind {
            Kind::Done => self
                .undone(said, link, spoken)
                .and_then(|action| blame(Reason::ClaimsSuccess, Some(action)))
                .or_else(|| blame(Reason::ClaimsTwice, self.doubled(said, link)))
                .or_else(|| blame(Reason::NamesWrongAmount, self.wrong_amount(said, link))),
            Kind::Failed => blame(Reason::ClaimsFailure, self.unfailed(said, link, spoken))
                .or_else(|| blame(Reason::ClaimsSuccess, self.undone_rest(said, link, spoken))),
            Kind::Invite => {
                let failed = link
                    .actions
                    .iter()
                    .any(|&at| self.entries.outcome(at) == Outcome::Failed);
                let open = |&&at: &&usize| {
                    matches!(
                        self.entries.outcome(at),
                        Outcome::Skipped | Outcome::Unknown
                    )
                };
                let open = link.actions.iter().find(open).copied();
                blame(Reason::InvitesRepeat, open.filter(|_| !failed))
            }
            Kind::Promise if said.verbs.iter().any(|&class| self.entries.is_read(class)) => None,
            Kind::Promise => {
                let done = link.actions.iter().any(|&at| self.entries.is_done(at));
                let kept = |at: &&usize| !said.own && self.entries.outcome(**at) != Outcome::Failed;
                let open = link.actions.iter().find(|at| !kept(at)).copied();
                blame(Reason::PromisesWithoutAction, open.filter(|_| !done))
            }
            Kind::Progress | Kind::Sent => {
                let failed = link
                    .actions
                    .iter()
                    .all(|&at| self.entries.outcome(at) == Outcome::Failed);
                let first = link.actions.first().copied();
                blame(Reason::ClaimsSuccess, first.filter(|_| failed))
            }
            Kind::Asked | Kind::Unsure => None,
        }
    }

    /// Whether a statement with no action to match needs one.
    fn is_unbacked(&self, said: &Statement) -> Option<Reason> {
        let reads = said.verbs.iter().any(|&class| self.entries.is_read(class));
        let bare = said.is_bare();
        let reported = said.reported && !said.own;
        if reads || reported || said.reason || bare && !self.entries.is_empty {
            return None;
        }
        match said.kind {
            Kind::Done if said.weak => (self.entries.is_empty && !said.verbs.is_empty())
                .then_some(Reason::ClaimsWithoutAction),
            Kind::Done => {
                let read_of = !said.selection.ids.is_empty() && !said.own;
                let told = (said.own || said.perfect) && !read_of
                    || self.entries.is_empty && said.addressed;
                told.then_some(Reason::ClaimsWithoutAction)
            }
            Kind::Progress | Kind::Sent => {
                (said.own || self.entries.is_empty && !bare).then_some(Reason::ClaimsWithoutAction)
            }
            Kind::Promise => (said.own || self.entries.is_empty && !bare)
                .then_some(Reason::PromisesWithoutAction),
            Kind::Asked | Kind::Failed | Kind::Invite | Kind::Unsure => None,
        }
    }

    /// An action that is claimed done and is not.
    fn undone(&self, said: &Statement, link: &Link, spoken: &Spoken) -> Option<usize> {
        let undone = |actions: &[usize]| {
            actions
                .iter()
                .find(|&&at| !self.entries.is_done(at))
                .copied()
        };
        let first = undone(&link.actions)?;
        let done = link
            .actions
            .iter()
            .filter(|&&at| self.entries.is_done(at))
            .count();
        let selection = &said.selection;
        let owned_up =
            |&at: &usize| self.entries.is_done(at) || spoken.of(at, &[Kind::Failed, Kind::Unsure]);
        if said.weak && link.actions.iter().all(owned_up) {
            return None;
        }
        if said.hedged && spoken.of(first, &[Kind::Unsure]) {
            // "It is probably done, but that is not confirmed yet."
            return None;
        }
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
                let of = |at: &&usize| self.entries.has_class(**at, *class);
                let mut of = link.actions.iter().filter(of).peekable();
                of.peek().is_some() && of.all(|&at| self.entries.is_done(at))
            };
            return (!said.things.iter().any(fits)).then_some(first);
        }
        if selection.all {
            return Some(first);
        }
        let open: Vec<usize> = link
            .actions
            .iter()
            .copied()
            .filter(|&at| self.entries.is_done(at) || !spoken.of(at, &DISCLOSURES))
            .collect();
        undone(if open.is_empty() {
            &link.actions
        } else {
            &open
        })
    }

    /// An action that is said to have failed and may well have happened.
    fn unfailed(&self, said: &Statement, link: &Link, spoken: &Spoken) -> Option<usize> {
        if said.again {
            return None;
        }
        let failed = link
            .actions
            .iter()
            .filter(|&&at| self.entries.outcome(at) == Outcome::Failed)
            .count();
        let one_of_many = link.actions.len() > 1 && !link.is_exact && !said.selection.all;
        if one_of_many && (said.selection.some || failed >= said.selection.count.unwrap_or(1)) {
            return None;
        }
        link.actions
            .iter()
            .copied()
            .find(|&at| match self.entries.outcome(at) {
                Outcome::Failed => false,
                Outcome::Unknown => !spoken.of(at, &[Kind::Unsure]),
                Outcome::Skipped => !spoken.of(at, &[Kind::Unsure, Kind::Progress, Kind::Sent]),
                Outcome::AlreadyDone | Outcome::Ok => {
                    !one_of_many
                        && !said.is_bare()
                        && !link.is_guess
                        && !said.reason
                        && !spoken.of(at, &[Kind::Done, Kind::Unsure])
                }
            })
    }

    /// "Only the mail failed": an action of which nobody says that it is not done.
    fn undone_rest(&self, said: &Statement, link: &Link, spoken: &Spoken) -> Option<usize> {
        let mut writes = self.entries.writes().filter(|_| said.only);
        writes.find(|at| {
            let open = !link.actions.contains(at) && !self.entries.is_done(*at);
            open && !spoken.of(*at, &DISCLOSURES)
        })
    }

    fn doubled(&self, said: &Statement, link: &Link) -> Option<usize> {
        let done = |outcome| {
            link.actions
                .iter()
                .copied()
                .find(|&at| self.entries.outcome(at) == outcome)
        };
        let times = said.selection.count.unwrap_or(1);
        if said.again && !said.weak {
            done(Outcome::AlreadyDone).or_else(|| {
                let count = link
                    .actions
                    .iter()
                    .filter(|&&at| self.entries.is_done(at))
                    .count();
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
        let known = link.actions.iter().flat_map(|&at| self.entries.amounts(at));
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
            let subject = |other: &&Said| {
                !other.statement.is_bare() && !self.entries.is_lookup(&other.statement)
            };
            let before = said[..at]
                .iter()
                .rev()
                .take_while(|o| near(o, 1))
                .find(subject);
            let after = said[at + 1..]
                .iter()
                .take_while(|o| near(o, 1))
                .find(subject)
                .filter(|after| after.statement.kind == said[at].statement.kind);
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
                if self.entries.link(&completed, &[]).is_exact {
                    said[at].statement = completed;
                }
            }
        }
    }

    fn links(&self, said: &[Said]) -> Vec<Link> {
        let mut seen = vec![false; self.entries.len()];
        let mut links = Vec::with_capacity(said.len());
        for said in said {
            let link = self.entries.link(&said.statement, &seen);
            if link.is_exact {
                for &at in &link.actions {
                    seen[at] = true;
                }
            }
            links.push(link);
        }
        links
    }
}

/// What the reply says of each action, here or there.
#[derive(Debug)]
struct Spoken {
    kinds: Vec<Vec<Kind>>,
}

impl Spoken {
    fn new(entries: usize, links: &[Link]) -> Self {
        let mut kinds = vec![Vec::new(); entries];
        for link in links {
            for &at in &link.actions {
                if !kinds[at].contains(&link.kind) {
                    kinds[at].push(link.kind);
                }
            }
        }
        Self { kinds }
    }

    /// Whether one of `kinds` is said of the action.
    fn of(&self, action: usize, kinds: &[Kind]) -> bool {
        self.kinds[action].iter().any(|kind| kinds.contains(kind))
    }
}

/// What tells that an action is not known to be done.
const DISCLOSURES: [Kind; 4] = [Kind::Failed, Kind::Progress, Kind::Sent, Kind::Unsure];
/// So many flags back the same one is not raised again.
const NEAR: usize = 4;
