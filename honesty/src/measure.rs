//! Every row under every client.

use std::fmt;
use std::io;
use std::panic::resume_unwind;
use std::thread;

use tokio::runtime::Builder;
use tower_outcome_matrix::{Cell, Client, Row, rows, run};

use crate::stack::Stack;

/// One of tokio's runtimes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Flavour {
    CurrentThread,
    MultiThread,
}

/// One row under one client on one runtime.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) stack: String,
    pub(crate) is_ours: bool,
    pub(crate) runtime: Flavour,
    pub(crate) cell: Cell,
}

/// Every row under every client of the stacks.
///
/// The clients run side by side, for most of the time goes by in waits for answers that never come.
pub(crate) fn all(stacks: &[Stack], runtimes: &[Flavour]) -> io::Result<Vec<Measured>> {
    let rows = &rows();
    let clients = stacks
        .iter()
        .flat_map(|stack| stack.clients.iter().map(move |client| (stack, client)));
    thread::scope(|scope| {
        let running: Vec<_> = clients
            .map(|(stack, client)| scope.spawn(|| under(stack, client, runtimes, rows)))
            .collect();
        let mut measured = Vec::new();
        for client in running {
            measured.extend(client.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(measured)
    })
}

fn under(
    stack: &Stack,
    client: &Client,
    runtimes: &[Flavour],
    rows: &[Row],
) -> io::Result<Vec<Measured>> {
    let mut measured = Vec::new();
    for &runtime in runtimes {
        measured.extend(runtime.run(client, rows)?.into_iter().map(|cell| Measured {
            stack: stack.name.clone(),
            is_ours: stack.is_ours,
            runtime,
            cell,
        }));
    }
    Ok(measured)
}

impl Flavour {
    /// Each client gets a runtime of its own, so that no task of another one is left on it.
    fn run(self, client: &Client, rows: &[Row]) -> io::Result<Vec<Cell>> {
        let mut builder = match self {
            Self::CurrentThread => Builder::new_current_thread(),
            Self::MultiThread => Builder::new_multi_thread(),
        };
        builder.enable_all().build()?.block_on(async {
            let mut cells = Vec::new();
            for row in rows {
                if row.protocols.contains(&client.protocol) {
                    cells.push(run(row, client).await?);
                }
            }
            Ok(cells)
        })
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CurrentThread => "current_thread",
            Self::MultiThread => "multi_thread",
        })
    }
}
