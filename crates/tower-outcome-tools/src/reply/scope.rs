//! Negation, doubt, conditions and the like: what reaches the predicates of a clause.

use super::clause::{Clause, Condition, Opener, Sentence};
use super::lexicon::{Hit, Role};
use super::statement::Kind;
use super::text::Kind as Token;

/// What reaches the predicates of one clause.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    start: usize,
    end: usize,
    /// Negation and the like, carried over from the clause that this one continues.
    carried: Option<Box<Scope>>,
    pub(crate) again: bool,
    pub(crate) being: bool,
    pub(crate) future: bool,
    /// "Do not send it again."
    pub(crate) imperative: bool,
    pub(crate) me: bool,
    pub(crate) perfect: bool,
    pub(crate) question: bool,
    pub(crate) reported: bool,
    pub(crate) yet: bool,
    condition: Option<Condition>,
    doubted: bool,
    first_attempt: bool,
    generic: bool,
    inside_condition: bool,
    trailing_condition: bool,
    third: bool,
}

impl Scope {
    pub(crate) fn new(
        sentence: &Sentence<'_>,
        clauses: &[Clause],
        at: usize,
        last: Option<&Self>,
    ) -> Self {
        let clause = clauses[at];
        let (start, end) = (clause.start, clause.end);
        let around = |role| sentence.around(role, start, end).is_some();
        let has = |role| sentence.has(role, start, end);
        let carried = last
            .filter(|_| continues(sentence, &clause))
            .cloned()
            .map(Box::new);
        let me = around(Role::Me) || carried.as_ref().is_some_and(|carried| carried.me);
        let sign = sentence
            .tokens
            .iter()
            .rev()
            .find(|token| token.kind == Token::Sign);
        let asks = sign.is_some_and(|sign| sign.text == "?")
            || sentence
                .scan
                .around
                .iter()
                .any(|hit| hit.roles.contains(&(Role::Question, None, 1)));
        Self {
            start,
            end,
            again: has(Role::Again) || has(Role::Twice),
            being: around(Role::Being),
            future: has(Role::Future) || carried.as_ref().is_some_and(|carried| carried.future),
            imperative: is_imperative(sentence, &clause),
            me,
            perfect: around(Role::Perfect)
                || carried.as_ref().is_some_and(|carried| carried.perfect),
            question: asks && is_asked(sentence, clauses, at),
            reported: around(Role::PastTime)
                || around(Role::By)
                || sentence.around(Role::Record, 0, end).is_some(),
            yet: around(Role::Yet),
            condition: governing(clauses, at),
            doubted: is_doubted(sentence, clauses, at),
            first_attempt: has(Role::FirstAttempt),
            generic: is_generic(sentence, &clause),
            inside_condition: clause.condition.is_some(),
            trailing_condition: clauses[at + 1..]
                .iter()
                .take_while(|c| c.opener != Opener::But)
                .any(|c| c.condition.is_some()),
            third: around(Role::By) || around(Role::Third) && !me,
            carried,
        }
    }

    /// The kind that is meant, if a statement is meant at all.
    pub(crate) fn admit(&self, sentence: &Sentence<'_>, kind: Kind, hit: &Hit) -> Option<Kind> {
        if kind == Kind::Unsure {
            return Some(kind);
        }
        let excused = self.inside_condition
            || self.doubted
            || self
                .condition
                .is_some_and(|condition| condition.excuses(kind, self.me))
            || self.trailing_condition && !matches!(kind, Kind::Done | Kind::Failed | Kind::Sent)
            || self.first_attempt && kind == Kind::Failed;
        let told = matches!(kind, Kind::Done | Kind::Promise | Kind::Progress);
        let general = self.generic && told && !((self.perfect || self.me) && kind == Kind::Done);
        let theirs = self.third && kind == Kind::Done && self.is_theirs(sentence, hit);
        let relative = kind == Kind::Done && self.is_relative(sentence, hit);
        match () {
            () if excused || general || theirs || relative => None,
            () if self.question => (kind == Kind::Done).then_some(Kind::Asked),
            () => Some(kind),
        }
    }

