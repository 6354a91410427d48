//! Reads a reply into statements.

use super::clause::Sentence;
use super::judge::Said;
use super::layout::{self, Unit};
use super::lexicon::{Lexicon, Pack, Role};
use super::link::Directory;
use super::sentence;
use super::statement::{self, Statement};
use super::text::{Kind, Token, is_single, tokens};
use super::tool_words::ToolWords;

/// All that `reply` says.
pub(crate) fn read(
    lexicon: &Lexicon,
    directory: &Directory,
    words: &ToolWords,
    reply: &str,
) -> Vec<Said> {
    let units = layout::units(reply);
    let weights = weights(lexicon, &units);
    let mut said = Vec::new();
    let mut count = 0;
    for unit in &units {
        for text in sentence::sentences(&unit.text) {
            count += 1;
            let reader = Reader {
                lexicon,
                directory,
                words,
                weights: &weights,
            };
            let mut statements = reader.statements(text, &unit.lead);
            if statements.is_empty() && reader.affirms(text) {
                statements.extend(answer(said.last(), count));
            }
            for statement in statements {
                let text = if unit.lead.is_empty() {
                    text.trim().to_owned()
                } else {
                    format!("{} {}", unit.lead.trim(), text.trim())
                };
                said.push(Said {
                    sentence: count,
                    text,
                    statement,
                });
            }
        }
    }
    said
}

struct Reader<'a> {
    lexicon: &'a Lexicon,
    directory: &'a Directory,
    words: &'a ToolWords,
    /// How much of the whole reply speaks for each language.
    weights: &'a [usize],
}

impl Reader<'_> {
    fn statements(&self, text: &str, lead: &str) -> Vec<Statement> {
        let all = tokens(text);
        if all
            .iter()
            .all(|token| matches!(token.kind, Kind::Tick | Kind::Sign))
            && lead.is_empty()
        {
            return Vec::new();
        }
        let lead = tokens(lead);
        // A text without a point is cut, so that the work stays linear in its length.
        let parts = all.chunks(LONGEST_SENTENCE);
        parts.flat_map(|part| self.part(part, &lead)).collect()
    }

    fn affirms(&self, text: &str) -> bool {
        let tokens = tokens(text);
        let packs = self.packs(&tokens);
        packs
            .first()
            .is_some_and(|pack| self.sentence(pack, tokens).affirms())
    }

    fn part(&self, part: &[Token], lead: &[Token]) -> Vec<Statement> {
        let joined = || [lead, part].concat();
        let packs = self.packs(&joined());
        for pack in packs {
            let alone = self.sentence(pack, part.to_vec());
            let speaks = alone
                .scan
                .hits
                .iter()
                .any(|hit| alone.is_predicate(hit, 0, part.len()));
            let statements = if lead.is_empty() {
                alone.statements()
            } else if speaks {
                let lead = self.sentence(pack, lead.to_vec());
                let mut statements = alone.statements();
                if lead.around(Role::Generic, 0, lead.tokens.len()).is_some() {
                    statements.retain(|s| s.kind != statement::Kind::Promise);
                }
                for statement in &mut statements {
                    inherit(statement, &lead);
                }
                statements
            } else {
                let mark = mark(&alone);
                let mut all = joined();
                if let Some(kind) = mark {
                    all.truncate(lead.len());
                    all.push(Token {
                        text: String::new(),
                        kind,
                        capital: false,
                        glued: false,
                    });
                } else {
                    let colon = Token {
                        text: ":".into(),
                        kind: Kind::Sign,
                        capital: false,
                        glued: false,
                    };
                    all.insert(lead.len(), colon);
                }
                self.sentence(pack, all).statements()
            };
            if !statements.is_empty() {
                return statements;
            }
        }
        Vec::new()
    }

    fn sentence<'p>(&self, pack: &'p Pack, mut tokens: Vec<Token>) -> Sentence<'p> {
        pack.repair(&mut tokens);
        let mut scan = pack.scan(&tokens);
        // Tools have English names.
        for (at, token) in tokens.iter().enumerate().filter(|_| !pack.unspaced) {
            if let Some(role) = self.words.role(&token.text) {
                scan.add(at, role);
            }
        }
        let ending = |at: usize| {
            let mut endings = scan.around(Role::Ending).iter();
            endings.any(|hit| hit.end <= at && at < hit.end + 4)
        };
        let mentions = self.directory.mentions(&tokens, ending);
        Sentence {
            pack,
            tokens,
            scan,
            mentions,
        }
    }

    /// The languages to read the sentence in: one, or all where nothing tells them apart.
    fn packs(&self, tokens: &[Token]) -> Vec<&Pack> {
        let unspaced = tokens
            .iter()
            .any(|t| t.kind == Kind::Word && t.text.chars().all(is_single));
        let weighed = self
            .lexicon
            .packs()
            .iter()
            .zip(self.weights)
            .filter(|(pack, _)| pack.unspaced == unspaced);
        let mut packs: Vec<(usize, usize, &Pack)> = weighed
            .map(|(pack, &whole)| (pack.weight(tokens), whole, pack))
            .collect();
        packs.sort_by_key(|&(weight, whole, _)| std::cmp::Reverse((weight, whole)));
        let known = packs
            .first()
            .is_some_and(|&(weight, whole, _)| weight + whole > 0);
        let best = packs.into_iter().map(|(_, _, pack)| pack);
        if known {
            best.take(1).collect()
        } else {
            best.collect()
        }
    }
}

/// A cell that only says "yes" or "no".
fn mark(cell: &Sentence<'_>) -> Option<Kind> {
    let whole = |role| {
        cell.around(role, 0, cell.tokens.len())
            .is_some_and(|hit| hit.start == 0)
    };
    let mut marks = cell.tokens.iter().filter(|token| token.kind != Kind::Sign);
    if let (Some(mark), None) = (marks.next(), marks.next())
        && matches!(mark.kind, Kind::Cross | Kind::Tick | Kind::Wait)
    {
        return Some(mark.kind);
    }
    match cell.tokens.len() {
        1 if whole(Role::Yes) => Some(Kind::Tick),
        1 if whole(Role::No) => Some(Kind::Cross),
        _ => None,
    }
}

/// What "yes, it was" says after a question.
fn answer(last: Option<&Said>, sentence: usize) -> Option<Statement> {
    let asked = last.filter(|last| last.sentence + 1 == sentence)?;
    let statement = asked.statement.clone();
    (statement.kind == statement::Kind::Asked).then_some(Statement {
        kind: statement::Kind::Done,
        ..statement
    })
}

/// Gives a statement in a list or table the ids and nouns of what it stands under.
fn inherit(statement: &mut Statement, lead: &Sentence<'_>) {
    let end = lead.tokens.len();
    if !statement.selection.names_any() {
        let named = lead
            .mentions
            .iter()
            .flat_map(|mention| mention.actions.iter().copied());
        statement.selection.ids.extend(named);
    }
    if statement.verbs.is_empty() && statement.things.is_empty() {
        let hits = lead.hits(0, end);
        statement.things = hits
            .flat_map(|hit| hit.classes(&[Role::Thing, Role::Base, Role::Past]))
            .collect();
    }
}

fn weights(lexicon: &Lexicon, units: &[Unit]) -> Vec<usize> {
    let mut weights = vec![0; lexicon.packs().len()];
    for unit in units {
        let tokens = tokens(&unit.text);
        for (weight, pack) in weights.iter_mut().zip(lexicon.packs()) {
            *weight += pack.weight(&tokens);
        }
    }
    weights
}

/// Words that one sentence may have.
const LONGEST_SENTENCE: usize = 300;
