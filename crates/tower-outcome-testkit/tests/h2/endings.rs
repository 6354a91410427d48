//! Steps that end without a whole answer.

use tokio_test::{assert_pending, task};
use tower_outcome_testkit::{Billing, End, Reply, Step, What};

use crate::client::{BODY, Client, happened, on_both_runtimes, until, write};
use crate::raw::{self, Ending, Raw};

#[test]
fn a_committed_write_can_be_closed_or_reset_without_an_answer() {
    on_both_runtimes(|| async {
        let steps = [
            (Step::CommitThenClose, What::Closed),
            (Step::CommitThenReset, What::Reset),
        ];
        for (step, what) in steps {
            let billing = Billing::start().await.unwrap();
            billing.script([step]);

            Client::connect(&billing)
                .await
                .write("k")
                .await
                .unwrap_err();
            assert_eq!(billing.commits(), 1);
            until(&billing, what).await;
        }
    });
}

#[tokio::test]
async fn silence_is_for_one_stream_and_the_next_is_answered() {
    let steps = [
        (Step::CommitThenSilence, 1, BODY),
        (Step::ReadAllThenSilence, 0, BODY),
        (Step::ReadHeadThenSilence, 0, ""),
    ];
    for (step, commits, body) in steps {
        let billing = Billing::start().await.unwrap();
        billing.script([step]);

        let mut client = Client::connect(&billing).await;
        let mut silent = task::spawn(client.send(write("k")));
        assert_pending!(silent.poll());
        until(&billing, What::Holding).await;
        client.write("other").await.unwrap();
        assert_pending!(silent.poll());
        assert_eq!(billing.commits_of("k"), commits);
        assert_eq!(billing.received()[0].body, body.as_bytes());
        assert_eq!(billing.received()[0].complete, !body.is_empty());
        assert_eq!(happened(&billing, 1).last(), Some(&What::Holding));
    }
}

#[tokio::test]
async fn a_connection_that_is_held_says_and_reads_nothing_more() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerThen(End::Hold)]);

    let mut client = Client::connect(&billing).await;
    client.write("1").await.unwrap();
    let mut unread = task::spawn(client.send(write("2")));
    assert_pending!(unread.poll());
    until(&billing, What::Holding).await;
    client.connection.abort();
    billing
        .wait_for(|event| matches!(event.what, What::ClientClosed | What::ClientReset))
        .await;
    assert_eq!(billing.received().len(), 1);
}

#[tokio::test]
async fn an_early_answer_comes_before_the_body_was_sent() {
    for (end, ending) in [(End::Close, Ending::Fin), (End::Reset, Ending::Reset)] {
        let billing = Billing::start().await.unwrap();
        billing.script([Step::EarlyAnswer {
            reply: Reply::new(413),
            end,
        }]);

        let (mut client, _) = Raw::greeted(&billing, &[]).await;
        client.send(raw::head(1, "k")).await;
        let flags = raw::END_HEADERS | raw::END_STREAM;
        let answer = raw::frame(raw::HEADERS, flags, 1, &raw::block(&[(":status", "413")]));
        assert_eq!(client.ending().await, (answer, ending));
        assert_eq!(billing.commits(), 0);
    }
}

#[tokio::test]
async fn a_server_can_speak_first_or_before_the_next_stream() {
    let speak = || Step::SpeakFirst {
        bytes: b"hello".to_vec(),
        end: End::Close,
    };
    let billing = Billing::start().await.unwrap();
    billing.script([speak()]);
    let mut client = Raw::connect(&billing).await;
    assert_eq!(client.ending().await, (b"hello".to_vec(), Ending::Fin));

    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    billing.script([speak()]);
    client.send(raw::write(1, "k")).await;
    assert_eq!(client.ending().await, (b"hello".to_vec(), Ending::Fin));
    assert_eq!(billing.received(), []);
}

#[tokio::test]
async fn a_committed_write_can_be_answered_with_nonsense() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenSend {
        bytes: b"nonsense".to_vec(),
        end: End::Close,
    }]);

    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    client.send(raw::write(1, "k")).await;
    assert_eq!(client.ending().await, (b"nonsense".to_vec(), Ending::Fin));
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_killed_client_is_noticed_and_its_whole_requests_were_read() {
    let billing = Billing::start().await.unwrap();
    let mut client = Raw::connect(&billing).await;
    let settings = raw::frame(raw::SETTINGS, 0, 0, &[]);
    client
        .send([raw::PREFACE, &settings, &raw::write(1, "k")].concat())
        .await;
    drop(client);
    billing.wait_commits(1).await;
    billing
        .wait_for(|event| matches!(event.what, What::ClientClosed | What::ClientReset))
        .await;
}
