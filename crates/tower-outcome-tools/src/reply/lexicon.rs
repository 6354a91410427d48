//! The words of the checker, as data that users extend.
//!
//! A lexicon file is plain text. It opens with `language CODE`, names sections in brackets and
//! lists phrases below, separated by `|` or line ends; `#` opens a comment line. A section is
//! either a job (`[not]`, `[if]`, `[doubt]`, `[claim]`, `[fail]`, ...; the built-in files name
//! them all) or a class of actions with the form of its words:
//!
//! | section | holds | example |
//! |---|---|---|
//! | `[GROUP.NAME past]` | forms that tell of the act by themselves | `refunded` |
//! | `[GROUP.NAME participle]` | forms that need an auxiliary for it | `erstattet` |
//! | `[GROUP.NAME base]` | what one can, will or could not do | `refund` |
//! | `[GROUP.NAME ing]` | what one is doing | `refunding` |
//! | `[GROUP.NAME thing]` | what it is done to or called | `refund`, `chargeback` |
//! | `[GROUP.NAME result]` | consequences that amount to a claim | `you will see .. money` |
//!
//! In a phrase `..` stands for a few words, `word*` and `*word` for any ending and any beginning,
//! `{name}` for one of the alternatives of `[set name]`, `{name}?` for one or none, and `^` for the
//! start of the sentence. A tool belongs to the classes whose English words its name is made of;
//! `[numerals]` lists `20 = twenty` for amounts in words, with 0 for words that only join others, and
//! `[minor]` what parts of a unit of money are worth in hundredths, such as `1 = cent|cents`, while
//! `[minor rest]` holds those that mean something else unless they follow a larger unit;
//! `[tools]` lists `tool_name = GROUP.NAME` for those where that is not so. A file for a language
//! that is there already adds to it, and a section such as `[tool:provision_vm past]` declares
//! verbs for one tool alone.
//!
//! ```
//! use tower_outcome_core::Outcome;
//! use tower_outcome_tools::reply::{Action, Lexicon, ReplyChecker};
//!
//! let mut lexicon = Lexicon::builtin();
//! lexicon.extend_from_str("language en\n[tool:provision_vm past]\nspun up\n")?;
//! let checker = ReplyChecker::with_lexicon(lexicon);
//!
//! let actions = [Action::new("provision_vm", Outcome::Unknown).with_resource("vm-7")];
//! assert!(!checker.check("I spun up vm-7 for you.", &actions).is_clean());
//! # Ok::<(), tower_outcome_tools::reply::LexiconError>(())
//! ```

mod minor_units;
mod numerals;
mod pack;
mod phrase;
mod role;
mod scan;
mod typo;

use std::collections::HashMap;
use std::fmt;

pub(crate) use pack::Pack;
pub(crate) use role::Role;
pub(crate) use scan::{Hit, Scan};

use super::text::runs;

/// A kind of action, such as refunding; an index into the lexicon's table of names.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Class(u16);

/// Words by language and kind of action.
///
/// See the [module docs](self) for the format.
#[derive(Clone, Debug)]
pub struct Lexicon {
    packs: Vec<Pack>,
    classes: Vec<String>,
    tools: HashMap<String, Vec<Class>>,
}

impl Lexicon {
    /// The words for German, English, French, Spanish, Portuguese, Chinese and Japanese.
    ///
    /// # Panics
    ///
    /// Never: the files are part of the crate and its tests read each.
    #[must_use]
    pub fn builtin() -> Self {
        let mut lexicon = Self {
            packs: Vec::new(),
            classes: Vec::new(),
            tools: HashMap::new(),
        };
        for text in BUILTIN {
            lexicon
                .extend_from_str(text)
                .expect("the built-in files are read by a test");
        }
        lexicon
    }