    /// Whether a denial reaches the hit that no other denial takes back.
    pub(crate) fn negated(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        let denials = self.denials(sentence, hit);
        let untrue = sentence.has(Role::Untrue, self.start, self.end);
        untrue != (denials.len() > 2 * taken_back(&denials))
            || self
                .carried
                .as_ref()
                .is_some_and(|carried| carried.carries_negation(sentence, hit))
    }

    /// "did not fail to".
    pub(crate) fn affirmed(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        taken_back(&self.denials(sentence, hit)) > 0
    }

    fn denials<'s>(&self, sentence: &'s Sentence<'_>, hit: &Hit) -> Vec<&'s Hit> {
        sentence
            .hits(self.start, self.end)
            .filter(|other| other.is(Role::Not) || other.is(Role::Unable))
            .filter(|other| {
                // "I cancelled nothing", "neither of them".
                let is_object = other.is_postposed() && other.start <= hit.end + 1;
                sentence.pack.negates_backwards || other.start < hit.end || is_object
            })
            .collect()
    }

    /// Whether a modal stands right before the hit and belongs to it: "can no longer log in".
    pub(crate) fn modal_right_before(sentence: &Sentence<'_>, hit: &Hit) -> bool {
        sentence
            .scan
            .hits
            .iter()
            .any(|other| other.is(Role::Modal) && other.end == hit.start)
    }

    pub(crate) fn modal(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        self.before(sentence, hit, Role::Modal)
            || self
                .carried
                .as_ref()
                .is_some_and(|carried| sentence.has(Role::Modal, carried.start, carried.end))
    }

    pub(crate) fn future(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        hit.is(Role::Future)
            || self.before(sentence, hit, Role::Future)
            || self.carried.as_ref().is_some_and(|carried| carried.future)
    }

    /// "is being refunded".
    pub(crate) fn being(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        let before = sentence.before_adverbs(hit.start);
        sentence
            .around(
                Role::Being,
                before.saturating_sub(2).max(self.start),
                before,
            )
            .is_some()
            || sentence.pack.negates_backwards && self.being
    }

    /// "I did cancel it".
    pub(crate) fn did(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        let before = sentence.before_adverbs(hit.start);
        let near = before.saturating_sub(3).max(self.start);
        sentence
            .around(Role::Did, near, before)
            .is_some_and(|did| did.end == before)
    }

    pub(crate) fn me_right_before(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        let before = sentence.before_adverbs(hit.start);
        sentence
            .around(Role::Me, before.saturating_sub(2).max(self.start), hit.end)
            .is_some()
    }

    /// Whether a hit of `role` stands before, in most languages with no "that" or "I" between.
    fn before(&self, sentence: &Sentence<'_>, hit: &Hit, role: Role) -> bool {
        let barriers = sentence.scan.around.iter().filter(|other| {
            other.end <= hit.start
                && (other.is(Role::That) || other.is(Role::Me) && hit.is(Role::Past))
        });
        let from = barriers
            .map(|barrier| barrier.end)
            .max()
            .unwrap_or(0)
            .max(self.start);
        let backwards = sentence.pack.negates_backwards;
        let to = if backwards { self.end } else { hit.start };
        let from = if backwards { self.start } else { from };
        sentence.has(role, from, to)
    }

    fn carries_negation(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        let spoke = sentence
            .hits(self.start, self.end)
            .filter(|other| sentence.is_predicate(other, self.start, self.end));
        // "could not cancel it and refunded you": the second verb is no part of what failed.
        let parallel = spoke
            .last()
            .is_none_or(|last| last.is(Role::Base) == hit.is(Role::Base));
        parallel && sentence.has(Role::Not, self.start, self.end)
    }

    /// "The seller cancelled it", but not "the customer was refunded".
    fn is_theirs(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        if !hit.is(Role::Past) && !hit.is(Role::Participle) && !hit.is(Role::Light) {
            return false;
        }
        if sentence.around(Role::By, self.start, self.end).is_some() {
            return true;
        }
        let subject = sentence.around(Role::Third, self.start, hit.start);
        subject.is_some_and(|subject| {
            sentence
                .around(Role::Passive, subject.start, hit.start)
                .is_none()
        })
    }

