//! Stories about the same wish, made again.

use serde_json::{Value, json};
use tower_outcome::Outcome;
use tower_outcome_testkit::{Billing, Step};

use crate::agent::{Agent, Setting, close, order_7};
use crate::story::{Failure, Ours, Story, Today, World};
use crate::today::{Client, word};

pub(crate) const STORIES: &[Story] = &[
    Story {
        number: 4,
        variant: "",
        title: "the same call after it succeeded",
        commits: 1,
        words: &["ok/done", "already_done/already_done"],
        today: |world| Box::pin(today_twice(world, order_7())),
        ours: |world| Box::pin(again(world, order_7())),
    },
    Story {
        number: 5,
        variant: "",
        title: "two identical calls at once",
        commits: 1,
        words: &["ok/done", "already_done/already_done"],
        today: |world| Box::pin(today_at_once(world)),
        ours: |world| Box::pin(at_once(world)),
    },
    Story {
        number: 7,
        variant: "",
        title: "the model rewords the reason and writes 20.0 for 20",
        commits: 1,
        words: &["ok/done", "already_done/already_done"],
        today: |world| Box::pin(today_twice(world, reworded())),
        ours: |world| Box::pin(again(world, reworded())),
    },
];

async fn today_twice(_: World, second: Value) -> Result<Today, Failure> {
    let billing = Billing::start().await?;
    let client = Client::new(format!("{}/refunds", billing.url()))?;
    let _ = client.refund(&order_7()).await;
    let word = word(&client.refund(&second).await);
    Ok(Today {
        commits: billing.commits(),
        word,
    })
}

async fn today_at_once(_: World) -> Result<Today, Failure> {
    let billing = Billing::start().await?;
    let client = Client::new(format!("{}/refunds", billing.url()))?;
    let arguments = order_7();
    let (_, second) = tokio::join!(client.refund(&arguments), client.refund(&arguments));
    Ok(Today {
        commits: billing.commits(),
        word: word(&second),
    })
}

async fn again(world: World, second: Value) -> Result<Ours, Failure> {
    let billing = Billing::start().await?;
    let agent = Agent::new(&world, &billing.url(), Setting::default().in_no_hurry())?;
    let mut story = Ours::default();
    let first = agent.refund_in(&mut story, order_7()).await;
    let again = agent.refund_in(&mut story, second).await;
    story.expect(
        first.data() == again.data(),
        "the stored result is not the first one",
    );
    story.expect(first.key() == again.key(), "one wish got two keys");
    story.expect(billing.received().len() == 1, "billing was called again");
    story.tell(again.outcome());
    close(story, &world, &billing).await
}

async fn at_once(world: World) -> Result<Ours, Failure> {
    let billing = Billing::start().await?;
    billing.script([Step::CommitThenHold]);
    let agent = Agent::new(&world, &billing.url(), Setting::default().in_no_hurry())?;
    let mut story = Ours::default();
    story.note("the model calls refund twice in one turn");
    let (first, second, ()) =
        tokio::join!(agent.refund(order_7()), agent.refund(order_7()), async {
            billing.wait_commits(1).await;
            billing.release();
        });
    story.expect(billing.received().len() == 1, "billing was called twice");
    // Neither came first: the one that led is told first.
    let (leader, follower) = match first.outcome() {
        Outcome::Ok => (first, second),
        _ => (second, first),
    };
    story.tell(follower.outcome());
    story.take(leader);
    story.take(follower);
    close(story, &world, &billing).await
}

fn reworded() -> Value {
    json!({ "order": 7, "amount": 20.0, "reason": "the customer says it came damaged" })
}
