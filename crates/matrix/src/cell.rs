//! One row under one client.

use std::io;
use std::time::Duration;

use tower_outcome_testkit::{Observation, Told};

use crate::{Client, Protocol, Row, Truth};

/// What one client made of one row.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The row's name.
    pub row: &'static str,
    /// The client's name.
    pub client: &'static str,
    /// What it believes, and what the server saw.
    pub seen: Observation,
    truth: Truth,
    protocol: Protocol,
}

/// Makes the write of `client` meet the fault of `row`, and waits until everything that was under
/// way is over.
///
/// # Errors
///
/// The operating system gives no port.
pub async fn run(row: &Row, client: &Client) -> io::Result<Cell> {
    let mut patience = row.patience();
    loop {
        let write = (client.make)(patience);
        let seen = row.staging.run(row.name, &write).await?;
        // Whoever gives up before the server has anything to be silent about has not met the fault.
        if row.is_met_by(&seen) || patience > MOST_PATIENCE {
            return Ok(Cell {
                row: row.name,
                client: client.name,
                seen,
                truth: row.truth,
                protocol: client.protocol,
            });
        }
        patience *= 4;
    }
}

impl Cell {
    /// The client was told that nothing happened, and it did, or could have.
    #[must_use]
    pub fn is_false_failed(&self) -> bool {
        let could = matches!(self.truth, Truth::Answered | Truth::Headed | Truth::Open);
        self.seen.told == Some(Told::Failed) && (could || self.seen.commits > 0)
    }

    /// The client was told that it was done, and it was not.
    #[must_use]
    pub fn is_false_done(&self) -> bool {
        self.seen.told == Some(Told::Done) && self.seen.commits == 0
    }

    /// The write took effect more than once.
    #[must_use]
    pub fn is_double_commit(&self) -> bool {
        self.seen.is_double_commit()
    }

    /// The client was told that nothing is known, and it could have been.
    #[must_use]
    pub fn is_needless_unknown(&self) -> bool {
        let arrived = self.seen.requests > 0 || self.seen.commits > 0;
        let knowable = match self.truth {
            Truth::Answered | Truth::Proven => true,
            Truth::Headed => self.protocol != Protocol::Grpc,
            Truth::Noticed => !arrived,
            Truth::Open | Truth::Unknowable => false,
        };
        self.is_unknown() && knowable
    }

    /// The client was told that nothing is known, which is so.
    #[must_use]
    pub fn is_honest_unknown(&self) -> bool {
        self.is_unknown() && !self.is_needless_unknown()
    }

    /// The client was told that nothing happened, which is so.
    #[must_use]
    pub fn is_proved_failed(&self) -> bool {
        self.seen.told == Some(Told::Failed) && !self.is_false_failed()
    }

    fn is_unknown(&self) -> bool {
        matches!(self.seen.told, Some(Told::Unknown) | None)
    }
}

/// No fault takes longer to be met, however busy the machine is.
const MOST_PATIENCE: Duration = Duration::from_secs(5);