    /// "Orders cancelled after noon are charged": the auxiliary comes behind.
    fn is_relative(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        let auxiliary = |from, to| sentence.around(Role::Auxiliary, from, to).is_some();
        let stands_alone = hit.is(Role::Past) && !self.me && self.carried.is_none();
        if stands_alone && sentence.opens_with_plural(hit) {
            return true;
        }
        let predicate = sentence
            .hits(hit.end, self.end)
            .any(|other| sentence.is_predicate(other, self.start, self.end));
        stands_alone
            && !sentence.pack.negates_backwards
            && !auxiliary(self.start, hit.start)
            && auxiliary(hit.end, self.end)
            && (predicate || sentence.has(Role::Modal, hit.end, self.end))
    }
}

/// How many denials deny another one: "did not fail to".
fn taken_back(denials: &[&Hit]) -> usize {
    let pairs = denials.windows(2);
    pairs
        .filter(|pair| {
            pair[0].is(Role::Not) && pair[1].is(Role::Unable) && pair[1].start <= pair[0].end + 1
        })
        .count()
}

/// Whether the clause goes on where the one before it left off: "and emailed Dana".
fn continues(sentence: &Sentence<'_>, clause: &Clause) -> bool {
    if !matches!(clause.opener, Opener::And | Opener::Comma) {
        return false;
    }
    let first = sentence
        .hits(clause.start, clause.end)
        .find(|hit| sentence.is_predicate(hit, clause.start, clause.end));
    first.is_some_and(|first| {
        (clause.start..sentence.before_adverbs(first.start)).all(|at| {
            sentence.tokens[at].kind == Token::Sign
                || sentence.around(Role::And, at, at + 1).is_some()
        })
    })
}

/// The condition that an earlier clause of the sentence puts on the clause.
fn governing(clauses: &[Clause], at: usize) -> Option<Condition> {
    if matches!(clauses[at].opener, Opener::But) {
        return None;
    }
    let earlier = clauses[..at].iter().rev();
    earlier
        .take_while(|c| !matches!(c.opener, Opener::But) || c.condition.is_some())
        .find_map(|c| c.condition)
}

fn is_doubted(sentence: &Sentence<'_>, clauses: &[Clause], at: usize) -> bool {
    let doubts = |clause: &Clause| sentence.has(Role::Doubt, clause.start, clause.end);
    let clause = &clauses[at];
    let before = clauses[..at].iter().rev().zip(clauses[..=at].iter().rev());
    let before = before
        .take_while(|(_, next)| next.opener != Opener::But)
        .any(|(c, _)| doubts(c));
    // "..., but I cannot confirm it": the doubt names nothing else.
    let names = |clause: &Clause| {
        sentence
            .mentions
            .iter()
            .any(|m| m.start >= clause.start && m.end <= clause.end)
            || sentence.has(Role::Thing, clause.start, clause.end)
    };
    let after = clauses[at + 1..].iter().any(|c| doubts(c) && !names(c));
    doubts(clause) || before || after
}

/// "Do not", "please don't": no one is said to have failed.
fn is_imperative(sentence: &Sentence<'_>, clause: &Clause) -> bool {
    let first = sentence
        .hits(clause.start, clause.end)
        .find(|hit| hit.is(Role::Not));
    first.is_some_and(|first| {
        (clause.start..first.start).all(|at| {
            let token = &sentence.tokens[at];
            token.kind == Token::Sign
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
fn is_generic(sentence: &Sentence<'_>, clause: &Clause) -> bool {
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
    let named = sentence
        .mentions
        .iter()
        .any(|m| m.start >= clause.start && m.end <= clause.end);
    plural && present && !named
}

/// Whether the question mark reaches the clause.
fn is_asked(sentence: &Sentence<'_>, clauses: &[Clause], at: usize) -> bool {
    let opens = |clause: &Clause| {
        let first = (clause.start..clause.end).find(|&at| sentence.tokens[at].kind == Token::Word);
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
    fn opens_with_plural(&self, hit: &Hit) -> bool {
        let end = self.tokens.len();
        let first = first_word(self, 0);
        let named = !self.mentions.is_empty();
        let noun = if first == hit.start { hit.end } else { first };
        let is_near = noun <= hit.end && hit.start <= noun + 1;
        let goes_on = (hit.end.max(noun + 1)..end)
            .filter(|&at| self.tokens[at].kind == Token::Word)
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
        .find(|&at| sentence.tokens[at].kind == Token::Word)
        .unwrap_or(sentence.tokens.len())
}
