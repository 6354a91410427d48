//! A support agent refunds an order, whatever goes wrong.
//!
//! Ten stories, played twice against a real billing server over real sockets: as people write it
//! today, and with tower-outcome. The model is scripted; nothing leaves this machine. Exits with 1
//! if one of our stories ends with other than the right number of refunds or the right words.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tower_outcome_sqlite::SqliteLedger;

mod agent;
mod answers;
mod attempts;
mod claims;
mod flags;
mod leavers;
mod repeats;
mod report;
mod story;
mod today;
mod unsent;

use flags::{Flags, USAGE};
use report::Played;
use story::{Failure, Story, World};

#[tokio::main]
async fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).peekable();
    // The agent that gets killed runs in a process of its own.
    if words.peek().is_some_and(|word| word == "--agent") {
        let words: Vec<String> = words.skip(1).collect();
        return done(be_the_agent(&words).await);
    }
    attempts::capture();
    let flags = match Flags::parse(words) {
        Ok(flags) => flags,
        Err(error) => {
            eprintln!("refund_agent: {error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    done(play_all(&flags).await)
}

fn done(result: Result<bool, Failure>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprint!("refund_agent: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                eprint!(": {cause}");
                source = cause.source();
            }
            eprintln!();
            ExitCode::FAILURE
        }
    }
}

async fn play_all(flags: &Flags) -> Result<bool, Failure> {
    let scratch = Scratch::new()?;
    let file = flags.ledger.clone().unwrap_or_else(|| scratch.file());
    let ledger = Arc::new(SqliteLedger::open(&file)?);
    let run = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();

    let mut played = Vec::new();
    for story in stories() {
        if flags.story.is_some_and(|number| number != story.number) {
            continue;
        }
        eprintln!("story {}: {}", story.name(), story.title);
        let world = World {
            ledger: Arc::clone(&ledger),
            ledger_file: file.clone(),
            scope: format!("acme/customer-{}/{run}", story.name()),
            agent_program: std::env::current_exe()?,
        };
        // Each has a billing server of its own, so that they can be played at once.
        let (today, ours) = tokio::try_join!((story.today)(world.clone()), (story.ours)(world))?;
        played.push(Played { story, today, ours });
    }
    eprintln!();

    if flags.json {
        println!("{}", serde_json::to_string_pretty(&report::json(&played))?);
    } else if flags.story.is_some() {
        for one in &played {
            println!("{}", report::timeline(one));
        }
    } else {
        print!("{}", report::table(&played));
    }
    let failed = played.iter().filter(|one| !one.passes());
    Ok(failed
        .inspect(|one| eprint!("{}", report::faults(one)))
        .count()
        == 0)
}

/// All stories, in their order.
fn stories() -> Vec<Story> {
    let all = [
        answers::STORIES,
        unsent::STORIES,
        repeats::STORIES,
        leavers::STORIES,
        claims::STORIES,
    ];
    let mut all = all.concat();
    all.sort_by_key(|story| (story.number, story.variant));
    all
}

async fn be_the_agent(words: &[String]) -> Result<bool, Failure> {
    let [kind, url, by, scope, file] = words else {
        return Err("--agent is for the program's own use".into());
    };
    let world = World {
        ledger: Arc::new(SqliteLedger::open(Path::new(file))?),
        ledger_file: file.into(),
        scope: scope.clone(),
        agent_program: PathBuf::new(),
    };
    leavers::play(kind, url, by, world).await?;
    Ok(true)
}

/// A directory for the ledger that nobody wants to keep.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("refund-agent-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    fn file(&self) -> PathBuf {
        self.0.join("ledger.db")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
