//! The story about a model that says more than happened.

use tower_outcome::Outcome;
use tower_outcome_testkit::{Billing, Step};
use tower_outcome_tools::Action;

use crate::agent::{Agent, Setting, close, order_7};
use crate::story::{CHECKER, Failure, Ours, Story, Today, World};
use crate::today::Client;

pub(crate) const STORIES: &[Story] = &[Story {
    number: 9,
    variant: "",
    title: "the model claims success while nobody knows",
    commits: 1,
    words: &["unknown/timeout_after_send"],
    today: |world| Box::pin(today(world)),
    ours: |world| Box::pin(claimed(world)),
}];

/// What the model writes, whatever its tool told it.
const CLAIM: &str = "Good news! I have refunded order 7. You will see 20.00 on your account soon.";

async fn today(_: World) -> Result<Today, Failure> {
    let billing = Billing::start().await?;
    billing.script([Step::CommitThenSilence]);
    let client = Client::new(format!("{}/refunds", billing.url()))?;
    let word = client.refund_as_the_model_does(&order_7()).await;
    Ok(Today {
        commits: billing.commits(),
        word,
    })
}

async fn claimed(world: World) -> Result<Ours, Failure> {
    let billing = Billing::start().await?;
    billing.script([Step::CommitThenSilence]);
    let agent = Agent::new(&world, &billing.url(), Setting::default())?;
    let mut story = Ours::default();
    let envelope = agent.refund_in(&mut story, order_7()).await;

    let actions = [Action::new("refund", envelope.outcome()).with_resource("7")];
    let verdict = CHECKER.check(CLAIM, &actions);
    story.note(format!("the model replies: {CLAIM}"));
    for flag in verdict.flags() {
        story.note(format!(
            "the checker flags {:?}: {}",
            flag.reason, flag.sentence
        ));
    }
    story.expect(!verdict.is_clean(), "the checker let the claim pass");
    story.tell(Outcome::Unknown);
    let goes_out = CHECKER.check(&story.reply, &actions);
    story.expect(goes_out.is_clean(), "the summary claims more than happened");
    close(story, &world, &billing).await
}
