//! Stories about calls whose time runs out before anything has left.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tower_outcome::KeyedRetry;
use tower_outcome_testkit::{Billing, Refusing, Step, Unreachable};

use crate::agent::{Agent, Setting, close, order_7};
use crate::story::{Failure, Ours, Story, Today, World};
use crate::today::{Client, TIMEOUT, word};

pub(crate) const STORIES: &[Story] = &[
    Story {
        number: 3,
        variant: "a",
        title: "deadline before anything left: connect never completes",
        commits: 1,
        words: WORDS,
        today: |world| Box::pin(today_unreachable(world)),
        ours: |world| Box::pin(unreachable(world)),
    },
    Story {
        number: 3,
        variant: "b",
        title: "deadline before anything left: all permits are taken",
        commits: 1,
        words: WORDS,
        today: |world| Box::pin(today_crowded(world)),
        ours: |world| Box::pin(crowded(world)),
    },
    Story {
        number: 3,
        variant: "c",
        title: "deadline before anything left: in the wait after a refused attempt",
        commits: 1,
        words: WORDS,
        today: |world| Box::pin(today_refused(world)),
        ours: |world| Box::pin(backoff(world)),
    },
];

const WORDS: &[&str] = &["failed/timeout_before_send", "ok/done"];

async fn today_unreachable(_: World) -> Result<Today, Failure> {
    let unreachable = Unreachable::start().await?;
    let billing = Billing::start().await?;
    let client = Client::new(format!("{}/refunds", unreachable.url()))?;
    let first = word(&client.refund(&order_7()).await);
    let _ = Client::new(format!("{}/refunds", billing.url()))?
        .refund(&order_7())
        .await;
    Ok(Today {
        commits: billing.commits(),
        word: first,
    })
}

async fn today_crowded(_: World) -> Result<Today, Failure> {
    let billing = Billing::start().await?;
    let client = Client::new(format!("{}/refunds", billing.url()))?;
    let permits = Semaphore::new(0);
    let waited = tokio::time::timeout(TIMEOUT, permits.acquire()).await;
    let first = if waited.is_err() { "failed" } else { "ok" };
    let _ = client.refund(&order_7()).await;
    Ok(Today {
        commits: billing.commits(),
        word: first,
    })
}

async fn today_refused(_: World) -> Result<Today, Failure> {
    let refusing = Refusing::start()?;
    let client = Client::new(format!("{}/refunds", refusing.url()))?;
    let first = word(&client.refund(&order_7()).await);
    let billing = refusing.open()?;
    let _ = client.refund(&order_7()).await;
    Ok(Today {
        commits: billing.commits(),
        word: first,
    })
}

async fn unreachable(world: World) -> Result<Ours, Failure> {
    let unreachable = Unreachable::start().await?;
    let agent = Agent::new(&world, &unreachable.url(), Setting::default())?;
    let mut story = Ours::default();
    agent.refund_in(&mut story, order_7()).await;

    let billing = Billing::start().await?;
    let agent = Agent::new(&world, &billing.url(), Setting::default().in_no_hurry())?;
    let envelope = agent.refund_in(&mut story, order_7()).await;
    story.tell(envelope.outcome());
    close(story, &world, &billing).await
}

async fn crowded(world: World) -> Result<Ours, Failure> {
    let billing = Billing::start().await?;
    billing.script([Step::CommitThenHold]);
    let setting = Setting {
        concurrency: 1,
        ..Setting::default()
    };
    let agent = Agent::new(&world, &billing.url(), setting)?;
    let mut story = Ours::default();

    let other = tokio::spawn({
        let agent = agent.clone();
        async move { agent.refund(order_6()).await }
    });
    billing.wait_commits(1).await;
    agent.refund_in(&mut story, order_7()).await;
    billing.release();
    other.await?;
    let envelope = agent.refund_in(&mut story, order_7()).await;
    story.tell(envelope.outcome());

    let mut story = close(story, &world, &billing).await?;
    story.commits -= 1; // the refund of order 6
    Ok(story)
}

async fn backoff(world: World) -> Result<Ours, Failure> {
    let refusing = Refusing::start()?;
    let setting = Setting {
        retry: KeyedRetry::new(1000).with_first_delay(Duration::from_secs(5)),
        ..Setting::default()
    };
    let agent = Agent::new(&world, &refusing.url(), setting)?;
    let mut story = Ours::default();
    agent.refund_in(&mut story, order_7()).await;

    // `failed` was said. If a second attempt were still to come, it would come now.
    let billing = refusing.open()?;
    let watch = Duration::from_secs(5);
    let late = tokio::time::timeout(watch, billing.wait_for(|_| true)).await;
    story.expect(late.is_err(), "something left after `failed` was said");
    story.note("for 5 s nothing arrives at billing");

    let envelope = agent.refund_in(&mut story, order_7()).await;
    story.tell(envelope.outcome());
    close(story, &world, &billing).await
}

fn order_6() -> Value {
    json!({ "order": 6, "amount": 35 })
}
