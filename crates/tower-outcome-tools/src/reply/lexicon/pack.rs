//! The phrases of one language, indexed by the words they begin with.

use std::collections::{HashMap, HashSet};

use super::Class;
use super::minor_units::MinorUnits;
use super::numerals::Numerals;
use super::phrase::{Part, Phrase, Reach, Sets, parts};
use super::role::Role;
use super::scan::{Hit, Scan};
use super::typo;
use crate::reply::text::{Kind, Token, folded};

/// One language.
#[derive(Clone, Debug)]
pub(crate) struct Pack {
    language: String,
    phrases: Vec<Phrase>,
    openings: Openings,
    sets: Sets,
    numerals: Numerals,
    minor_units: MinorUnits,
    marks: HashSet<String>,
    plain: HashSet<String>,
    /// Without accents: the word with them.
    accents: HashMap<String, String>,
    /// Single words that tell of an act, by their first letter: what a typo may have meant.
    telling: HashMap<char, Vec<String>>,
    summary: HashMap<String, String>,
    /// Whether a negation reaches words that stand before it in the clause.
    pub(crate) negates_backwards: bool,
    /// How many words a clause may have to tell of an act by a participle alone.
    pub(crate) terse: usize,
    /// Whether written without spaces.
    pub(crate) unspaced: bool,
}

#[derive(Clone, Debug, Default)]
struct Openings {
    words: HashMap<String, Vec<usize>>,
    prefixes: HashMap<String, Vec<usize>>,
    suffixes: HashMap<String, Vec<usize>>,
}

impl Pack {
    pub(crate) fn new(language: &str) -> Self {
        Self {
            language: language.to_owned(),
            phrases: Vec::new(),
            openings: Openings::default(),
            sets: Sets::new(),
            numerals: Numerals::default(),
            minor_units: MinorUnits::default(),
            marks: HashSet::new(),
            plain: HashSet::new(),
            accents: HashMap::new(),
            telling: HashMap::new(),
            summary: HashMap::new(),
            negates_backwards: false,
            terse: 5,
            unspaced: false,
        }
    }

    pub(crate) fn language(&self) -> &str {
        &self.language
    }

    /// Whether a denial reaches the whole clause.
    pub(crate) const fn denies_anywhere(&self) -> bool {
        self.negates_backwards || self.unspaced
    }

    /// The numbers of this language.
    pub(crate) const fn numerals(&self) -> &Numerals {
        &self.numerals
    }

    /// The parts of a unit of money.
    pub(crate) const fn minor_units(&self) -> &MinorUnits {
        &self.minor_units
    }

    /// The line that tells of an outcome in a summary.
    pub(crate) fn summary(&self, outcome: &str) -> Option<&str> {
        self.summary.get(outcome).map(String::as_str)
    }

    /// How much of the sentence speaks for this language.
    pub(crate) fn weight(&self, tokens: &[Token]) -> usize {
        let words = tokens.iter().filter(|token| token.kind == Kind::Word);
        words
            .map(|t| usize::from(self.marks.contains(&t.text)) * 2 + usize::from(self.knows(t)))
            .sum()
    }

    /// Puts typos and missing accents right where only one word can have been meant.
    pub(crate) fn repair(&self, tokens: &mut [Token]) {
        for token in tokens {
            if token.kind != Kind::Word || self.knows(token) || self.marks.contains(&token.text) {
                continue;
            }
            if let Some(word) = self
                .accents
                .get(&token.text)
                .or_else(|| self.meant(&token.text))
            {
                token.text.clone_from(word);
            }
        }
    }

