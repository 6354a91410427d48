//! What a sentence says became of something.

use super::clause::Condition;
use super::lexicon::Class;
use super::selection::Selection;

/// One thing that a reply says.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each holds or does not, whatever the others do"
)]
pub(crate) struct Statement {
    pub(crate) kind: Kind,
    /// What was done, by the verb.
    pub(crate) verbs: Vec<Class>,
    /// The verb may stand for any other act as well.
    pub(crate) general: bool,
    /// What was done, by the nouns around it.
    pub(crate) things: Vec<Class>,
    /// The nouns are joined by "and": each is meant.
    pub(crate) joined: bool,
    /// The nouns say more than the verb: "sent the refund".
    pub(crate) light: bool,
    pub(crate) selection: Selection,
    /// Says that we did or will do it.
    pub(crate) own: bool,
    /// "has been", "is now": not a mere report of the past.
    pub(crate) perfect: bool,
    /// Told as somebody else's act, or as history.
    pub(crate) reported: bool,
    /// A consequence or a closing word rather than the act itself.
    pub(crate) weak: bool,
    /// Done once more.
    pub(crate) again: bool,
    /// "Probably", "I think": excuses nothing by itself.
    pub(crate) hedged: bool,
    /// The statement stands in a "because".
    pub(crate) reason: bool,
    /// Speaks of this customer's matter and not of matters in general.
    pub(crate) addressed: bool,
    /// Speaks of one thing alone: what is said of it is not so of the rest.
    pub(crate) only: bool,
    /// Speaks of it, this or them.
    pub(crate) pronoun: bool,
}

/// The kind of a statement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// "Was it refunded?"
    Asked,
    Done,
    Failed,
    /// "You can try again."
    Invite,
    Progress,
    Promise,
    /// The request was handed over.
    Sent,
    Unsure,
}

impl Statement {
    /// Whether it says neither what was done nor to what.
    pub(crate) fn is_bare(&self) -> bool {
        self.verbs.is_empty() && self.things.is_empty() && !self.selection.names_any()
    }
}

impl Condition {
    pub(crate) fn excuses(self, kind: Kind, own: bool) -> bool {
        match self {
            Self::If => !(kind == Kind::Done && own),
            Self::When => kind != Kind::Done,
        }
    }
}
