//! The ten stories of the `refund_agent` example, each with the number of refunds and the words
//! that it has to end in.

#[path = "../examples/refund_agent/agent.rs"]
mod agent;
#[path = "../examples/refund_agent/answers.rs"]
mod answers;
#[path = "../examples/refund_agent/claims.rs"]
mod claims;
#[path = "../examples/refund_agent/leavers.rs"]
#[expect(
    dead_code,
    reason = "the killed agent is played by the example's own program"
)]
mod leavers;
#[path = "../examples/refund_agent/repeats.rs"]
mod repeats;
#[path = "../examples/refund_agent/report.rs"]
#[expect(dead_code, reason = "the tests look at the table alone")]
mod report;
#[path = "../examples/refund_agent/story.rs"]
mod story;
#[path = "../examples/refund_agent/today.rs"]
mod today;
#[path = "../examples/refund_agent/unsent.rs"]
mod unsent;

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use report::Played;
use story::{Ours, Story, World};
use tower_outcome_sqlite::SqliteLedger;

const CONFIRMED_LATER: &[&str] = &[
    "unknown/timeout_after_send",
    "unknown/still_confirming",
    "already_done/already_done",
];
const FAILED_THEN_DONE: &[&str] = &["failed/timeout_before_send", "ok/done"];
const ONCE: &[&str] = &["ok/done", "already_done/already_done"];
const KILLED: &[&str] = &[
    "skipped/already_in_progress",
    "unknown/still_confirming",
    "already_done/already_done",
];

macro_rules! stories {
    ($($test:ident: $module:ident $number:literal $variant:literal, $today:literal refunds today,
        $ours:literal with the layers, $words:expr;)+) => {$(
        #[tokio::test]
        async fn $test() {
            let story = find($module::STORIES, $number, $variant);
            let world = World::of(stringify!($test));
            let today = (story.today)(world.clone()).await.unwrap();
            assert_eq!(today.commits, $today, "as people write it today");

            let ours = (story.ours)(world).await.unwrap();
            assert_eq!(ours.words(), $words, "{}", log(&ours));
            assert_eq!(ours.commits, $ours, "{}", log(&ours));
            assert_eq!(ours.faults, Vec::<String>::new(), "{}", log(&ours));
            is_in_the_readme(Played { story, today, ours });
        }
    )+};
}

stories! {
    a_lost_answer_is_unknown_until_the_reconciler_finds_it:
        answers 1 "", 2 refunds today, 1 with the layers, CONFIRMED_LATER;
    a_503_after_the_commit_is_resent_under_the_same_key:
        answers 2 "a", 2 refunds today, 1 with the layers, ["ok/done_replayed"];
    a_503_without_a_key_is_never_resent:
        answers 2 "b", 2 refunds today, 1 with the layers, ["unknown/server_error"];
    a_connect_that_never_completes_is_failed_and_the_next_call_succeeds:
        unsent 3 "a", 1 refunds today, 1 with the layers, FAILED_THEN_DONE;
    a_call_that_got_no_permit_is_failed_and_the_next_call_succeeds:
        unsent 3 "b", 1 refunds today, 1 with the layers, FAILED_THEN_DONE;
    nothing_leaves_after_a_deadline_in_the_backoff:
        unsent 3 "c", 1 refunds today, 1 with the layers, FAILED_THEN_DONE;
    the_same_call_after_success_gets_the_stored_result:
        repeats 4 "", 2 refunds today, 1 with the layers, ONCE;
    two_identical_calls_at_once_are_sent_once:
        repeats 5 "", 2 refunds today, 1 with the layers, ONCE;
    a_closed_tab_stops_nothing_that_left:
        leavers 6 "", 2 refunds today, 1 with the layers, ["already_done/already_done"];
    other_words_for_the_same_wish_make_the_same_key:
        repeats 7 "", 2 refunds today, 1 with the layers, ONCE;
    a_killed_agents_refund_is_found_by_its_key:
        leavers 8 "a", 2 refunds today, 1 with the layers, KILLED;
    a_killed_agents_refund_is_found_by_its_reference:
        leavers 8 "b", 2 refunds today, 1 with the layers, KILLED;
    a_claim_of_success_is_replaced_by_what_the_ledger_knows:
        claims 9 "", 2 refunds today, 1 with the layers, ["unknown/timeout_after_send"];
    a_connection_closed_after_the_request_is_not_failed:
        answers 10 "a", 2 refunds today, 1 with the layers, ["unknown/response_lost"];
    a_refused_connection_is_failed:
        answers 10 "b", 0 refunds today, 0 with the layers, ["failed/connect_failed"];
}

#[test]
fn the_readme_shows_the_tool_side_as_its_example_has_it() {
    let readme = README.split("## Around tool calls").nth(1).unwrap();
    let shown = readme.split("```").nth(1).unwrap();
    let lines = shown.strip_prefix("rust,no_run\n").unwrap();
    let code = lines.lines().filter(|line| !line.is_empty());
    assert!(code.count() <= 15, "it is to be taken in at a glance");
    assert!(include_str!("../examples/tool_calls.rs").contains(lines));
}

fn is_in_the_readme(played: Played) {
    let table = report::table(&[played]);
    let row = table.lines().last().unwrap();
    assert!(README.lines().any(|line| line == row), "{row}");
}

impl World {
    fn of(test: &str) -> Self {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        let ledger_file = directory.join("ledger.db");
        Self {
            ledger: Arc::new(SqliteLedger::open(&ledger_file).unwrap()),
            ledger_file,
            scope: "acme/customer-7".to_owned(),
            agent_program: if test.starts_with("a_killed_agent") {
                example()
            } else {
                PathBuf::new()
            },
        }
    }
}

/// The example's program, which plays the agent that gets killed.
fn example() -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--example", "refund_agent"])
        .status()
        .unwrap();
    assert!(built.success(), "the example does not build");
    let deps = std::env::current_exe().unwrap();
    deps.parent()
        .and_then(|deps| deps.parent())
        .unwrap()
        .join("examples/refund_agent")
}

fn find(stories: &[Story], number: u8, variant: &str) -> Story {
    let mut stories = stories.iter();
    *stories
        .find(|story| story.number == number && story.variant == variant)
        .unwrap()
}

fn log(ours: &Ours) -> String {
    format!("{}\n{}", ours.faults.join("\n"), ours.timeline.join("\n"))
}

const README: &str = include_str!("../README.md");
