//! Prints what the stories came to: a table, a timeline, or JSON.

use serde_json::{Value, json};

use crate::story::{Ours, Story, Today};

/// One story, played both ways.
pub(crate) struct Played {
    pub(crate) story: Story,
    pub(crate) today: Today,
    pub(crate) ours: Ours,
}

impl Played {
    pub(crate) fn passes(&self) -> bool {
        self.story.passes(&self.ours)
    }
}

/// The table, in Markdown.
pub(crate) fn table(played: &[Played]) -> String {
    let head = [
        "| story | today: refunds, word | tower-outcome: refunds, words | the customer reads |",
        "|---|---|---|---|",
    ];
    let rows = played.iter().map(|one| {
        format!(
            "| {} {} | {}, {} | {}, {} | {} |",
            one.story.name(),
            one.story.title,
            one.today.commits,
            one.today.word,
            one.ours.commits,
            one.ours.words().join(", "),
            one.ours.reply,
        )
    });
    lines(head.map(str::to_owned).into_iter().chain(rows))
}

/// Everything that happened in one story.
pub(crate) fn timeline(one: &Played) -> String {
    let head = [
        format!("story {}: {}", one.story.name(), one.story.title),
        format!(
            "today: {} refunds, the model is told \"{}\"",
            one.today.commits, one.today.word
        ),
        format!("tower-outcome: {} refunds", one.ours.commits),
    ];
    let events = one.ours.timeline.iter().map(|line| format!("  {line}"));
    lines(head.into_iter().chain(events))
}

/// What was not as it has to be.
pub(crate) fn faults(one: &Played) -> String {
    let ended = format!(
        "story {}: {} refunds and {:?}, expected {} and {:?}",
        one.story.name(),
        one.ours.commits,
        one.ours.words(),
        one.story.commits,
        one.story.words,
    );
    let faults = one.ours.faults.iter().map(|fault| format!("  {fault}"));
    lines(std::iter::once(ended).chain(faults))
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| line + "\n").collect()
}

pub(crate) fn json(played: &[Played]) -> Value {
    let stories: Vec<Value> = played
        .iter()
        .map(|one| {
            json!({
                "story": one.story.number,
                "variant": one.story.variant,
                "title": one.story.title,
                "today": { "commits": one.today.commits, "word": one.today.word },
                "ours": {
                    "commits": one.ours.commits,
                    "words": one.ours.words(),
                    "expected_commits": one.story.commits,
                    "expected_words": one.story.words,
                    "pass": one.passes(),
                    "customer_reads": one.ours.reply,
                    "envelopes": one.ours.envelopes,
                },
            })
        })
        .collect();
    json!({ "stories": stories })
}
