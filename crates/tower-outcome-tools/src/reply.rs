//! Checks a model's reply against what its tool calls came to, before a customer reads it.
//!
//! A tripwire, not understanding: it knows verbs, negations and conditions of seven languages as
//! data ([`Lexicon`]), links what a reply says to the entries of the ledger by kind of action, id
//! and count, and flags what does not fit. It never calls a model and never blocks by itself; the
//! caller decides whether to log, to ask the model once more with the flags as feedback, or to send
//! the [summary](ReplyChecker::summary), which is written from the entries and cannot be wrong.
//!
//! Flagged are success told of anything but `ok` and `already_done`, failure told of an `unknown`
//! (it invites a second send), invitations to repeat what may have happened, claims and promises
//! with no action behind them, and doubled claims. Left alone are honest doubt, attempts, handed-in
//! requests, conditions, questions, quotes and what others did.
//!
//! ```
//! use tower_outcome_core::Outcome;
//! use tower_outcome_tools::reply::{Action, Reason, ReplyChecker};
//!
//! let checker = ReplyChecker::new();
//! let actions = [Action::new("refund_order", Outcome::Unknown).with_resource("A-1001")];
//!
//! let verdict = checker.check("Good news! I refunded order #A1001.", &actions);
//! assert_eq!(verdict.flags()[0].reason, Reason::ClaimsSuccess);
//! assert_eq!(verdict.flags()[0].action, Some(0));
//!
//! let honest = checker.check("The refund of A-1001 is not confirmed yet.", &actions);
//! assert!(honest.is_clean());
//! ```

mod action;
mod clause;
mod count;
mod entries;
mod judge;
mod layout;
pub mod lexicon;
mod link;
mod money;
mod only;
mod quote;
mod reader;
mod receipts;
mod scope;
mod selection;
mod sentence;
mod statement;
mod summary;
mod surroundings;
mod telling;
mod text;
mod tool_words;

pub use action::Action;
pub use lexicon::{Lexicon, LexiconError};
pub use receipts::strip_receipts;

use entries::Entries;
use judge::Judge;
use link::Directory;
use tool_words::ToolWords;

/// Compares replies with ledger entries.
///
/// See the [module docs](self).
#[derive(Clone, Debug, Default)]
pub struct ReplyChecker {
    lexicon: Lexicon,
}

impl ReplyChecker {
    /// A checker with the built-in words.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A checker with words of your own.
    #[must_use]
    pub const fn with_lexicon(lexicon: Lexicon) -> Self {
        Self { lexicon }
    }

    /// What in `reply` does not fit `actions`: the calls of this turn, reads among them, and the
    /// unresolved ones of the conversation.
    ///
    /// The work is linear in the length of the reply.
    pub fn check(&self, reply: &str, actions: &[Action]) -> Verdict {
        let directory = Directory::new(actions);
        let words = ToolWords::new(&self.lexicon, actions);
        let said = reader::read(&self.lexicon, &directory, &words, reply);
        Verdict {
            flags: Judge::new(Entries::new(&self.lexicon, actions)).judge(said),
        }
    }

    /// Checks the receipts of a reply, in no matter which language.
    ///
    /// `[r1]` says that the first action is done, `[r1 unknown]` that it ended in that word. Every
    /// action has to be cited, and every receipt has to be true. [`strip_receipts`] takes the marks
    /// out before a customer reads the reply.
    ///
    /// ```
    /// use tower_outcome_core::Outcome;
    /// use tower_outcome_tools::reply::{Action, ReplyChecker};
    ///
    /// let checker = ReplyChecker::new();
    /// let actions = [Action::new("refund_order", Outcome::Unknown)];
    /// assert!(!checker.check_receipts("Hyvitetty [r1].", &actions).is_clean());
    /// assert!(checker.check_receipts("Vahvistetaan [r1 unknown].", &actions).is_clean());
    /// ```
    pub fn check_receipts(&self, reply: &str, actions: &[Action]) -> Verdict {
        Verdict {
            flags: receipts::check(reply, actions),
        }
    }

    /// What became of `actions`, a line each, in English; empty for no actions.
    #[must_use]
    pub fn summary(&self, actions: &[Action]) -> String {
        self.summary_in("en", actions)
    }

    /// What became of `actions`, a line each, in the language of that code, or in English where the
    /// lexicon has no summary for it.
    #[must_use]
    pub fn summary_in(&self, language: &str, actions: &[Action]) -> String {
        summary::render(&self.lexicon, language, actions)
    }
}

/// The flags that a reply has earned.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[must_use]
pub struct Verdict {
    flags: Vec<Flag>,
}

impl Verdict {
    /// Whether nothing was flagged. No proof that the reply is true.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.flags.is_empty()
    }

    /// The flags, in the order of the reply.
    #[must_use]
    pub fn flags(&self) -> &[Flag] {
        &self.flags
    }
}

/// A sentence that does not fit the ledger.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Flag {
    /// The sentence, or the list item with what it stands under.
    pub sentence: String,
    /// The place of the entry among the actions; none where no action stands behind the words.
    pub action: Option<usize>,
    /// What is wrong.
    pub reason: Reason,
}

/// Why a sentence was flagged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// An action has no receipt.
    CitesNothing,
    /// A receipt for an action that is not there.
    CitesUnknownReceipt,
    /// A receipt says another word than the entry.
    CitesWrongOutcome,
    /// Failure is told of what happened or may have.
    ClaimsFailure,
    /// Success is told of what is not known to have happened.
    ClaimsSuccess,
    /// More is told to have been done than was.
    ClaimsTwice,
    /// Something is told to have been done that no action of this ledger does.
    ClaimsWithoutAction,
    /// The customer is asked to repeat what may have happened.
    InvitesRepeat,
    /// Another amount than the entry's.
    NamesWrongAmount,
    /// Something is promised that no action of this ledger does.
    PromisesWithoutAction,
}
