//! What the program is asked to do.

use std::path::PathBuf;

/// What the program is asked to do.
#[derive(Debug, Default)]
pub(crate) struct Flags {
    pub(crate) json: bool,
    pub(crate) ledger: Option<PathBuf>,
    pub(crate) story: Option<u8>,
}

impl Flags {
    /// Reads the flags; `Err` says which one is wrong.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut flags = Self::default();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--json" => flags.json = true,
                "--ledger" => {
                    let file = words.next().ok_or("--ledger needs a file")?;
                    flags.ledger = Some(file.into());
                }
                "--story" => {
                    let number = words.next().ok_or("--story needs a number")?;
                    let known = number
                        .parse()
                        .ok()
                        .filter(|number| (1..=10).contains(number));
                    let unknown = format!("there is no story {number}: they are 1 to 10");
                    flags.story = Some(known.ok_or(unknown)?);
                }
                other => return Err(format!("unknown flag {other}")),
            }
        }
        Ok(flags)
    }
}

pub(crate) const USAGE: &str = "\
usage: cargo run --example refund_agent -- [--story N] [--json] [--ledger FILE]

  --story N      play one story (1 to 10) and show its timeline
  --json         print the results as JSON
  --ledger FILE  keep the ledger in FILE (a SQLite database)
";
