//! A proxy that repeats requests and makes answers up.

use std::time::Duration;

use tower_outcome_testkit::{Billing, End, Relay, ReplayingProxy, Reply, Step, What};

use crate::client::{CREATED, Client, Ending, get, until, write};

async fn in_front(steps: impl IntoIterator<Item = Step>, relay: Relay) -> (Billing, Client) {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script(steps);
    let proxy = ReplayingProxy::start(billing.addr()).await.unwrap();
    proxy.script([relay]);
    let client = Client::through(proxy).await;
    (billing, client)
}

fn status(answer: &str) -> &str {
    &answer[9..12]
}

#[tokio::test]
async fn a_request_and_its_answer_pass_unchanged() {
    let (billing, mut client) = in_front([], Relay::Once).await;
    client.send(write("k")).await;
    assert_eq!(client.answer().await, CREATED);
    client.send(get("/refunds?key=k")).await;
    assert_eq!(status(&client.answer().await), "200");
    assert_eq!(billing.commits_of("k"), 1);
    assert_eq!(billing.received()[0].header("connection"), Some("close"));
}

#[tokio::test]
async fn a_lost_answer_has_the_write_made_again() {
    for step in [
        Step::CommitThenClose,
        Step::CommitThenReset,
        Step::HalfAnswer {
            bytes: CREATED.len() - 1,
            end: End::Close,
        },
    ] {
        let (billing, mut client) = in_front([step], Relay::AgainIfLost).await;
        client.send(write("k")).await;
        assert!(client.answer().await.contains("re_2"));
        assert_eq!(billing.commits(), 2);
    }
}

#[tokio::test]
async fn an_answer_that_is_not_lost_is_not_asked_for_again() {
    let refusal = Step::AnswerWith(Reply::new(503));
    for relay in [Relay::AgainIfLost, Relay::LostAs(Reply::new(502))] {
        let (billing, mut client) = in_front([refusal.clone()], relay).await;
        client.send(write("k")).await;
        assert_eq!(status(&client.answer().await), "503");
        assert_eq!(billing.received().len(), 1);
    }
}

#[tokio::test]
async fn a_write_can_be_sent_on_twice_at_once() {
    let (billing, mut client) = in_front([Step::CommitThenHold], Relay::TwiceAtOnce).await;
    client.send(write("k")).await;
    // One of the two is held, and the other is handed back.
    assert_eq!(status(&client.answer().await), "201");
    billing.wait_commits(2).await;
    // A third would need a third write.
    client.send(write("next")).await;
    client.answer().await;
    assert_eq!(billing.commits(), 3);
}

#[tokio::test]
async fn a_lost_answer_can_become_a_refusal_of_its_own() {
    let relay = Relay::LostAs(Reply::new(503));
    let (billing, mut client) = in_front([Step::CommitThenReset], relay).await;
    client.send(write("k")).await;
    assert_eq!(status(&client.answer().await), "503");
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_gateway_can_time_out_while_the_upstream_works() {
    let relay = Relay::AnswerMeanwhile(Reply::new(504));
    let (billing, mut client) = in_front([Step::CommitThenHold], relay).await;
    client.send(write("k")).await;
    assert_eq!(status(&client.answer().await), "504");
    billing.wait_commits(1).await;
    billing.wait_for(|event| event.what == What::Holding).await;
    billing.release();
    until(&billing, What::Answered { status: 201 }).await;
}

#[tokio::test]
async fn a_write_can_be_refused_after_it_was_made() {
    let relay = Relay::AnswerInstead(Reply::new(429));
    let (billing, mut client) = in_front([], relay).await;
    client.send(write("k")).await;
    assert_eq!(status(&client.answer().await), "429");
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_lost_answer_is_handed_back_as_far_as_it_came() {
    let half = Step::HalfAnswer {
        bytes: 20,
        end: End::Reset,
    };
    let (_billing, mut client) = in_front([half], Relay::Once).await;
    client.send(write("k")).await;
    let start = CREATED[..20].to_owned();
    assert_eq!(client.ending().await, (start, Ending::Fin));
}

#[tokio::test]
async fn a_read_takes_no_relay() {
    let (billing, mut client) = in_front([], Relay::AnswerInstead(Reply::new(429))).await;
    client.send(get("/refunds")).await;
    assert_eq!(status(&client.answer().await), "200");
    client.send(write("k")).await;
    assert_eq!(status(&client.answer().await), "429");
    assert_eq!(billing.received().len(), 2);
}

#[tokio::test]
async fn an_upstream_that_falls_silent_has_lost_the_answer() {
    let silence = [Step::ReadAllThenSilence];
    let (billing, mut client) = in_front(silence, Relay::AgainIfLost).await;
    client.send(write("k")).await;
    billing.wait_for(|event| event.what == What::Holding).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(6)).await;
    tokio::time::resume();
    assert_eq!(status(&client.answer().await), "201");
    assert_eq!(billing.received().len(), 2);
    assert_eq!(billing.commits(), 1);
}
