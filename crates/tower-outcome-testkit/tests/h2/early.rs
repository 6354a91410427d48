//! Steps that say something before or after it is due.

use tower_outcome_testkit::{Billing, End, Reply, Step, What};

use crate::client::{BODY, CREATED, Client, happened, until, write};
use crate::raw::{self, Ending, Raw, block, frame};

/// A head, as the server writes it.
fn head(status: &str, flags: u8) -> Vec<u8> {
    let fields = block(&[(":status", status)]);
    frame(raw::HEADERS, raw::END_HEADERS | flags, 1, &fields)
}

#[tokio::test]
async fn an_interim_answer_comes_before_the_answer() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::InterimThenAnswer(Reply::new(103))]);

    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    client.send(raw::write(1, "k")).await;
    let interim = head("103", 0);
    assert_eq!(client.read(interim.len()).await, interim);
    let answer = client.frame().await;
    assert_eq!(
        (answer.kind, answer.flags),
        (raw::HEADERS, raw::END_HEADERS)
    );
    let body = client.frame().await;
    assert_eq!((body.kind, body.flags), (raw::DATA, raw::END_STREAM));
    assert_eq!(body.payload, CREATED.as_bytes());
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_client_takes_the_answer_behind_an_interim_one() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::InterimThenAnswer(Reply::new(103))]);
    let mut client = Client::connect(&billing).await;
    let answer = client.write("k").await.unwrap();
    assert_eq!((answer.status.as_u16(), answer.text()), (201, CREATED));
}

#[tokio::test]
async fn an_interim_answer_can_be_all_there_is() {
    for (step, commits) in [
        (Step::AnswerWith(Reply::new(100)), 0),
        (Step::CommitThenAnswerWith(Reply::new(100)), 1),
    ] {
        let billing = Billing::start().await.unwrap();
        billing.script([step]);

        let (mut client, _) = Raw::greeted(&billing, &[]).await;
        client.send(raw::write(1, "k")).await;
        let interim = head("100", 0);
        assert_eq!(client.read(interim.len()).await, interim);
        assert_eq!(client.finish().await, (Vec::new(), Ending::Fin));
        assert_eq!(billing.commits(), commits);
    }
}

#[tokio::test]
async fn an_idle_connection_can_be_sent_something_and_ended() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerThenSend {
        bytes: b"stale".to_vec(),
        end: End::Close,
    }]);

    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    client.send(raw::write(1, "k")).await;
    client.frame().await;
    assert_eq!(client.frame().await.payload, CREATED.as_bytes());
    assert_eq!(client.ending().await, (b"stale".to_vec(), Ending::Fin));
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn an_answer_can_come_before_the_body_and_the_commit_after_it() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::EarlyAnswerThenCommit(Reply::new(503))]);

    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    client.send(raw::head(1, "k")).await;
    let early = head("503", raw::END_STREAM);
    assert_eq!(client.read(early.len()).await, early);
    assert_eq!(billing.commits(), 0);
    client.send(raw::body(1)).await;
    billing.wait_commits(1).await;

    client.send(raw::write(3, "next")).await;
    assert_eq!(client.frame().await.stream, 3);
}

#[tokio::test]
async fn a_server_that_has_closed_its_half_reads_on() {
    let steps = [(Step::HalfCloseThenCommit, 1), (Step::HalfCloseThenRead, 0)];
    for (step, commits) in steps {
        let billing = Billing::start().await.unwrap();
        // The second counts the bytes of a request to come, not of this one.
        let counting = Step::StopAfter {
            bytes: 1,
            end: End::Reset,
        };
        billing.script([step, counting]);

        let mut client = Raw::connect(&billing).await;
        assert_eq!(client.ending().await, (Vec::new(), Ending::Fin));
        let settings = frame(raw::SETTINGS, 0, 0, &[]);
        let request = [raw::PREFACE, &settings, &raw::write(1, "k")].concat();
        client.send(request).await;
        drop(client);
        until(&billing, What::ClientClosed).await;
        assert_eq!(billing.commits(), commits);
        let received = billing.received();
        assert_eq!(received[0].body, BODY.as_bytes());
        assert_eq!((received.len(), received[0].stream), (1, Some(1)));
        let timeline = billing.timeline();
        let closed = timeline.iter().filter(|it| it.what == What::Closed);
        assert_eq!(closed.count(), 1);
    }
}

#[tokio::test]
async fn a_server_can_close_its_half_of_an_open_connection() {
    let billing = Billing::start().await.unwrap();
    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    billing.script([Step::HalfCloseThenCommit]);
    client.send(raw::head(1, "k")).await;
    assert_eq!(client.ending().await, (Vec::new(), Ending::Fin));
    assert_eq!(billing.commits(), 0);
    client.send(raw::body(1)).await;
    billing.wait_commits(1).await;
}

#[tokio::test]
async fn what_is_sent_behind_an_answer_is_noted_behind_it() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerThenSend {
        bytes: b"stale".to_vec(),
        end: End::Close,
    }]);
    let mut client = Client::connect(&billing).await;
    // The answer may be lost to the nonsense behind it.
    let _ = client.send(write("k")).await;
    until(&billing, What::Closed).await;
    let happened = happened(&billing, 1);
    let last = &happened[happened.len() - 2..];
    assert_eq!(
        last,
        [What::Answered { status: 201 }, What::Sent { bytes: 5 }]
    );
}
