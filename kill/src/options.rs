//! The command line.

use serde::{Deserialize, Serialize};

use crate::store::Kind;

/// What to do, and how often.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Options {
    pub(crate) store: Kind,
    pub(crate) cycles: u64,
    pub(crate) seed: u64,
    /// The first cycle: a plan depends on nothing but the seed and the cycle.
    pub(crate) from: u64,
    pub(crate) freeze: bool,
    pub(crate) mutant: Option<Mutant>,
}

/// A wrong protocol, which has to be found out.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Mutant {
    /// A claim whose owner is gone is free again, whatever it may have sent.
    FreeOnCrash,
    /// `not found` is taken for `failed` once the longest life of a message has passed since the
    /// first send, though its sender may still be about to send.
    QuiescenceFromFirstSend,
    /// An owner that was passed over may still take down that it failed.
    UnfencedFailed,
}

impl Mutant {
    const ALL: &[Self] = &[
        Self::FreeOnCrash,
        Self::QuiescenceFromFirstSend,
        Self::UnfencedFailed,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::FreeOnCrash => "free-on-crash",
            Self::QuiescenceFromFirstSend => "quiescence-from-first-send",
            Self::UnfencedFailed => "unfenced-failed",
        }
    }
}

impl Options {
    /// `None` if something is missing, or there is something that it does not know.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut arguments = arguments.into_iter();
        let (mut store, mut cycles) = (None, None);
        let (mut seed, mut from, mut freeze, mut mutant) = (1, 0, false, None);
        while let Some(argument) = arguments.next() {
            if argument == "--freeze" {
                freeze = true;
                continue;
            }
            let value = arguments.next()?;
            match argument.as_str() {
                "--cycles" => cycles = Some(value.parse().ok()?),
                "--from" => from = value.parse().ok()?,
                "--mutant" => {
                    let mut known = Mutant::ALL.iter().copied();
                    mutant = Some(known.find(|it| it.as_str() == value)?);
                }
                "--seed" => seed = value.parse().ok()?,
                "--store" => {
                    let mut known = Kind::ALL.iter().copied();
                    store = Some(known.find(|it| it.as_str() == value)?);
                }
                _ => return None,
            }
        }
        Some(Self {
            store: store?,
            cycles: cycles?,
            seed,
            from,
            freeze,
            mutant,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_not_known_is_refused() {
        let parse = |line: &str| Options::parse(line.split_whitespace().map(str::to_owned));
        let options = parse("--store redis --cycles 7 --freeze --mutant free-on-crash").unwrap();
        assert_eq!((options.store, options.cycles), (Kind::Redis, 7));
        assert!(options.freeze);
        assert_eq!(options.mutant, Some(Mutant::FreeOnCrash));
        for line in [
            "--store redis",
            "--cycles 7",
            "--store redis --cycles",
            "--store ldap",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
        assert_eq!(parse("--store redis --cycles 7 --mutant none"), None);
        assert_eq!(parse("--store redis --cycles 7 --sed 1"), None);
    }
}
