//! The command line.

use crate::measure::Flavour;

/// What to measure and how to print it.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Options {
    pub(crate) json: bool,
    pub(crate) cells: bool,
    pub(crate) runtimes: Vec<Flavour>,
}

impl Options {
    /// `None` if there is a flag that it does not know.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut options = Self {
            json: false,
            cells: false,
            runtimes: Vec::new(),
        };
        for argument in arguments {
            match argument.as_str() {
                "--json" => options.json = true,
                "--cells" => options.cells = true,
                "--current-thread" => options.runtimes.push(Flavour::CurrentThread),
                "--multi-thread" => options.runtimes.push(Flavour::MultiThread),
                _ => return None,
            }
        }
        match options.runtimes.len() {
            0 => options.runtimes = vec![Flavour::CurrentThread, Flavour::MultiThread],
            1 => {}
            _ => return None,
        }
        Some(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_choose_what_is_run_and_unknown_ones_are_refused() {
        let parse = |line: &str| Options::parse(line.split_whitespace().map(str::to_owned));
        let options = parse("--json --multi-thread").expect("these are flags");
        assert!(options.json && !options.cells);
        assert_eq!(options.runtimes, [Flavour::MultiThread]);
        assert_eq!(parse("").map(|options| options.runtimes.len()), Some(2));
        assert_eq!(parse("--cels"), None);
        assert_eq!(parse("--current-thread --multi-thread"), None);
    }
}
