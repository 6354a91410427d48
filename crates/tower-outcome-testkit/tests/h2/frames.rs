//! What HTTP/2 alone has: resets of streams, GOAWAY, frames that are wrong or unfinished.

use h2::Reason;
use http_body_util::BodyExt as _;
use tokio_test::{assert_pending, task};
use tower_outcome_testkit::{Billing, End, ErrorCode, Frames, LastStream, Reply, Step, What};

use crate::client::{Client, h2_error, happened, on_both_runtimes, until, write};
use crate::raw::{self, Ending, Raw};

const CODES: [ErrorCode; 6] = [
    ErrorCode::CANCEL,
    ErrorCode::ENHANCE_YOUR_CALM,
    ErrorCode::HTTP_1_1_REQUIRED,
    ErrorCode::INTERNAL_ERROR,
    ErrorCode::NO_ERROR,
    ErrorCode::REFUSED_STREAM,
];

/// Every moment, and how many writes have committed by then.
fn moments() -> [(Frames, usize); 3] {
    [
        (Frames::on_head(), 0),
        (Frames::on_request(), 0),
        (Frames::on_commit(), 1),
    ]
}

#[test]
fn a_stream_is_reset_with_any_code_at_any_moment_and_the_connection_goes_on() {
    on_both_runtimes(|| async {
        for code in CODES {
            for (frames, commits) in moments() {
                let billing = Billing::start().await.unwrap();
                billing.script([Step::Frames(frames.reset_stream(code))]);

                let mut client = Client::connect(&billing).await;
                let error = client.write("k").await.unwrap_err();
                let reset = h2_error(&error).unwrap();
                assert!(reset.is_reset() && reset.is_remote(), "{error:?}");
                assert_eq!(reset.reason(), Some(Reason::from(code.0)));
                assert_eq!(billing.commits(), commits);
                assert!(happened(&billing, 1).contains(&What::ResetStream { code }));
                client.write("next").await.unwrap();
            }
        }
    });
}

#[test]
fn a_goaway_below_the_stream_disowns_it_whether_true_or_not() {
    on_both_runtimes(|| async {
        for code in CODES {
            for (frames, commits) in moments() {
                let billing = Billing::start().await.unwrap();
                let frames = frames.go_away(LastStream::Below, code).then(End::Close);
                billing.script([Step::Answer, Step::Frames(frames)]);

                let mut client = Client::connect(&billing).await;
                client.write("first").await.unwrap();
                let error = client.write("k").await.unwrap_err();
                let gone = h2_error(&error).unwrap();
                assert!(gone.is_go_away() && gone.is_remote(), "{error:?}");
                assert_eq!(gone.reason(), Some(Reason::from(code.0)));
                assert_eq!(billing.commits_of("k"), commits);
            }
        }
    });
}

#[test]
fn a_goaway_at_or_above_the_stream_leaves_it_to_the_end_of_the_connection() {
    on_both_runtimes(|| async {
        for last in [LastStream::This, LastStream::Max] {
            for end in [End::Close, End::Reset] {
                for (frames, commits) in moments() {
                    let billing = Billing::start().await.unwrap();
                    let frames = frames.go_away(last, ErrorCode::NO_ERROR).then(end);
                    billing.script([Step::Frames(frames)]);

                    let error = Client::connect(&billing)
                        .await
                        .write("k")
                        .await
                        .unwrap_err();
                    let remote =
                        h2_error(&error).is_some_and(|it| it.is_go_away() && it.is_remote());
                    assert!(!remote, "{error:?}");
                    assert_eq!(billing.commits(), commits);
                }
            }
        }
    });
}

#[tokio::test]
async fn each_goaway_states_the_stream_it_is_told_to() {
    let lasts = [
        (LastStream::Below, 1),
        (LastStream::This, 3),
        (LastStream::Max, (1 << 31) - 1),
        (LastStream::Zero, 0),
    ];
    for (last, id) in lasts {
        let billing = Billing::start().await.unwrap();
        let frames = Frames::on_head().go_away(last, ErrorCode::INTERNAL_ERROR);
        billing.script([Step::ReadHeadThenSilence, Step::Frames(frames)]);

        let (mut client, _) = Raw::greeted(&billing, &[]).await;
        client
            .send([raw::write(1, "1"), raw::write(3, "2")].concat())
            .await;
        let frame = client.frame().await;
        assert_eq!((frame.kind, frame.stream), (raw::GOAWAY, 0));
        let stated = [u32::to_be_bytes(id), 2_u32.to_be_bytes()].concat();
        assert_eq!(frame.payload, stated);
    }
    assert_eq!(LastStream::Max.to_string(), "after all streams");
}

