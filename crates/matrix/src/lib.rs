//! Every fault of the testkit under every client, and what each client may say.
//!
//! A [`Row`] is one fault, with the [`Truth`] about it; a [`Client`] makes one write and tells what
//! it believes. [`run`] brings both together and waits until everything that was under way is over,
//! so that a write which lands after its client gave up is counted.
//!
//! ```
//! use tower_outcome_matrix::{ours, rows, run};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
//! let row = rows().into_iter().find(|row| row.name == "refuses to connect").unwrap();
//! let cell = run(&row, &ours()[1]).await?;
//! assert!(cell.is_proved_failed());
//! # Ok(()) }
//! ```

use std::time::Duration;

use tower_outcome_testkit::{Observation, TlsFault};

mod cell;
mod client;
mod ours;
mod rows;
mod staging;
mod tally;
mod workers;

pub use cell::{Cell, run};
pub use client::{Client, Protocol, Write};
pub use ours::{BODY, ours};
pub use rows::rows;
pub use staging::Staging;
pub use tally::Tally;

/// One fault, and the truth about it.
#[derive(Clone, Debug)]
pub struct Row {
    /// What the server does, in a few words.
    pub name: &'static str,
    /// The versions of HTTP under which the fault exists.
    pub protocols: &'static [Protocol],
    /// How the fault is staged.
    pub staging: Staging,
    /// What can be known.
    pub truth: Truth,
}

impl Row {
    /// After what time a client gives up: soon where it is the only one who can end the call, and
    /// late where a busy machine must not end it first.
    #[must_use]
    pub fn patience(&self) -> Duration {
        Duration::from_millis(if self.is_silent() { 1000 } else { 10_000 })
    }

    fn is_silent(&self) -> bool {
        match &self.staging {
            Staging::BrokenTls(fault) => *fault == TlsFault::Silence,
            Staging::Hangs => true,
            Staging::Nowhere | Staging::IdleEnd(_) | Staging::OneStream(_) => false,
            Staging::Scripted(_) => SILENT.iter().any(|word| self.name.contains(word)),
        }
    }

    /// Whether the server came to its fault, as far as that shows: what is sent over a connection
    /// that it forgot never does.
    fn is_met_by(&self, seen: &Observation) -> bool {
        let shows = matches!(self.staging, Staging::Scripted(_)) && !self.name.contains(FORGETS);
        !(shows && self.is_silent()) || seen.requests > 0
    }
}

/// What the names of the scenarios say in which the server leaves the end to the client.
const SILENT: [&str; 3] = ["is silent", "once the write has ended", FORGETS];

const FORGETS: &str = "forgets";

/// What can be known of a write that met a fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Truth {
    /// The answer came: it was done.
    Answered,
    /// The head of the answer came. It is proof, but not of a gRPC call, whose status comes last.
    Headed,
    /// What has happened to the connection can be seen before the write is made: whatever arrives all
    /// the same may have been done, and of all else it can be known that it was not.
    Noticed,
    /// It may have been done, and nobody can know on this side.
    Open,
    /// It can be known that nothing happened.
    Proven,
    /// Nothing arrived, and the client cannot know.
    Unknowable,
}
