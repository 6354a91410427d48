//! What happened can be waited for and read.

use std::time::Duration;

use tokio_test::task;
use tower_outcome_testkit::{Billing, Step, What};

use crate::client::{Client, happened, write};

#[tokio::test]
async fn everything_stands_in_the_timeline_in_order() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerThen(tower_outcome_testkit::End::Close)]);

    let mut client = Client::sending(&billing, write("k")).await;
    client.ending().await;
    let expected = [
        What::Accepted,
        What::ReadHead {
            method: "POST".to_owned(),
            path: "/refunds".to_owned(),
        },
        What::ReadAll,
        What::Committed {
            id: "re_1".to_owned(),
        },
        What::Answered { status: 201 },
        What::Closed,
    ];
    // The client saw the end, so all before it is noted already.
    assert_eq!(happened(&billing, 1), expected);
}

#[tokio::test(start_paused = true)]
async fn the_timeline_can_be_read() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerAfter(Duration::from_millis(1500))]);

    let mut client = Client::sending(&billing, write("k")).await;
    client.answer().await;
    let lines: Vec<_> = billing.timeline().iter().map(ToString::to_string).collect();
    let expected = [
        "     0.000 ms  connection 1  accepted",
        "     0.000 ms  connection 1  read the head of POST /refunds",
        "     0.000 ms  connection 1  read all",
        "     0.000 ms  connection 1  committed re_1",
        "     0.000 ms  connection 1  holding",
        "  1500.000 ms  connection 1  answered 201",
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn what_has_happened_is_found_at_once() {
    let billing = Billing::start().await.unwrap();
    let mut client = Client::sending(&billing, write("k")).await;
    client.answer().await;

    let accepted = billing.wait_for(|event| event.what == What::Accepted);
    assert!(task::spawn(accepted).poll().is_ready());
    assert!(task::spawn(billing.wait_commits(1)).poll().is_ready());
}

#[tokio::test]
async fn commits_are_waited_for_until_there_are_enough() {
    let billing = Billing::start().await.unwrap();
    let mut client = Client::connect(billing.addr()).await;

    let mut none = task::spawn(billing.wait_commits(0));
    assert!(none.poll().is_ready());
    let mut both = task::spawn(billing.wait_commits(2));
    assert!(both.poll().is_pending());
    client.send(write("1")).await;
    client.answer().await;
    assert!(both.poll().is_pending());
    client.send(write("2")).await;
    client.answer().await;
    assert!(both.is_woken());
    assert!(both.poll().is_ready());
}

#[tokio::test]
async fn debug_output_shows_no_keys_and_no_bodies() {
    let billing = Billing::start().await.unwrap();
    let secret = write("sk-key").replace("/refunds", "/refunds?token=sk-query");
    let mut client = Client::sending(&billing, secret).await;
    client.answer().await;

    let shown = format!(
        "{billing:?} {:?} {:?}",
        billing.received(),
        billing.timeline()
    );
    for hidden in ["sk-key", "sk-query", "A-1"] {
        assert!(!shown.contains(hidden), "{shown}");
    }
    assert!(shown.contains("idempotency-key"));
}
