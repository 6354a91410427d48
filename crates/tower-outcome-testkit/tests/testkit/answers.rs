//! Steps that end in an answer.

use std::time::Duration;

use tower_outcome_testkit::{Billing, End, ErrorCode, Frames, Reply, Step, What};

use crate::client::{CREATED, Client, Ending, happened, until, write};

#[tokio::test]
async fn an_empty_script_commits_and_answers() {
    let billing = Billing::start().await.unwrap();

    let mut client = Client::sending(&billing, write("k")).await;
    assert_eq!(client.answer().await, CREATED);
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn steps_are_taken_in_order_and_then_every_write_is_answered() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerWith(Reply::new(503))]);
    billing.script([Step::AnswerWith(Reply::new(429))]);

    let mut client = Client::connect(billing.addr()).await;
    for status in ["503", "429", "201"] {
        client.send(write("k")).await;
        assert_eq!(&client.answer().await[9..12], status);
    }
}

#[tokio::test]
async fn a_scripted_refusal_is_sent_as_written_and_commits_nothing() {
    let billing = Billing::start().await.unwrap();
    let busy = Reply::new(503)
        .with_header("Retry-After", "7")
        .with_body("busy");
    billing.script([Step::AnswerWith(busy)]);

    let mut client = Client::sending(&billing, write("k")).await;
    let expected = "HTTP/1.1 503 \r\nRetry-After: 7\r\ncontent-length: 4\r\n\r\nbusy";
    assert_eq!(client.answer().await, expected);
    assert_eq!(billing.commits(), 0);
}

#[tokio::test]
async fn a_stated_length_is_kept_true_or_not_and_204_has_none() {
    let billing = Billing::start().await.unwrap();
    let short = Reply::new(200)
        .with_header("Content-Length", "9")
        .with_body("short");
    billing.script([
        Step::AnswerWith(Reply::new(204)),
        Step::EarlyAnswer {
            reply: short,
            end: End::Close,
        },
    ]);

    let mut client = Client::sending(&billing, write("k")).await;
    assert_eq!(client.answer().await, "HTTP/1.1 204 \r\n\r\n");
    client.send(write("k")).await;
    let short = "HTTP/1.1 200 \r\nContent-Length: 9\r\n\r\nshort";
    assert_eq!(client.ending().await, (short.to_owned(), Ending::Fin));
}

#[tokio::test]
async fn a_write_can_commit_and_be_answered_with_an_error() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenAnswerWith(Reply::new(503))]);

    let mut client = Client::sending(&billing, write("k")).await;
    assert!(client.answer().await.starts_with("HTTP/1.1 503 "));
    assert_eq!(billing.commits(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_comes_after_its_time_and_the_commit_before() {
    let billing = Billing::start().await.unwrap();
    let wait = Duration::from_secs(30);
    billing.script([Step::AnswerAfter(wait)]);

    let mut client = Client::sending(&billing, write("k")).await;
    assert_eq!(client.answer().await, CREATED);
    let when = |wanted: fn(&What) -> bool| {
        let event = billing.timeline().into_iter().find(|it| wanted(&it.what));
        event.unwrap().at
    };
    let committed = when(|what| matches!(what, What::Committed { .. }));
    let answered = when(|what| matches!(what, What::Answered { .. }));
    assert_eq!(answered.checked_sub(committed), Some(wait));
}

#[tokio::test]
async fn a_held_answer_comes_with_the_release_and_not_before() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenHold]);
    billing.release(); // of nothing: it does not count for what comes later

    let mut client = Client::sending(&billing, write("k")).await;
    billing.wait_commits(1).await;
    // A second connection is answered in full while the first is held.
    let mut other = Client::sending(&billing, write("other")).await;
    other.answer().await;
    assert_eq!(happened(&billing, 1).last(), Some(&What::Holding));

    billing.release();
    assert_eq!(client.answer().await, CREATED);
}

#[tokio::test]
async fn a_release_frees_all_held_answers() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenHold, Step::CommitThenHold]);

    let mut one = Client::sending(&billing, write("1")).await;
    let mut two = Client::sending(&billing, write("2")).await;
    billing.wait_commits(2).await;
    billing.release();
    one.answer().await;
    two.answer().await;
}

#[tokio::test]
async fn a_client_that_stops_waiting_for_a_held_answer_is_noticed() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenHold]);

    let client = Client::sending(&billing, write("k")).await;
    billing.wait_commits(1).await;
    drop(client);
    until(&billing, What::ClientClosed).await;
    billing.release();
    until(&billing, What::Answered { status: 201 }).await;
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_client_that_closed_its_half_still_gets_a_held_answer() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenHold]);

    let mut client = Client::sending(&billing, write("k")).await;
    let (read, ()) = tokio::join!(client.finish(), async {
        until(&billing, What::ClientClosed).await;
        assert_eq!(happened(&billing, 1).last(), Some(&What::ClientClosed));
        billing.release();
    });
    assert_eq!(read, (CREATED.to_owned(), Ending::Fin));
    let answered = What::Answered { status: 201 };
    assert_eq!(happened(&billing, 1).last(), Some(&answered));
}

#[tokio::test]
async fn an_answered_connection_can_end_in_either_way() {
    for (end, ending) in [(End::Close, Ending::Fin), (End::Reset, Ending::Reset)] {
        let billing = Billing::start().await.unwrap();
        billing.script([Step::AnswerThen(end)]);

        let mut client = Client::sending(&billing, write("k")).await;
        assert_eq!(client.answer().await, CREATED);
        assert_eq!(client.ending().await, (String::new(), ending));
    }
}

#[tokio::test]
async fn an_answered_connection_can_go_dead() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerThen(End::Hold)]);

    let mut client = Client::sending(&billing, write("k")).await;
    client.answer().await;
    client.send(write("next")).await;
    drop(client);
    until(&billing, What::ClientClosed).await;
    assert_eq!(billing.received().len(), 1);
}

#[tokio::test]
async fn trailers_follow_a_body_in_chunks() {
    let billing = Billing::start().await.unwrap();
    let empty = Reply::new(200).with_trailer("X-Sum", "1");
    billing.script([
        Step::AnswerWith(empty.clone().with_body("sixteen bytes ok")),
        Step::AnswerWith(empty),
    ]);

    let head = "HTTP/1.1 200 \r\ntransfer-encoding: chunked\r\n\r\n";
    let end = "0\r\nX-Sum: 1\r\n\r\n";
    let mut client = Client::sending(&billing, write("k")).await;
    for chunk in ["10\r\nsixteen bytes ok\r\n", ""] {
        let expected = [head, chunk, end].concat();
        assert_eq!(client.read(expected.len()).await, expected);
        client.send(write("k")).await;
    }
}

#[tokio::test]
async fn a_step_that_needs_http_2_is_answered_505() {
    let billing = Billing::start().await.unwrap();
    let refused = Frames::on_commit().reset_stream(ErrorCode::REFUSED_STREAM);
    billing.script([Step::Frames(refused)]);

    let mut client = Client::sending(&billing, write("k")).await;
    assert!(client.answer().await.starts_with("HTTP/1.1 505 "));
    assert_eq!(billing.commits(), 0);
    client.send(write("k")).await;
    assert_eq!(client.answer().await, CREATED);
}