#[tokio::test]
async fn a_goaway_at_all_streams_can_be_narrowed_down() {
    let billing = Billing::start().await.unwrap();
    let code = ErrorCode::NO_ERROR;
    let frames = Frames::on_head()
        .go_away(LastStream::Max, code)
        .go_away(LastStream::Zero, code);
    billing.script([Step::Frames(frames)]);

    let error = Client::connect(&billing)
        .await
        .write("k")
        .await
        .unwrap_err();
    let gone = h2_error(&error).unwrap();
    assert!(gone.is_go_away() && gone.is_remote(), "{error:?}");
    assert_eq!(billing.commits(), 0);
}

#[tokio::test]
async fn a_stream_that_a_goaway_disowns_is_not_processed() {
    let billing = Billing::start().await.unwrap();
    let frames = Frames::on_commit()
        .answer()
        .go_away(LastStream::This, ErrorCode::NO_ERROR);
    billing.script([Step::Frames(frames)]);

    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    // One is under way when the GOAWAY is sent, one crosses it.
    client
        .send([raw::head(1, "1"), raw::head(3, "2"), raw::body(1)].concat())
        .await;
    client
        .send([raw::body(3), raw::write(5, "3")].concat())
        .await;
    client.finish().await;
    assert_eq!(billing.commits(), 1);
    assert_eq!(billing.received().len(), 3);
}

#[tokio::test]
async fn an_idle_connection_is_shut_down_gracefully() {
    let billing = Billing::start().await.unwrap();
    let frames = Frames::on_commit()
        .answer()
        .go_away(LastStream::This, ErrorCode::NO_ERROR);
    billing.script([Step::Frames(frames)]);

    let mut client = Client::connect(&billing).await;
    client.write("k").await.unwrap();
    (&mut client.connection).await.unwrap().unwrap();
    until(&billing, What::ClientClosed).await;
    assert!(client.write("k").await.unwrap_err().is_canceled());
}

#[tokio::test]
async fn a_malformed_frame_is_the_clients_error_and_not_the_servers_word() {
    for (frames, commits) in moments() {
        let billing = Billing::start().await.unwrap();
        billing.script([Step::Frames(frames.malformed())]);

        let error = Client::connect(&billing)
            .await
            .write("k")
            .await
            .unwrap_err();
        let broken = h2_error(&error).unwrap();
        assert!(broken.is_go_away() && broken.is_library(), "{error:?}");
        assert!(!broken.is_remote());
        assert_eq!(billing.commits(), commits);
    }
}

#[tokio::test]
async fn an_answer_can_break_off_behind_a_part_of_its_body() {
    let start = || Frames::on_commit().start(Reply::new(200).with_body("{\"id\":"));
    let broken = [
        start().reset_stream(ErrorCode::INTERNAL_ERROR),
        start().then(End::Close),
        start().then(End::Reset),
    ];
    for frames in broken {
        let billing = Billing::start().await.unwrap();
        billing.script([Step::Frames(frames)]);

        Client::connect(&billing)
            .await
            .write("k")
            .await
            .unwrap_err();
        assert_eq!(billing.commits(), 1);
    }
}

#[tokio::test]
async fn an_answer_without_an_end_stays_open() {
    let billing = Billing::start().await.unwrap();
    let start = Reply::new(200)
        .with_header("content-length", "9")
        .with_body("half");
    billing.script([Step::Frames(Frames::on_commit().start(start))]);

    let mut client = Client::connect(&billing).await;
    let mut body = client.head(write("k")).await.into_body();
    let first = body.frame().await.unwrap().unwrap();
    assert_eq!(first.into_data().unwrap(), "half");
    client.write("next").await.unwrap();
    assert_pending!(task::spawn(body.frame()).poll());
}

#[tokio::test]
async fn a_whole_reply_before_the_request_ended_can_be_followed_by_a_reset() {
    let billing = Billing::start().await.unwrap();
    let frames = Frames::on_head()
        .reply(Reply::new(413))
        .reset_stream(ErrorCode::NO_ERROR);
    billing.script([Step::Frames(frames)]);

    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    client.send(raw::head(1, "k")).await;
    assert_eq!(
        client.frame().await.flags,
        raw::END_HEADERS | raw::END_STREAM
    );
    let reset = client.frame().await;
    assert_eq!((reset.kind, reset.stream), (raw::RST_STREAM, 1));
    assert_eq!(reset.payload, 0_u32.to_be_bytes());
    client.send(raw::body(1)).await;
    assert_eq!(client.finish().await, (Vec::new(), Ending::Fin));
    assert_eq!(billing.commits(), 0);
}

#[test]
#[should_panic(expected = "only a commit gives an answer")]
fn there_is_no_answer_without_a_commit() {
    let _ = Frames::on_request().answer();
}