    pub(crate) fn scan(&self, tokens: &[Token]) -> Scan {
        let mut scan = Scan::default();
        let mut taken = vec![false; tokens.len()];
        for at in 0..tokens.len() {
            let found: Vec<(&Phrase, Vec<usize>)> = self
                .openings
                .at(&tokens[at])
                .filter_map(|phrase| {
                    let phrase = &self.phrases[phrase];
                    let reach = Reach {
                        sets: &self.sets,
                        gap: if self.unspaced { 12 } else { 7 },
                    };
                    phrase
                        .matches(tokens, at, reach)
                        .map(|places| (phrase, places))
                })
                .collect();
            let free = |places: &[usize]| places.iter().all(|&place| !taken[place]);
            let longest = found
                .iter()
                .filter(|(phrase, places)| phrase.role.owns_words() && free(places))
                .max_by_key(|(_, places)| (places.len(), std::cmp::Reverse(places.last().copied())))
                .map(|(_, places)| places.clone());
            if let Some(longest) = longest {
                let same = |(phrase, places): &&(&Phrase, Vec<usize>)| {
                    phrase.role.owns_words() && *places == longest
                };
                scan.hits.push(Hit::of(
                    found.iter().filter(same).map(|(phrase, _)| *phrase),
                    &longest,
                ));
                for place in longest {
                    taken[place] = true;
                }
            }
            for (phrase, places) in &found {
                if !phrase.role.owns_words() {
                    let hit = Hit::of(std::iter::once(*phrase), places);
                    scan.add_around(phrase.role, hit);
                }
            }
        }
        scan
    }

    /// The classes that the words of a tool's name stand for, the first verb's before all.
    pub(crate) fn classes_in_name(&self, words: &[String]) -> Vec<Class> {
        let is_noun = |word: &String| {
            let mut phrases = self.of_word(word);
            phrases.any(|phrase| matches!(phrase.role, Role::Thing | Role::Things))
        };
        let is_verb = |word: &&String| self.is_verb(word);
        let verb = words.iter().filter(is_verb).find(|word| !is_noun(word));
        let Some(verb) = verb.or_else(|| words.iter().find(is_verb)) else {
            let roles = [Role::Thing, Role::Past, Role::Ing];
            return words.iter().flat_map(|w| self.classes(w, &roles)).collect();
        };
        let mut classes = self.classes(verb, &[Role::Base]);
        if LIGHT_VERBS.contains(&verb.as_str()) {
            classes.extend(words.iter().flat_map(|w| self.classes(w, &[Role::Thing])));
        }
        classes
    }

    /// Whether one of the words is a verb of some class.
    pub(crate) fn has_verb(&self, words: &[String]) -> bool {
        words.iter().any(|word| self.is_verb(word))
    }

    fn is_verb(&self, word: &str) -> bool {
        !self.classes(word, &[Role::Base]).is_empty()
    }

    fn classes(&self, word: &str, roles: &[Role]) -> Vec<Class> {
        let phrases = self
            .of_word(word)
            .filter(|phrase| roles.contains(&phrase.role));
        phrases.filter_map(|phrase| phrase.class).collect()
    }

    /// The phrases that consist of that word.
    fn of_word(&self, word: &str) -> impl Iterator<Item = &Phrase> {
        let places = self.openings.words.get(word).into_iter().flatten();
        places
            .map(|&place| &self.phrases[place])
            .filter(|phrase| phrase.word().is_some())
    }