    /// Adds the phrases of one lexicon file.
    ///
    /// # Errors
    ///
    /// Says which line could not be read, and why; what stood before that line has been added.
    pub fn extend_from_str(&mut self, text: &str) -> Result<(), LexiconError> {
        let mut section = None;
        let mut pack = None;
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            let error = |reason| LexiconError {
                line: at + 1,
                reason,
            };
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(code) = line.strip_prefix("language ") {
                pack = Some(self.pack(code.trim()));
                section = None;
            } else if let Some(name) = line.strip_prefix('[') {
                let name = name
                    .strip_suffix(']')
                    .ok_or(error("the bracket is not closed"))?;
                section = Some(self.section(name).ok_or(error("no section is called so"))?);
            } else if let (Some(pack), Some(section)) = (pack, &section) {
                self.add(pack, section, line).map_err(error)?;
            } else if let Some(pack) = pack {
                self.packs[pack].set_option(line).map_err(error)?;
            } else {
                return Err(error("no language has been named"));
            }
        }
        Ok(())
    }

    pub(crate) fn packs(&self) -> &[Pack] {
        &self.packs
    }

    /// The classes of a tool: declared, or from the English words in its name.
    pub(crate) fn classes_of(&self, tool: &str) -> Vec<Class> {
        let mut classes = self.tools.get(tool).cloned().unwrap_or_default();
        let own = format!("tool:{tool}");
        classes.extend(
            self.classes
                .iter()
                .position(|name| *name == own)
                .and_then(index),
        );
        if !self.tools.contains_key(tool)
            && let Some(english) = self.packs.iter().find(|pack| pack.language() == "en")
        {
            classes.extend(english.classes_in_name(&Self::words_of_name(tool)));
        }
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Whether the name of the tool holds a verb that the lexicon knows.
    pub(crate) fn knows_verb_of(&self, tool: &str) -> bool {
        let english = self.packs.iter().find(|pack| pack.language() == "en");
        let words = Self::words_of_name(tool);
        self.tools.contains_key(tool) || english.is_some_and(|pack| pack.has_verb(&words))
    }

    /// Whether actions of this class change nothing.
    pub(crate) fn is_read(&self, class: Class) -> bool {
        self.name(class).starts_with("read.")
    }

    /// Whether actions of this class undo or return something, so that no other word fits them.
    pub(crate) fn takes_back(&self, class: Class) -> bool {
        ["refund.", "remove."]
            .iter()
            .any(|group| self.name(class).starts_with(group))
    }

    /// Whether two classes are near enough that the words of one serve the other.
    pub(crate) fn are_akin(&self, one: Class, other: Class) -> bool {
        let group = |class| self.name(class).split_once('.').map(|(group, _)| group);
        one == other || group(one).is_some() && group(one) == group(other)
    }

    /// The words of `refund_order`, `refundOrder` and `orders.refund`.
    pub(crate) fn words_of_name(tool: &str) -> Vec<String> {
        let mut spaced = String::new();
        for c in tool.chars() {
            if c.is_uppercase() {
                spaced.push('_');
            }
            spaced.push(c);
        }
        spaced
            .split(|c: char| !c.is_alphanumeric())
            .flat_map(runs)
            .collect()
    }

    pub(crate) fn name(&self, class: Class) -> &str {
        self.classes
            .get(usize::from(class.0))
            .map_or("", String::as_str)
    }

    fn pack(&mut self, code: &str) -> usize {
        let known = self.packs.iter().position(|pack| pack.language() == code);
        known.unwrap_or_else(|| {
            self.packs.push(Pack::new(code));
            self.packs.len() - 1
        })
    }

    fn class(&mut self, name: &str) -> Option<Class> {
        let known = self.classes.iter().position(|known| known == name);
        let at = known.unwrap_or_else(|| {
            self.classes.push(name.to_owned());
            self.classes.len() - 1
        });
        index(at)
    }

    fn section(&mut self, name: &str) -> Option<Section> {
        if let Some(set) = name.strip_prefix("set ") {
            return Some(Section::Set(set.to_owned()));
        }
        match name {
            "marks" => return Some(Section::Marks),
            "minor" => return Some(Section::Minor { rest: false }),
            "minor rest" => return Some(Section::Minor { rest: true }),
            "numerals" => return Some(Section::Numerals),
            "plain" => return Some(Section::Plain),
            "summary" => return Some(Section::Summary),
            "tools" => return Some(Section::Tools),
            _ => {}
        }
        if let Some(role) = Role::named(name) {
            return Some(Section::Phrases {
                role,
                class: None,
                value: 0,
            });
        }
        let (head, tail) = name.rsplit_once(' ')?;
        if let (Some(role), Ok(value)) = (Role::named(head), tail.parse()) {
            return Some(Section::Phrases {
                role,
                class: None,
                value,
            });
        }
        let class = match head {
            "any" => None,
            head if head.contains('.') || head.starts_with("tool:") => Some(self.class(head)?),
            _ => return None,
        };
        Some(Section::Phrases {
            role: Role::named(tail)?,
            class,
            value: 0,
        })
    }

    fn add(&mut self, pack: usize, section: &Section, line: &str) -> Result<(), &'static str> {
        match section {
            Section::Numerals => return self.packs[pack].add_numerals(line),
            Section::Marks => self.packs[pack].add_marks(line),
            Section::Minor { rest } => return self.packs[pack].add_minor_units(line, *rest),
            Section::Phrases { role, class, value } => {
                return self.packs[pack].add_phrases(line, *role, *class, *value);
            }
            Section::Plain => self.packs[pack].add_plain(line),
            Section::Set(name) => return self.packs[pack].add_set(name, line),
            Section::Summary => return self.packs[pack].add_summary(line),
            Section::Tools => {
                let (tool, name) = line.split_once('=').ok_or("a tool needs `= GROUP.NAME`")?;
                let class = self
                    .class(name.trim())
                    .ok_or("there are too many classes")?;
                self.tools
                    .entry(tool.trim().to_owned())
                    .or_default()
                    .push(class);
            }
        }
        Ok(())
    }
}

impl Default for Lexicon {
    fn default() -> Self {
        Self::builtin()
    }
}

/// A line of a lexicon file that cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LexiconError {
    line: usize,
    reason: &'static str,
}

impl fmt::Display for LexiconError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the lexicon: {}", self.line, self.reason)
    }
}

impl std::error::Error for LexiconError {}

enum Section {
    Marks,
    Minor {
        rest: bool,
    },
    Numerals,
    Phrases {
        role: Role,
        class: Option<Class>,
        value: i32,
    },
    Plain,
    Set(String),
    Summary,
    Tools,
}

fn index(at: usize) -> Option<Class> {
    u16::try_from(at).ok().map(Class)
}

const BUILTIN: [&str; 9] = [
    include_str!("../../lexicon/en.txt"),
    include_str!("../../lexicon/en-idioms.txt"),
    include_str!("../../lexicon/en-numbers.txt"),
    include_str!("../../lexicon/de.txt"),
    include_str!("../../lexicon/fr.txt"),
    include_str!("../../lexicon/es.txt"),
    include_str!("../../lexicon/pt.txt"),
    include_str!("../../lexicon/zh.txt"),
    include_str!("../../lexicon/ja.txt"),
];
