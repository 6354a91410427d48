//! Reads the statements out of a sentence.

use super::clause::{Clause, Opener, Sentence};
use super::lexicon::{Class, Hit, Role};
use super::scope::Scope;
use super::selection::Selection;
use super::statement::{Kind, Statement};
use super::text::Kind as Token;

impl Sentence<'_> {
    /// The statements of the sentence in order.
    pub(crate) fn statements(&self) -> Vec<Statement> {
        let clauses = self.clauses();
        let mut statements: Vec<Statement> = Vec::new();
        let mut scopes: Vec<Scope> = Vec::new();
        for at in 0..clauses.len() {
            let scope = Scope::new(self, &clauses, at, scopes.last());
            let from = statements.len();
            self.read(&clauses, at, &scope, &mut statements);
            if at > 0 && self.is_elliptic(&clauses[at]) && statements.len() == from {
                let denied = self.elliptic(&clauses[at], statements.last());
                if let (None, Some(last)) = (&denied, statements.last_mut()) {
                    // "the outbound flight, but not the return": not all, whichever it is.
                    last.selection.count = last.selection.count.or(Some(1));
                }
                statements.extend(denied);
            }
            drop_generic(&mut statements, from);
            scopes.push(scope);
        }
        statements
    }

    fn read(&self, clauses: &[Clause], at: usize, scope: &Scope, out: &mut Vec<Statement>) {
        let clause = clauses[at];
        let from = out.len();
        let mut spoke = false;
        let fails = self.pack.unspaced
            && self
                .hits(clause.start, clause.end)
                .any(|hit| hit.is(Role::Fail) || hit.is(Role::Sent));
        for hit in self.hits(clause.start, clause.end) {
            // Where nothing is inflected "cancelling failed" looks like "cancelled".
            if fails && hit.is(Role::Participle) {
                continue;
            }
            if !self.is_predicate(hit, clause.start, clause.end) && !self.is_doing(hit, &clause) {
                continue;
            }
            let kind = self
                .kind(hit, &clause, scope)
                .and_then(|kind| scope.admit(self, kind, hit));
            // Where nothing is inflected a verb with a tick behind it is still to be told.
            spoke |= kind.is_some() || !(self.pack.unspaced && hit.is(Role::Base));
            let said = kind.map(|kind| self.statement(kind, hit, &clause, scope));
            // "I made" says nothing without what.
            out.extend(
                said.filter(|said| {
                    !said.light || !said.verbs.is_empty() || !said.things.is_empty()
                }),
            );
        }
        let failed = |said: &Statement| said.kind == Kind::Failed && said.weak;
        if out[from..].iter().any(failed) {
            // "It ended in failure."
            let mut at = 0;
            out.retain(|said| {
                at += 1;
                at <= from || said.kind != Kind::Done
            });
        }
        let mark = |kind| {
            self.tokens[clause.start..clause.end]
                .iter()
                .any(|t| t.kind == kind)
        };
        if mark(Token::Cross) {
            for statement in &mut out[from..] {
                if statement.kind == Kind::Done {
                    statement.kind = Kind::Failed;
                }
            }
        }
        if !spoke && clause.condition.is_none() && !scope.question {
            let kind = if mark(Token::Cross) {
                Some(Kind::Failed)
            } else if mark(Token::Wait) {
                Some(Kind::Unsure)
            } else {
                mark(Token::Tick).then_some(Kind::Done)
            };
            let all = Hit {
                start: clause.end,
                end: clause.end,
                roles: Vec::new(),
            };
            out.extend(kind.map(|kind| self.statement(kind, &all, &clause, scope)));
        }
    }

    /// "I am refunding", "refunding A-1001 now".
    fn is_doing(&self, hit: &Hit, clause: &Clause) -> bool {
        let before = self.before_adverbs(hit.start);
        let opens = self.is_open(clause.start, hit.start);
        // "Cancelling it is no longer possible" is about cancelling.
        let is_subject = || {
            let predicates = self.hits(clause.start, clause.end);
            self.around(Role::Auxiliary, hit.end, clause.end).is_some()
                || predicates
                    .filter(|other| other.start != hit.start)
                    .any(|other| self.is_predicate(other, clause.start, clause.end))
        };
        hit.is(Role::Ing)
            && (self
                .around(Role::Did, before.saturating_sub(3), before)
                .is_some_and(|did| did.end == before)
                || opens && !is_subject()
                || before > 0
                    && self.around(Role::Present, before - 1, before).is_some()
                    && self.around(Role::Me, clause.start, hit.start).is_some())
    }

    fn kind(&self, hit: &Hit, clause: &Clause, scope: &Scope) -> Option<Kind> {
        let negated = scope.negated(self, hit);
        let yet = scope.yet;
        let failed = if yet { Kind::Unsure } else { Kind::Failed };
        let is = |role| hit.is(role);
        if is(Role::Retry) {
            return match (negated, scope.future && scope.me) {
                (true, _) => None,
                (false, true) => Some(Kind::Promise),
                (false, false) => (!scope.me).then_some(Kind::Invite),
            };
        }
        if is(Role::Doubt) || is(Role::Unsure) {
            return Some(Kind::Unsure);
        }
        if is(Role::Fail) || is(Role::Trouble) {
            let denied = scope.denied(self, hit);
            return Some(if denied { Kind::Done } else { Kind::Failed });
        }
        if is(Role::Confirm) {
            return Some(if negated || scope.being || scope.modal(self, hit) {
                Kind::Unsure
            } else {
                Kind::Done
            });
        }
        if is(Role::Sent) {
            return match (negated, scope.future || scope.modal(self, hit)) {
                (true, _) => Some(failed),
                (false, true) => (scope.future && scope.me).then_some(Kind::Promise),
                (false, false) => Some(Kind::Sent),
            };
        }
        if is(Role::Ing) && scope.did(self, hit) {
            return Some(if negated { failed } else { Kind::Done });
        }
        if is(Role::Ongoing) || is(Role::Ing) && self.is_doing(hit, clause) {
            return (!negated && !scope.modal(self, hit)).then_some(Kind::Progress);
        }
        let tells = [Role::Claim, Role::Light, Role::Past, Role::Redone];
        let is_finite = is(Role::Participle) && self.is_finite(hit, clause.start, clause.end);
        if is_finite || tells.iter().any(|role| is(*role)) {
            return match () {
                () if negated => Some(failed),
                () if scope.being(self, hit) => Some(Kind::Progress),
                () if scope.modal(self, hit) => None,
                () if scope.future(self, hit) => Some(Kind::Promise),
                () => Some(Kind::Done),
            };
        }
        if is(Role::Result) || is(Role::Closing) {
            let open = scope.modal(self, hit) && !Scope::modal_right_before(self, hit);
            // "Nothing left to do" denies by itself.
            let denied = negated && !is(Role::Closing);
            return (!denied && !open).then_some(Kind::Done);
        }
        // A verb form that is no claim by itself.
        match () {
            () if negated => (!scope.imperative).then_some(failed),
            () if scope.did(self, hit) || scope.affirmed(self, hit) => Some(Kind::Done),
            () if scope.future(self, hit) => scope.me.then_some(Kind::Promise),
            () if scope.modal(self, hit) => None,
            () => scope.me_right_before(self, hit).then_some(Kind::Promise),
        }
    }

    fn statement(&self, kind: Kind, hit: &Hit, clause: &Clause, scope: &Scope) -> Statement {
        const VERBS: [Role; 9] = [
            Role::Past,
            Role::Participle,
            Role::Base,
            Role::Ing,
            Role::Result,
            Role::Redone,
            Role::Claim,
            Role::Fail,
            Role::Sent,
        ];
        let mut verbs: Vec<Class> = hit.classes(&VERBS).collect();
        verbs.sort_unstable();
        verbs.dedup();
        let excepted = self.excepted();
        let nouns: Vec<&Hit> = self
            .hits(clause.start, clause.end)
            .filter(|other| other.start != hit.start && !excepted.contains(&other.start))
            .filter(|other| {
                !self.is_predicate(other, clause.start, clause.end) || other.is(Role::Thing)
            })
            .collect();
        let roles = [
            Role::Thing,
            Role::Base,
            Role::Ing,
            Role::Past,
            Role::Participle,
        ];
        let mut things: Vec<Class> = nouns.iter().flat_map(|noun| noun.classes(&roles)).collect();
        things.sort_unstable();
        things.dedup();
        let joined = nouns.iter().zip(nouns.iter().skip(1)).any(|(one, other)| {
            other.start.saturating_sub(one.end) <= 3
                && (self.around(Role::And, one.end, other.start).is_some()
                    || self.tokens[one.end.min(other.start)..other.start]
                        .iter()
                        .any(|token| token.text == ","))
        });
        Statement {
            kind,
            verbs,
            general: hit.is_general(&VERBS) || hit.is(Role::Closing),
            things,
            joined,
            light: hit.is(Role::Light),
            selection: Selection::new(self, clause),
            own: scope.is_own(self, hit) || self.opens(hit, clause),
            perfect: scope.perfect,
            reported: scope.reported,
            weak: [Role::Closing, Role::Fail, Role::Result, Role::Trouble]
                .iter()
                .any(|role| hit.is(*role)),
            again: hit.is(Role::Redone) || scope.again && self.is_again(kind, hit, clause),
            hedged: self.around(Role::Hedge, clause.start, clause.end).is_some(),
            reason: clause.opener == Opener::Because
                || clause.start > 0 && self.tokens[clause.start - 1].text == "(",
            addressed: self.is_addressed(clause),
            only: self.is_of_one_only(clause),
            pronoun: self
                .around(Role::Pronoun, clause.start, clause.end)
                .is_some(),
        }
    }

    /// "It failed, please file it again": it is not said to have failed again.
    fn is_again(&self, kind: Kind, hit: &Hit, clause: &Clause) -> bool {
        let mut again = self
            .hits(clause.start, clause.end)
            .filter(|other| other.is(Role::Again) || other.is(Role::Twice));
        kind != Kind::Failed
            || again.any(|again| again.start < hit.end || !self.is_parted(hit.end, again.start))
    }

    fn is_addressed(&self, clause: &Clause) -> bool {
        let around = |role| self.around(role, clause.start, clause.end).is_some();
        let words = self.tokens[clause.start..clause.end]
            .iter()
            .filter(|token| token.kind == Token::Word)
            .count();
        around(Role::Your)
            || around(Role::Pronoun)
            || words <= FEW_WORDS
            || self.pack.unspaced
            || self.names(clause.start, clause.end)
    }

    /// "Yes, it was.": affirms what was asked before.
    pub(crate) fn affirms(&self) -> bool {
        let first = self.scan.around(Role::Affirm).first();
        first.is_some_and(|first| {
            self.tokens[..first.start]
                .iter()
                .all(|token| token.kind == Token::Sign)
        })
    }

    /// Whether the clause begins with the hit, as in "Refunded A-1001".
    fn opens(&self, hit: &Hit, clause: &Clause) -> bool {
        let before = self.before_adverbs(hit.start);
        clause.start == 0
            && (hit.is(Role::Past) || hit.is(Role::Ing))
            && self.is_open(clause.start, before.max(clause.start))
            && !self.names(clause.start, hit.start)
    }

    /// Whether nothing but signs and words such as "okay" stands within the bounds.
    fn is_open(&self, start: usize, end: usize) -> bool {
        (start..end).all(|at| {
            let masked = |hit: &Hit| hit.is(Role::Mask) && hit.start <= at && at < hit.end;
            self.tokens[at].kind != Token::Word || self.hits(start, end).any(masked)
        })
    }

    /// "but not A-1002": what the clause before says, denied.
    fn elliptic(&self, clause: &Clause, last: Option<&Statement>) -> Option<Statement> {
        let last = last.filter(|last| last.kind == Kind::Done)?;
        let selection = Selection::new(self, clause);
        let things: Vec<Class> = self
            .hits(clause.start, clause.end)
            .flat_map(|hit| hit.classes(&[Role::Thing]))
            .collect();
        if !selection.names_any() && things.is_empty() {
            return None;
        }
        let yet = self.around(Role::Yet, clause.start, clause.end).is_some();
        let kind = if yet { Kind::Unsure } else { Kind::Failed };
        let verbs = if things.is_empty() {
            last.verbs.clone()
        } else {
            Vec::new()
        };
        let things = if things.is_empty() {
            last.things.clone()
        } else {
            things
        };
        Some(Statement {
            kind,
            verbs,
            things,
            selection,
            again: false,
            ..last.clone()
        })
    }
}

/// A clause of so few words is no general remark.
const FEW_WORDS: usize = 4;

/// In one clause a word such as "successfully" says no more than the verb beside it.
fn drop_generic(statements: &mut Vec<Statement>, from: usize) {
    let specific = statements[from..].iter().any(|s| !s.verbs.is_empty());
    let mut at = 0;
    statements.retain(|statement| {
        at += 1;
        at <= from
            || !specific
            || !statement.verbs.is_empty()
            || !matches!(statement.kind, Kind::Done | Kind::Promise)
    });
}
