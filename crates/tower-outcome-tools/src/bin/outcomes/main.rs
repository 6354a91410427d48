//! The command `outcomes`: lists, shows and resolves what is in doubt in a ledger.

use std::io::Write as _;
use std::process::ExitCode;

mod arguments;
mod failure;
mod open;
mod render;

use arguments::{Arguments, Command, HELP, Parsed};
use failure::Failure;
use serde_json::{Value, json};
use tower_outcome_core::ledger::{Filter, Page};
use tower_outcome_tools::Operator;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let told = match arguments::parse(lexopt::Parser::from_env()) {
        Ok(Parsed::Help) => Ok(HELP.to_owned()),
        Ok(Parsed::Run(arguments)) => run(arguments).await,
        Err(failure) => Err(failure),
    };
    match told {
        Ok(text) => {
            // Whoever closed the pipe has read enough.
            let _ = writeln!(std::io::stdout(), "{}", text.trim_end());
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "outcomes: {failure}");
            failure.exit_code()
        }
    }
}

async fn run(arguments: Arguments) -> Result<String, Failure> {
    let operator = Operator::new(open::open(&arguments.place).await?);
    let (value, text): (Value, fn(&Value) -> String) = match arguments.command {
        Command::List(filter) => (render::page(&page(&operator, filter).await?), render::table),
        Command::Show(name) => {
            let entry = operator.find(name.scope.as_deref(), &name.digits).await?;
            (render::entry(&entry), render::lines)
        }
        Command::Resolve {
            name,
            done,
            by,
            reason,
        } => {
            let entry = operator.find(name.scope.as_deref(), &name.digits).await?;
            if done {
                operator.resolve_done(&entry, None, &by, &reason).await?;
            } else {
                operator.resolve_failed(&entry, &by, &reason).await?;
            }
            let entry = operator.show(&entry.key).await?;
            (render::entry(&entry), render::lines)
        }
        Command::Purge => (json!({ "purged": operator.purge().await? }), render::lines),
        Command::Stats => (render::stats(&operator.stats().await?), render::lines),
    };
    if arguments.json {
        return Ok(value.to_string());
    }
    Ok(text(&value))
}

/// The next entries that there are: a ledger may look through many others before it comes to one.
async fn page(operator: &Operator, mut filter: Filter) -> Result<Page, Failure> {
    loop {
        let page = operator.list(&filter).await?;
        let found = !page.entries.is_empty() || !page.unreadable.is_empty();
        if found || page.next.is_none() {
            return Ok(page);
        }
        filter.after = page.next;
    }
}