    pub(super) fn set_option(&mut self, line: &str) -> Result<(), &'static str> {
        match line.split_once(' ') {
            Some(("negation", scope)) => self.negates_backwards = scope == "clause",
            Some(("terse", words)) => self.terse = words.parse().map_err(|_| "not a number")?,
            Some(("spaces", spaces)) => self.unspaced = spaces == "no",
            _ => return Err("no option is called so"),
        }
        Ok(())
    }

    pub(super) fn add_marks(&mut self, line: &str) {
        self.marks.extend(entries(line).map(str::to_lowercase));
    }

    pub(super) fn add_numerals(&mut self, line: &str) -> Result<(), &'static str> {
        let (value, words) = value_of(line)?;
        self.numerals
            .add(entries(words).map(str::to_lowercase), value);
        Ok(())
    }

    pub(super) fn add_minor_units(
        &mut self,
        line: &str,
        only_as_rest: bool,
    ) -> Result<(), &'static str> {
        let (value, words) = value_of(line)?;
        self.minor_units.add(entries(words), value, only_as_rest);
        Ok(())
    }

    pub(super) fn add_plain(&mut self, line: &str) {
        self.plain.extend(entries(line).map(str::to_lowercase));
    }

    pub(super) fn add_set(&mut self, name: &str, line: &str) -> Result<(), &'static str> {
        let mut set = self.sets.get(name).cloned().unwrap_or_default();
        for entry in entries(line) {
            let parts = parts(entry).ok_or("an alternative has no words")?;
            self.check(&parts)?;
            set.push(parts);
        }
        set.sort_by_key(|alternative| std::cmp::Reverse(alternative.len()));
        self.sets.insert(name.to_owned(), set);
        Ok(())
    }

    pub(super) fn add_summary(&mut self, line: &str) -> Result<(), &'static str> {
        let (outcome, text) = line.split_once('=').ok_or("an outcome needs `= text`")?;
        self.summary
            .insert(outcome.trim().to_owned(), text.trim().to_owned());
        Ok(())
    }

    pub(super) fn add_phrases(
        &mut self,
        line: &str,
        role: Role,
        class: Option<Class>,
        value: i32,
    ) -> Result<(), &'static str> {
        for entry in entries(line) {
            let phrase = Phrase::new(entry, role, class, value).ok_or("a phrase has no words")?;
            self.check(phrase.parts())?;
            if let Some(word) = phrase.word() {
                self.learn(word, role);
            }
            let at = self.phrases.len();
            for opening in phrase.openings(&self.sets) {
                let (index, word) = match opening {
                    Part::Prefix(word) => (&mut self.openings.prefixes, word),
                    Part::Suffix(word) => (&mut self.openings.suffixes, word),
                    Part::Word(word) => (&mut self.openings.words, word),
                    Part::Gap | Part::Set { .. } | Part::Start => continue,
                };
                let list = index.entry(word.clone()).or_default();
                if list.last() != Some(&at) {
                    list.push(at);
                }
            }
            self.phrases.push(phrase);
        }
        Ok(())
    }

    fn learn(&mut self, word: &str, role: Role) {
        let plain = folded(word);
        if plain != word {
            self.accents.insert(plain, word.to_owned());
        }
        if matches!(role, Role::Claim | Role::Participle | Role::Past)
            && let Some(first) = word.chars().next()
            && word.chars().count() >= typo::SHORTEST
        {
            self.telling.entry(first).or_default().push(word.to_owned());
        }
    }

    /// A sets's name must be known and gaps few, which bounds the work of a match.
    fn check(&self, parts: &[Part]) -> Result<(), &'static str> {
        let unknown = |part: &Part| match part {
            Part::Set { name, .. } => !self.sets.contains_key(name),
            _ => false,
        };
        if parts.iter().any(unknown) {
            return Err("a set is used before it is listed");
        }
        if parts.iter().filter(|part| **part == Part::Gap).count() > 2 {
            return Err("a phrase may have two gaps at most");
        }
        Ok(())
    }

    fn knows(&self, token: &Token) -> bool {
        self.plain.contains(&token.text) || self.openings.at(token).next().is_some()
    }

    fn meant(&self, word: &str) -> Option<&String> {
        let known = self.telling.get(&word.chars().next()?)?;
        known.iter().find(|known| typo::may_mean(word, known))
    }
}

impl Openings {
    fn at(&self, token: &Token) -> impl Iterator<Item = usize> {
        let text = token.text.as_str();
        let cuts = text.char_indices().map(|(at, _)| at).take(LONGEST_STEM);
        let stems = cuts
            .clone()
            .filter_map(move |at| self.prefixes.get(&text[..at]));
        let ends = cuts.filter_map(move |at| self.suffixes.get(&text[at..]));
        let whole = self
            .words
            .get(text)
            .into_iter()
            .chain(self.prefixes.get(text));
        whole.chain(stems).chain(ends).flatten().copied()
    }
}

/// What the words of a line such as `20 = twenty` count for.
fn value_of(line: &str) -> Result<(u64, &str), &'static str> {
    let (value, words) = line.split_once('=').ok_or("a number needs `= words`")?;
    Ok((value.trim().parse().map_err(|_| "not a number")?, words))
}

fn entries(line: &str) -> impl Iterator<Item = &str> {
    line.split('|')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
}

/// Verbs of tool names that say little without their noun.
const LIGHT_VERBS: [&str; 5] = ["add", "create", "generate", "issue", "run"];
/// No phrase starts with a stem longer than this.
const LONGEST_STEM: usize = 32;
