//! Stories about somebody who goes away: the customer, or the whole agent.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};
use tower_outcome::{Outcome, Profile};
use tower_outcome_testkit::{Billing, LookUp, Step};

use crate::agent::{Agent, Setting, close, order_7};
use crate::story::{Failure, Ours, Story, Today, World};
use crate::today::{Client, word};

pub(crate) const STORIES: &[Story] = &[
    Story {
        number: 6,
        variant: "",
        title: "the customer closes the tab mid-refund",
        commits: 1,
        words: &["already_done/already_done"],
        today: |world| Box::pin(today_tab_closed(world)),
        ours: |world| Box::pin(tab_closed(world)),
    },
    Story {
        number: 8,
        variant: "a",
        title: "the agent is killed after the send; billing can be asked by key",
        commits: 1,
        words: KILLED,
        today: |world| Box::pin(today_killed(world)),
        ours: |world| Box::pin(killed(world, LookUp::Key)),
    },
    Story {
        number: 8,
        variant: "b",
        title: "the agent is killed after the send; billing can be asked by reference",
        commits: 1,
        words: KILLED,
        today: |world| Box::pin(today_killed(world)),
        ours: |world| Box::pin(killed(world, LookUp::Reference)),
    },
];

const KILLED: &[&str] = &[
    "skipped/already_in_progress",
    "unknown/still_confirming",
    "already_done/already_done",
];

async fn today_tab_closed(_: World) -> Result<Today, Failure> {
    let billing = Billing::start().await?;
    billing.script([Step::CommitThenHold]);
    let client = Client::new(format!("{}/refunds", billing.url()))?;
    let arguments = order_7();
    tokio::select! {
        _ = client.refund(&arguments) => {}
        () = billing.wait_commits(1) => {}
    }
    let word = word(&client.refund(&arguments).await);
    Ok(Today {
        commits: billing.commits(),
        word,
    })
}

async fn tab_closed(world: World) -> Result<Ours, Failure> {
    let billing = Billing::start().await?;
    billing.script([Step::CommitThenHold]);
    let agent = Agent::new(&world, &billing.url(), Setting::default().in_no_hurry())?;
    let mut story = Ours::default();
    tokio::select! {
        _ = agent.refund(order_7()) => story.expect(false, "the call ended by itself"),
        () = billing.wait_commits(1) => {}
    }
    story.note("the customer closes the tab; the call's future is dropped");
    billing.release();
    let envelope = agent.refund_in(&mut story, order_7()).await;
    story.tell(envelope.outcome());
    close(story, &world, &billing).await
}

async fn today_killed(world: World) -> Result<Today, Failure> {
    let billing = Billing::start().await?;
    billing.script([Step::CommitThenHold]);
    let mut agent = start(&world, "today", &billing, "key")?;
    billing.wait_commits(1).await;
    agent.kill().await?;
    let client = Client::new(format!("{}/refunds", billing.url()))?;
    let again = client.refund(&order_7()).await;
    Ok(Today {
        commits: billing.commits(),
        word: word(&again),
    })
}

async fn killed(world: World, look_up: LookUp) -> Result<Ours, Failure> {
    let billing = match look_up {
        LookUp::Reference => Billing::start_without_keys().await?,
        _ => Billing::start().await?,
    };
    billing.look_up_by(look_up);
    billing.script([Step::CommitThenHold]);
    let by = if look_up == LookUp::Reference {
        "reference"
    } else {
        "key"
    };
    let mut agent = start(&world, "ours", &billing, by)?;
    billing.wait_commits(1).await;
    agent.kill().await?;
    let mut story = Ours::default();
    story.note("the agent's process is killed after the send");

    let impatient = Setting {
        patience: Duration::from_millis(100),
        ..setting(by)
    };
    let restarted = Agent::new(&world, &billing.url(), impatient)?;
    restarted.refund_in(&mut story, order_7()).await;
    // As long as the dead owner's lease runs, nobody knows that it is dead.
    let restarted = Agent::new(&world, &billing.url(), setting(by))?;
    restarted.refund_in(&mut story, order_7()).await;
    restarted.reconcile(&mut story, &billing.url()).await?;
    restarted.refund_in(&mut story, order_7()).await;
    story.tell(Outcome::AlreadyDone);
    close(story, &world, &billing).await
}

/// The agent that gets killed, in a process of its own.
fn start(world: &World, kind: &str, billing: &Billing, by: &str) -> Result<Child, Failure> {
    let child = Command::new(&world.agent_program)
        .args(["--agent", kind, &billing.url(), by, &world.scope])
        .arg(&world.ledger_file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    Ok(child)
}

/// What that process does.
pub(crate) async fn play(kind: &str, url: &str, by: &str, world: World) -> Result<(), Failure> {
    if kind == "today" {
        let client = Client::new(format!("{url}/refunds"))?;
        let _ = client.refund(&order_7()).await;
    } else {
        Agent::new(&world, url, setting(by))?
            .refund(order_7())
            .await;
    }
    Ok(())
}

fn setting(by: &str) -> Setting {
    let profile = match by {
        "reference" => Profile::generic().without_key().with_reference("reference"),
        _ => Profile::idempotency_key(),
    };
    Setting {
        lease: Duration::from_millis(1500),
        profile,
        ..Setting::default().in_no_hurry()
    }
}
