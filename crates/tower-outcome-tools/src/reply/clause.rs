//! Cuts a sentence into clauses, each with one predicate or a chain of them.

use super::lexicon::{Hit, Pack, Role, Scan};
use super::link::Mention;
use super::text::{Kind, Token};

/// A sentence with all that was found in it.
#[derive(Debug)]
pub(crate) struct Sentence<'a> {
    pub(crate) pack: &'a Pack,
    pub(crate) tokens: Vec<Token>,
    pub(crate) scan: Scan,
    pub(crate) mentions: Vec<Mention>,
}

/// A part of a sentence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clause {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) opener: Opener,
    /// Stands under an "if" or a "when".
    pub(crate) condition: Option<Condition>,
    pub(crate) has_predicate: bool,
}

/// How a clause is tied to the one before it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Opener {
    Condition,
    But,
    Because,
    /// "so", "which", "then".
    Consequence,
    /// A colon, a dash, a bracket.
    Break,
    And,
    Comma,
}

/// "if" excuses whatever follows from it, "when" only what lies ahead.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Condition {
    If,
    When,
}

impl Sentence<'_> {
    /// The first hit of a role that owns no words, within the bounds.
    pub(crate) fn around(&self, role: Role, start: usize, end: usize) -> Option<&Hit> {
        let hits = self.scan.around(role);
        let from = hits.partition_point(|hit| hit.start < start);
        let mut within = hits[from..].iter().take_while(|hit| hit.start < end);
        within.find(|hit| hit.end <= end)
    }

    /// The hits that own their words and begin within the bounds.
    pub(crate) fn hits(&self, start: usize, end: usize) -> impl Iterator<Item = &Hit> {
        let from = self.scan.hits.partition_point(|hit| hit.start < start);
        self.scan.hits[from..]
            .iter()
            .take_while(move |hit| hit.start < end)
    }

    /// Whether an id stands within the bounds.
    pub(crate) fn names(&self, start: usize, end: usize) -> bool {
        let mut mentions = self.mentions.iter();
        mentions.any(|mention| mention.start >= start && mention.end <= end)
    }

    /// Whether a comma or an "and" parts what lies between the bounds.
    pub(crate) fn is_parted(&self, start: usize, end: usize) -> bool {
        (start..end).any(|at| {
            matches!(self.tokens[at].text.as_str(), "," | "、")
                || self.around(Role::And, at, at + 1).is_some()
        })
    }

    /// Whether the word is part of an id.
    pub(crate) fn is_named(&self, at: usize) -> bool {
        let mut mentions = self.mentions.iter();
        mentions.any(|mention| (mention.start..mention.end).contains(&at))
    }

    pub(crate) fn has(&self, role: Role, start: usize, end: usize) -> bool {
        self.hits(start, end).any(|hit| hit.is(role))
    }

    /// The start of what stands before `at`, adverbs skipped.
    pub(crate) fn before_adverbs(&self, mut at: usize) -> usize {
        while at > 0 && self.around(Role::Adverb, at - 1, at).is_some() {
            at -= 1;
        }
        at
    }

    /// Whether a determiner or a count makes an adjective of the hit: "the cancelled order".
    pub(crate) fn is_adjective(&self, hit: &Hit) -> bool {
        let at = self.before_adverbs(hit.start);
        let counts = |at: usize| {
            self.tokens[at].kind == Kind::Number || self.around(Role::Number, at, at + 1).is_some()
        };
        let is_noun = self.has(Role::Thing, hit.end, hit.end + 1)
            || self.around(Role::Things, hit.end, hit.end + 1).is_some();
        at > 0 && (self.around(Role::Determiner, at - 1, at).is_some() || is_noun && counts(at - 1))
    }

    /// Whether a verb form such as "refund" is used as a verb.
    pub(crate) fn is_cued(&self, hit: &Hit) -> bool {
        let at = self.before_adverbs(hit.start);
        let inflected = hit.is(Role::Future) || self.around(Role::Me, hit.start, hit.end).is_some();
        if inflected || self.pack.unspaced {
            return true;
        }
        if at > 0 && self.around(Role::Determiner, at - 1, at).is_some() {
            return false;
        }
        // Where the verb stands last its cue may be far off.
        let near = at.saturating_sub(if self.pack.negates_backwards { 12 } else { 2 });
        let is_modal = |other: &Hit| {
            [Role::Modal, Role::Future, Role::Not, Role::Unable]
                .iter()
                .any(|role| other.is(*role))
        };
        let before = |other: &&Hit| (near..=at).contains(&other.end) && other.start < hit.start;
        self.scan.hits.iter().filter(before).any(is_modal)
            || self.around(Role::Cue, near, at).is_some()
            || self.around(Role::Did, near, at).is_some()
    }

    /// Whether the hit can make a sentence.
    pub(crate) fn is_predicate(&self, hit: &Hit, start: usize, end: usize) -> bool {
        const PHRASES: [Role; 7] = [
            Role::Closing,
            Role::Doubt,
            Role::Ongoing,
            Role::Result,
            Role::Retry,
            Role::Trouble,
            Role::Unsure,
        ];
        const WORDS: [Role; 6] = [
            Role::Claim,
            Role::Confirm,
            Role::Fail,
            Role::Past,
            Role::Redone,
            Role::Sent,
        ];
        let is = |role: &Role| hit.is(*role);
        let is_adjective = || hit.end - hit.start == 1 && self.is_adjective(hit);
        PHRASES.iter().any(is)
            || WORDS.iter().any(is) && !is_adjective()
            || hit.is(Role::Participle) && self.is_finite(hit, start, end)
            || hit.is(Role::Light) && !hit.is(Role::Past)
            || hit.is(Role::Base) && self.is_cued(hit)
    }

    /// Whether a participle has its auxiliary, or stands in so few words that it needs none.
    pub(crate) fn is_finite(&self, hit: &Hit, start: usize, end: usize) -> bool {
        if self.is_adjective(hit) {
            return false;
        }
        let words = self.tokens[start..end]
            .iter()
            .filter(|token| token.kind == Kind::Word)
            .count();
        let pack = self.pack;
        let has_auxiliary = match (pack.negates_backwards, pack.unspaced) {
            // In Japanese the auxiliary follows, a particle away.
            (true, true) => {
                let mut auxiliaries = self.scan.around(Role::Auxiliary).iter();
                auxiliaries.any(|other| (hit.end..=hit.end + PARTICLE).contains(&other.start))
            }
            // In Romance languages what stands before the auxiliary is an adjective.
            (false, false) => self.around(Role::Auxiliary, start, hit.start).is_some(),
            _ => self.around(Role::Auxiliary, start, end).is_some(),
        };
        // A denial needs no auxiliary: before the verb in Chinese, behind it in Japanese.
        let is_denied = pack.unspaced
            && if pack.negates_backwards {
                self.has(Role::Not, hit.end, hit.end + INFLECTION)
            } else {
                self.has(Role::Not, start, hit.start)
            };
        has_auxiliary || is_denied || words <= pack.terse
    }

    /// The clauses in order, without gaps.
    pub(crate) fn clauses(&self) -> Vec<Clause> {
        let mut clauses: Vec<Clause> = Vec::new();
        for piece in self.pieces() {
            match clauses.last_mut() {
                Some(last) if self.extends(last, &piece) => {
                    last.end = piece.end;
                    last.has_predicate |= piece.has_predicate;
                    last.condition = last.condition.or(piece.condition);
                }
                _ => clauses.push(piece),
            }
        }
        clauses
    }

    fn extends(&self, last: &Clause, piece: &Clause) -> bool {
        if piece.opener == Opener::Condition {
            return false;
        }
        if last.condition.is_some() {
            return !piece.has_predicate && piece.opener != Opener::But;
        }
        if !last.has_predicate {
            // "Not to keep you waiting: it is done."
            let aside = piece.opener == Opener::But
                || piece.opener == Opener::Break && self.tokens[piece.start - 1].text == ":";
            return !(aside && self.has(Role::Not, last.start, last.end));
        }
        !piece.has_predicate && !self.is_elliptic(piece) && !self.is_topic(piece)
    }

    /// "but not A-1002", "A-1002 wasn't".
    pub(crate) fn is_elliptic(&self, piece: &Clause) -> bool {
        let hits = self.hits(piece.start, piece.end);
        let mut hits = hits.filter(|hit| !hit.is(Role::Mask) && !hit.is(Role::But));
        let Some(not) = hits.find(|hit| hit.is(Role::Not)) else {
            return false;
        };
        let is_joint = |at: usize| {
            self.tokens[at].kind == Kind::Sign
                || self.around(Role::And, at, at + 1).is_some()
                || self.has(Role::But, at, at + 1)
        };
        let opens = (piece.start..not.start).all(is_joint);
        let closes = (not.end..piece.end).all(is_joint)
            && (self.names(piece.start, not.start)
                || self.has(Role::Thing, piece.start, not.start));
        opens || closes
    }

    /// "B-2:" in front of what is said of it.
    fn is_topic(&self, piece: &Clause) -> bool {
        let closed = self.tokens[..piece.end]
            .last()
            .is_some_and(|token| is_break(&token.text) && token.text != ")");
        closed
            && (self.names(piece.start, piece.end) || self.has(Role::Thing, piece.start, piece.end))
    }

    fn pieces(&self) -> Vec<Clause> {
        let mut cuts: Vec<(usize, Opener)> = vec![(0, Opener::Comma)];
        let is_mark = |t: &Token| matches!(t.kind, Kind::Cross | Kind::Tick | Kind::Wait);
        let marks_first = self.tokens.first().is_some_and(is_mark);
        for (at, token) in self.tokens.iter().enumerate() {
            if is_mark(token) {
                cuts.push((if marks_first { at } else { at + 1 }, Opener::Break));
            }
            match token.text.as_str() {
                "," | "、" => cuts.push((at + 1, Opener::Comma)),
                text if token.kind == Kind::Sign && is_break(text) => {
                    cuts.push((at + 1, Opener::Break));
                }
                _ => {}
            }
        }
        for hit in &self.scan.hits {
            let opener = if hit.is(Role::If) || hit.is(Role::When) {
                if hit.is_postposed() {
                    Opener::Comma
                } else {
                    Opener::Condition
                }
            } else if hit.is(Role::But) {
                Opener::But
            } else if hit.is(Role::Because) {
                if hit.is_postposed() {
                    Opener::Consequence
                } else {
                    Opener::Because
                }
            } else if hit.is(Role::Split) {
                Opener::Consequence
            } else {
                continue;
            };
            cuts.push((
                if hit.is_postposed() {
                    hit.end
                } else {
                    hit.start
                },
                opener,
            ));
        }
        let ands = self.scan.around(Role::And).iter();
        cuts.extend(ands.map(|hit| (hit.start, Opener::And)));
        cuts.sort_unstable();
        cuts.dedup_by_key(|(at, _)| *at);
        let ends = cuts
            .iter()
            .skip(1)
            .map(|(at, _)| *at)
            .chain([self.tokens.len()]);
        let pieces = cuts
            .iter()
            .zip(ends)
            .filter(|((start, _), end)| start < end);
        pieces
            .map(|(&(start, opener), end)| self.piece(start, end, opener))
            .collect()
    }

    fn piece(&self, start: usize, end: usize, opener: Opener) -> Clause {
        let condition = if self.has(Role::If, start, end) {
            Some(Condition::If)
        } else {
            self.has(Role::When, start, end).then_some(Condition::When)
        };
        let mut hits = self.hits(start, end);
        let marked = self.tokens[start..end]
            .iter()
            .any(|t| matches!(t.kind, Kind::Cross | Kind::Tick | Kind::Wait));
        let has_predicate = marked || hits.any(|hit| self.is_predicate(hit, start, end));
        Clause {
            start,
            end,
            opener,
            condition,
            has_predicate,
        }
    }
}

fn is_break(text: &str) -> bool {
    matches!(text, ":" | "—" | "–" | "-" | "→" | "(" | ")" | "=" | ">")
}

/// So many characters may stand between a Japanese verb and its denial.
const INFLECTION: usize = 5;
/// So many characters may stand between a Japanese verb and its auxiliary.
const PARTICLE: usize = 2;
