//! The command line.

use std::ffi::OsString;
use std::time::Duration;

use lexopt::Arg::{Long, Short, Value};
use lexopt::{Parser, ValueExt as _};
use tower_outcome_core::ledger::{Filter, State};

use crate::failure::Failure;

pub(crate) enum Parsed {
    Help,
    Run(Arguments),
}

pub(crate) struct Arguments {
    pub(crate) place: Place,
    pub(crate) json: bool,
    pub(crate) command: Command,
}

/// Where the ledger is.
pub(crate) struct Place {
    pub(crate) url: String,
    pub(crate) schema: Option<String>,
    pub(crate) prefix: Option<String>,
}

pub(crate) enum Command {
    List(Filter),
    Purge,
    Resolve {
        name: Name,
        done: bool,
        by: String,
        reason: String,
    },
    Show(Name),
    Stats,
}

/// What an entry is called by.
pub(crate) struct Name {
    pub(crate) scope: Option<String>,
    pub(crate) digits: String,
}

/// Everything that was said, before it is known what it is for.
#[derive(Default)]
struct Said {
    options: Vec<(String, String)>,
    words: Vec<String>,
    json: bool,
}

pub(crate) fn parse(parser: Parser) -> Result<Parsed, Failure> {
    let Some(mut said) = Said::read(parser)? else {
        return Ok(Parsed::Help);
    };
    let url = said.take("ledger").or_else(|| std::env::var(URL).ok());
    let place = Place {
        url: url.ok_or_else(|| Failure::usage(format!("say --ledger URL, or set {URL}")))?,
        schema: said.take("schema"),
        prefix: said.take("prefix"),
    };
    let command = said.command()?;
    if let Some((name, _)) = said.options.first() {
        return Err(Failure::usage(format!(
            "--{name} is not for this command, or was said twice"
        )));
    }
    Ok(Parsed::Run(Arguments {
        place,
        json: said.json,
        command,
    }))
}

impl Said {
    /// `None` where help was asked for.
    fn read(mut parser: Parser) -> Result<Option<Self>, Failure> {
        let mut said = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("json") => said.json = true,
                Long(name) if OPTIONS.contains(&name) => {
                    let name = name.to_owned();
                    let value = parser.value()?.string()?;
                    said.options.push((name, value));
                }
                Value(word) => said.words.push(text(word)?),
                other => return Err(other.unexpected().into()),
            }
        }
        if said.words.is_empty() && said.options.is_empty() {
            return Ok(None);
        }
        Ok(Some(said))
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.options.iter().position(|(own, _)| own == name)?;
        Some(self.options.remove(at).1)
    }

    fn command(&mut self) -> Result<Command, Failure> {
        let words = std::mem::take(&mut self.words);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["list"] => self.filter().map(Command::List),
            ["show", digits] => Ok(Command::Show(self.name(digits))),
            ["resolve", digits, verdict @ ("done" | "failed")] => Ok(Command::Resolve {
                name: self.name(digits),
                done: *verdict == "done",
                by: self.required("by")?,
                reason: self.required("reason")?,
            }),
            ["purge"] => Ok(Command::Purge),
            ["stats"] => Ok(Command::Stats),
            [] => Err(Failure::usage(
                "say what to do: list, show, resolve, purge or stats",
            )),
            ["show", ..] => Err(Failure::usage("say which entry: show KEY")),
            ["resolve", ..] => Err(Failure::usage(
                "say which entry and what became of it: resolve KEY done, or resolve KEY failed",
            )),
            [first, ..] => Err(Failure::usage(format!(
                "{first:?} cannot be understood here"
            ))),
        }
    }

    fn name(&mut self, digits: &str) -> Name {
        Name {
            scope: self.take("scope"),
            digits: digits.to_ascii_lowercase(),
        }
    }

    fn required(&mut self, name: &str) -> Result<String, Failure> {
        self.take(name)
            .ok_or_else(|| Failure::usage(format!("say --{name}")))
    }

    fn filter(&mut self) -> Result<Filter, Failure> {
        let state = self.take("state").map(|text| {
            let words: Vec<&str> = State::ALL.iter().map(|state| state.as_str()).collect();
            let words = words.join(", ");
            State::parse(&text).map_err(|_| Failure::usage(format!("--state is one of {words}")))
        });
        let older_than = self.take("older-than").map(|text| {
            age(&text).ok_or_else(|| Failure::usage("--older-than is such as 90s, 15m, 2h or 7d"))
        });
        let limit = self.take("limit").map(|text| {
            let limit = text.parse().ok().filter(|limit| (1..=MOST).contains(limit));
            limit.ok_or_else(|| Failure::usage(format!("--limit is a number from 1 to {MOST}")))
        });
        Ok(Filter {
            state: state.transpose()?,
            older_than: older_than.transpose()?,
            tool: self.take("tool").map(Into::into),
            scope: self.take("scope").map(Into::into),
            after: self
                .take("after")
                .map(tower_outcome_core::ledger::Cursor::new),
            ..Filter::new(limit.transpose()?.unwrap_or(50))
        })
    }
}

fn text(word: OsString) -> Result<String, Failure> {
    Ok(word.string()?)
}

fn age(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let number: u64 = text[..text.len() - unit.len_utf8()].parse().ok()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return None,
    };
    number.checked_mul(seconds).map(Duration::from_secs)
}

const OPTIONS: [&str; 11] = [
    "after",
    "by",
    "ledger",
    "limit",
    "older-than",
    "prefix",
    "reason",
    "schema",
    "scope",
    "state",
    "tool",
];

const URL: &str = "OUTCOMES_LEDGER";

const MOST: usize = 10_000;

pub(crate) const HELP: &str = "\
Lists, shows and resolves what is in doubt in a ledger of tower-outcome.

usage: outcomes --ledger URL [--json] COMMAND

  list [--state STATE] [--tool TOOL] [--scope SCOPE] [--older-than AGE]
       [--limit N] [--after PLACE]
            one line for each entry, 50 a page; the last line says where the
            next page begins
  show KEY [--scope SCOPE]
            everything that is known of one entry, but no result and no request
  resolve KEY done|failed --by WHO --reason TEXT [--scope SCOPE]
            takes a person's word for an entry in doubt; both are kept with it.
            After `failed` an identical call sends again
  purge     takes away results after 24 hours and entries after 400 days;
            never an entry in use or in doubt
  stats     how many entries are in which state

  KEY       the first 8 hex digits of a key at least; with --scope and all 64
            digits the entry is read at once. An alias stands for the entry
            that it leads to
  STATE     alias, claimed, dispatching, done, failed, free, partial or unknown
  AGE       since the last change: 90s, 15m, 2h, 7d
  --json    for programs: one JSON value
  --ledger  sqlite:PATH
            postgres://USER:PASSWORD@HOST/DATABASE  [--schema NAME]
            redis://USER:PASSWORD@HOST:PORT/NUMBER  [--prefix NAME]
            The variable OUTCOMES_LEDGER is taken instead, so that a password
            does not stand in the list of processes

exit codes
  0  done
  1  the ledger could not be asked, or cannot serve as one
  2  the command line cannot be understood
  3  there is no such entry, or more than one
  4  the entry does not allow it: it is not in doubt, has changed, or
     something may still be sent for it
";
