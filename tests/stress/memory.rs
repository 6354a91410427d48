//! What the process has taken from its allocator and not given back.

use std::alloc::System;

use cap::Cap;

/// Counts what all threads have, which nothing here is to be kept from having.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// What is alive once all that a round of calls has started is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    bytes: usize,
    /// How many calls the executor knows to be in doubt: it is to keep them.
    in_doubt: usize,
}

impl Round {
    pub(crate) fn now(in_doubt: usize) -> Self {
        Self {
            bytes: ALLOCATOR.allocated(),
            in_doubt,
        }
    }
}

/// Fails if a round left something behind that the one before it had not left already.
///
/// The first one pays for what is set up once and for tables that have grown as far as they do.
pub(crate) fn expect_none_left(rounds: &[Round]) {
    eprintln!("{rounds:?}");
    for pair in rounds.windows(2) {
        let grown = pair[1].bytes.saturating_sub(pair[0].bytes);
        let doubts = pair[1].in_doubt.saturating_sub(pair[0].in_doubt);
        assert!(grown <= SPARE + doubts * DOUBT, "{rounds:?}");
    }
}

/// A doubt is kept with its intent, its lanes and its place in a table.
const DOUBT: usize = 1 << 10;

/// Tables grow by doubling, and buffers are kept for the next one who needs them.
const SPARE: usize = 64 << 10;
