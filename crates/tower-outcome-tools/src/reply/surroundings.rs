//! What the other clauses of a sentence, and the sentence as a whole, do to one clause.

use super::clause::{Clause, Condition, Opener, Sentence};
use super::lexicon::{Hit, Role};
use super::text::Kind;

/// Whether the clause goes on where the one before it left off: "and emailed Dana", and where
/// only the subject is shared "and will email Dana".
pub(crate) fn continues(sentence: &Sentence<'_>, clause: &Clause, subject_only: bool) -> bool {
    if !matches!(clause.opener, Opener::And | Opener::Comma) {
        return false;
    }
    let first = sentence
        .hits(clause.start, clause.end)
        .find(|hit| sentence.is_predicate(hit, clause.start, clause.end));
    first.is_some_and(|first| {
        (clause.start..sentence.before_adverbs(first.start)).all(|at| {
            sentence.tokens[at].kind == Kind::Sign
                || sentence.around(Role::And, at, at + 1).is_some()
                || subject_only
                    && [Role::Future, Role::Modal, Role::Not]
                        .iter()
                        .any(|role| sentence.has(*role, at, at + 1))
                || subject_only && sentence.around(Role::Auxiliary, at, at + 1).is_some()
        })
    })
}

/// "... und die Kundin informiert": where the verb stands last, its auxiliary is named once.
pub(crate) fn lacks_auxiliary(sentence: &Sentence<'_>, clause: &Clause) -> bool {
    sentence.pack.negates_backwards
        && matches!(clause.opener, Opener::And | Opener::Comma)
        && sentence
            .around(Role::Auxiliary, clause.start, clause.end)
            .is_none()
}

/// The condition that an earlier clause of the sentence puts on the clause.
pub(crate) fn governing(clauses: &[Clause], at: usize) -> Option<Condition> {
    if matches!(clauses[at].opener, Opener::But) {
        return None;
    }
    let earlier = clauses[..at].iter().rev();
    earlier
        .take_while(|c| !matches!(c.opener, Opener::But) || c.condition.is_some())
        .find_map(|c| c.condition)
}

pub(crate) fn is_doubted(sentence: &Sentence<'_>, clauses: &[Clause], at: usize) -> bool {
    let doubts = |clause: &Clause| sentence.has(Role::Doubt, clause.start, clause.end);
    let clause = &clauses[at];
    let before = clauses[..at].iter().rev().zip(clauses[..=at].iter().rev());
    let before = before
        .take_while(|(_, next)| next.opener != Opener::But)
        .any(|(c, _)| doubts(c));
    // "..., but I cannot confirm it": the doubt names nothing else.
    let names = |clause: &Clause| {
        sentence.names(clause.start, clause.end)
            || sentence.has(Role::Thing, clause.start, clause.end)
    };
    let after = clauses[at + 1..].iter().any(|c| doubts(c) && !names(c));
    doubts(clause) || before || after
}

/// "Do not", "please don't": no one is said to have failed.
pub(crate) fn is_imperative(sentence: &Sentence<'_>, clause: &Clause) -> bool {
    let first = sentence
        .hits(clause.start, clause.end)
        .find(|hit| hit.is(Role::Not));
    first.is_some_and(|first| {
        (clause.start..first.start).all(|at| {
            let token = &sentence.tokens[at];
            token.kind == Kind::Sign
                || sentence.around(Role::Did, at, at + 1).is_some()
                || sentence.around(Role::And, at, at + 1).is_some()
                || sentence.around(Role::Adverb, at, at + 1).is_some()
                || sentence.has(Role::Modal, at, at + 1)
                || sentence.has(Role::Because, at, at + 1)
                || sentence.has(Role::Split, at, at + 1)
        })
    })
}

/// "Refunds are issued to the card", "usually".
pub(crate) fn is_generic(sentence: &Sentence<'_>, clause: &Clause) -> bool {
    if sentence
        .around(Role::Generic, 0, sentence.tokens.len())
        .is_some()
    {
        return true;
    }
    let plural = sentence.is_plural(first_word(sentence, clause.start));
    let present = sentence
        .around(Role::Present, clause.start, clause.end)
        .is_some()
        || sentence.has(Role::Modal, clause.start, clause.end)
        || sentence.has(Role::Future, clause.start, clause.end);
    let named = sentence.names(clause.start, clause.end);
    plural && present && !named
}

/// "A booking is confirmed once ..." speaks of any booking.
pub(crate) fn is_indefinite(sentence: &Sentence<'_>, clause: &Clause) -> bool {
    let first = first_word(sentence, clause.start);
    let present = sentence
        .around(Role::Present, clause.start, clause.end)
        .is_some();
    present
        && sentence
            .around(Role::Indefinite, first, first + 1)
            .is_some()
}

/// Whether the question mark reaches the clause.
pub(crate) fn is_asked(sentence: &Sentence<'_>, clauses: &[Clause], at: usize) -> bool {
    let opens = |clause: &Clause| {
        let first = (clause.start..clause.end).find(|&at| sentence.tokens[at].kind == Kind::Word);
        first.is_some_and(|at| {
            sentence
                .around(Role::Question, at, clause.end)
                .is_some_and(|hit| hit.start == at)
        })
    };
    let last = clauses.len() - 1;
    let words = clauses[last].end - clauses[last].start;
    let tag = words <= 5
        && sentence
            .around(Role::Tag, clauses[last].start, clauses[last].end)
            .is_some();
    at == last
        || tag
        || opens(&clauses[0])
        || !matches!(
            clauses[last].opener,
            Opener::Break | Opener::Comma | Opener::But | Opener::And
        )
}

impl Sentence<'_> {
    /// "Cancelled orders are kept", "orders cancelled after noon are not".
    pub(crate) fn opens_with_plural(&self, hit: &Hit) -> bool {
        let end = self.tokens.len();
        let first = first_word(self, 0);
        let named = !self.mentions.is_empty();
        let noun = if first == hit.start { hit.end } else { first };
        let is_near = noun <= hit.end && hit.start <= noun + 1;
        let goes_on = (hit.end.max(noun + 1)..end)
            .filter(|&at| self.tokens[at].kind == Kind::Word)
            .count()
            > 1;
        let auxiliary = self.around(Role::Auxiliary, hit.end, end).is_some();
        let verb = first == hit.start || auxiliary || self.has(Role::Modal, hit.end, end);
        !named && is_near && goes_on && verb && self.is_plural(noun)
    }

    /// Whether a noun that actions are about stands there in the plural.
    fn is_plural(&self, at: usize) -> bool {
        let is_noun = |hit: &Hit| hit.is(Role::Thing) || hit.is(Role::Past);
        at < self.tokens.len()
            && self.tokens[at].text.ends_with(['s', 'n'])
            && (self.hits(at, at + 1).any(is_noun)
                || self.around(Role::Things, at, at + 1).is_some())
    }
}

fn first_word(sentence: &Sentence<'_>, from: usize) -> usize {
    let mut places = from..sentence.tokens.len();
    places
        .find(|&at| sentence.tokens[at].kind == Kind::Word)
        .unwrap_or(sentence.tokens.len())
}
