//! Stories about answers: lost, late, of the wrong kind.

use serde_json::json;
use tower_outcome::{Outcome, Profile};
use tower_outcome_testkit::{Billing, Refusing, Reply, Step};

use crate::agent::{Agent, Setting, close, order_7};
use crate::story::{Failure, Ours, Story, Today, World};
use crate::today::Client;

pub(crate) const STORIES: &[Story] = &[
    Story {
        number: 1,
        variant: "",
        title: "the answer is lost and the deadline passes",
        commits: 1,
        words: &[
            "unknown/timeout_after_send",
            "unknown/still_confirming",
            "already_done/already_done",
        ],
        today: |world| Box::pin(today(world, Step::CommitThenSilence)),
        ours: |world| Box::pin(lost_answer(world)),
    },
    Story {
        number: 2,
        variant: "a",
        title: "billing commits and answers 503; it honours keys",
        commits: 1,
        words: &["ok/done_replayed"],
        today: |world| Box::pin(today(world, unavailable())),
        ours: |world| Box::pin(server_error_keyed(world)),
    },
    Story {
        number: 2,
        variant: "b",
        title: "billing commits and answers 503; it knows no keys",
        commits: 1,
        words: &["unknown/server_error"],
        today: |world| Box::pin(today(world, unavailable())),
        ours: |world| Box::pin(server_error_unkeyed(world)),
    },
    Story {
        number: 10,
        variant: "a",
        title: "the connection closes right after the request",
        commits: 1,
        words: &["unknown/response_lost"],
        today: |world| Box::pin(today(world, Step::CommitThenClose)),
        ours: |world| Box::pin(closed(world)),
    },
    Story {
        number: 10,
        variant: "b",
        title: "the connection is refused",
        commits: 0,
        words: &["failed/connect_failed"],
        today: |world| Box::pin(today_refused(world)),
        ours: |world| Box::pin(refused(world)),
    },
];

async fn today(_: World, step: Step) -> Result<Today, Failure> {
    let billing = Billing::start().await?;
    billing.script([step]);
    let client = Client::new(format!("{}/refunds", billing.url()))?;
    let word = client.refund_as_the_model_does(&order_7()).await;
    Ok(Today {
        commits: billing.commits(),
        word,
    })
}

async fn today_refused(_: World) -> Result<Today, Failure> {
    let refusing = Refusing::start()?;
    let client = Client::new(format!("{}/refunds", refusing.url()))?;
    let word = client.refund_as_the_model_does(&order_7()).await;
    Ok(Today { commits: 0, word })
}

async fn lost_answer(world: World) -> Result<Ours, Failure> {
    let billing = Billing::start().await?;
    billing.script([Step::CommitThenSilence]);
    let agent = Agent::new(&world, &billing.url(), Setting::default())?;
    let mut story = Ours::default();

    agent.refund_in(&mut story, order_7()).await;
    agent.refund_in(&mut story, order_7()).await;
    agent.reconcile(&mut story, &billing.url()).await?;
    let last = agent.refund_in(&mut story, order_7()).await;

    let original = json!({ "id": "re_1", "order": 7, "amount": 20 });
    story.expect(
        *last.data() == original,
        "the confirmation is not billing's",
    );
    story.tell(Outcome::AlreadyDone);
    close(story, &world, &billing).await
}

async fn server_error(
    world: World,
    billing: std::io::Result<Billing>,
    setting: Setting,
) -> Result<Ours, Failure> {
    let billing = billing?;
    billing.script([unavailable()]);
    let agent = Agent::new(&world, &billing.url(), setting.in_no_hurry())?;
    let mut story = Ours::default();
    let envelope = agent.refund_in(&mut story, order_7()).await;
    story.tell(envelope.outcome());
    close(story, &world, &billing).await
}

async fn server_error_keyed(world: World) -> Result<Ours, Failure> {
    server_error(world, Billing::start().await, Setting::default()).await
}

async fn server_error_unkeyed(world: World) -> Result<Ours, Failure> {
    let billing = Billing::start_without_keys().await;
    server_error(world, billing, unkeyed()).await
}

async fn closed(world: World) -> Result<Ours, Failure> {
    let billing = Billing::start_without_keys().await?;
    billing.script([Step::CommitThenClose]);
    let agent = Agent::new(&world, &billing.url(), unkeyed().in_no_hurry())?;
    let mut story = Ours::default();
    let envelope = agent.refund_in(&mut story, order_7()).await;
    story.tell(envelope.outcome());
    close(story, &world, &billing).await
}

async fn refused(world: World) -> Result<Ours, Failure> {
    let refusing = Refusing::start()?;
    let agent = Agent::new(&world, &refusing.url(), unkeyed().in_no_hurry())?;
    let mut story = Ours::default();
    let envelope = agent.refund_in(&mut story, order_7()).await;
    story.tell(envelope.outcome());
    // Opened only to show that nothing was on its way.
    close(story, &world, &refusing.open()?).await
}

fn unkeyed() -> Setting {
    Setting {
        profile: Profile::generic(),
        ..Setting::default()
    }
}

fn unavailable() -> Step {
    Step::CommitThenAnswerWith(Reply::new(503).with_body("try later"))
}
