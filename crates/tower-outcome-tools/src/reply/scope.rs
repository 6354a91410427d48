//! Negation, doubt, conditions and the like: what reaches the predicates of a clause.

use super::clause::{Clause, Condition, Opener, Sentence};
use super::lexicon::{Hit, Role};
use super::statement::Kind;
use super::surroundings::{
    continues, governing, is_asked, is_doubted, is_generic, is_imperative, is_indefinite,
    lacks_auxiliary,
};
use super::text::Kind as Token;

/// What reaches the predicates of one clause.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each holds or does not, whatever the others do"
)]
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
    /// "A booking is confirmed ..."
    indefinite: bool,
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
            .filter(|_| continues(sentence, &clause, false))
            .map(|last| Box::new(last.for_next()));
        let shares_subject = || {
            last.is_some_and(|last| last.me)
                && (continues(sentence, &clause, true) || lacks_auxiliary(sentence, &clause))
        };
        let me = around(Role::Me) || shares_subject();
        let sign = sentence
            .tokens
            .iter()
            .rev()
            .find(|token| token.kind == Token::Sign);
        let asks = sign.is_some_and(|sign| sign.text == "?")
            || sentence
                .scan
                .around(Role::Question)
                .iter()
                .any(Hit::is_postposed);
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
            indefinite: is_indefinite(sentence, &clause),
            inside_condition: clause.condition.is_some(),
            trailing_condition: clauses[at + 1..]
                .iter()
                .take_while(|c| c.opener != Opener::But)
                .any(|c| c.condition.is_some()),
            third: around(Role::By) || around(Role::Third) && !me,
            carried,
        }
    }

    /// What a clause that goes on where this one left off takes over.
    fn for_next(&self) -> Self {
        Self {
            start: self.carried.as_ref().map_or(self.start, |c| c.start),
            carried: None,
            ..self.clone()
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
            || self.trailing_condition
                && (!matches!(kind, Kind::Done | Kind::Failed | Kind::Sent)
                    || hit.is(Role::Closing)
                    || hit.is(Role::Result))
            || self.first_attempt && kind == Kind::Failed
            || self.indefinite && self.trailing_condition && kind == Kind::Done;
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

    /// Whether a denial reaches the hit, from its own clause or the one that it goes on.
    pub(crate) fn negated(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        self.denied(sentence, hit)
            || self
                .carried
                .as_ref()
                .is_some_and(|carried| carried.carries_negation(sentence, hit))
    }

    /// Whether its own clause denies the hit with no other denial that takes it back.
    pub(crate) fn denied(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        let mut denials = self.denials(sentence, hit);
        if hit.is(Role::Fail) || hit.is(Role::Trouble) {
            // "It did not happen, and nothing was changed": the second is no denial of a failure.
            denials.retain(|denial| !sentence.is_parted(denial.end, hit.start));
        }
        let untrue = sentence.has(Role::Untrue, self.start, self.end);
        untrue != (denials.len() > 2 * taken_back(&denials))
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
                // "Your name is not on the list."
                let is_predicate = hit.is(Role::Result) && other.start == hit.end;
                sentence.pack.denies_anywhere()
                    || other.start < hit.end
                    || is_object
                    || is_predicate
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

    /// "I did cancel it", "it could be cancelled" where that tells of the past.
    pub(crate) fn did(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        let (backwards, unspaced) = (sentence.pack.negates_backwards, sentence.pack.unspaced);
        if backwards && unspaced {
            // It ends the verb.
            let mut did = sentence.scan.around(Role::Did).iter();
            return did.any(|did| (hit.end..=hit.end + 1).contains(&did.start));
        }
        if backwards {
            // The verb comes last.
            return sentence.around(Role::Did, self.start, self.end).is_some();
        }
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

    /// "I refunded it", but neither "I see that it was refunded" nor "I was refunded".
    pub(crate) fn is_own(&self, sentence: &Sentence<'_>, hit: &Hit) -> bool {
        let before = sentence.before_adverbs(hit.start);
        let passive = before > 0 && sentence.around(Role::Passive, before - 1, before).is_some();
        let that = sentence
            .around(Role::That, self.start, hit.start)
            .map_or(self.start, |that| that.end);
        let said = sentence.around(Role::Me, that, hit.end).is_some()
            || sentence.pack.denies_anywhere() && self.me
            || sentence.around(Role::Me, self.start, self.end).is_none() && self.me;
        said && !passive
    }

    /// Whether a hit of `role` stands before, in most languages with no "that" or "I" between.
    fn before(&self, sentence: &Sentence<'_>, hit: &Hit, role: Role) -> bool {
        let last = |role| {
            let hits = sentence.scan.around(role).iter();
            hits.map(|other| other.end).rfind(|&end| end <= hit.start)
        };
        let me = last(Role::Me).filter(|_| hit.is(Role::Past));
        let from = last(Role::That).max(me).unwrap_or(0).max(self.start);
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
            let between = subject.end..sentence.before_adverbs(hit.start).max(subject.end);
            between.len() <= LONGEST_SUBJECT
                && sentence.tokens[between]
                    .iter()
                    .all(|token| token.kind != Token::Sign)
                && sentence
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

/// So many words may stand between somebody else and what they did.
const LONGEST_SUBJECT: usize = 4;
