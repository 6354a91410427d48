//! Connections that were kept for the next write and ended meanwhile.

use std::sync::mpsc;
use std::thread;

use tower_outcome::{Code, Outcome};
use tower_outcome_testkit::{Billing, End, Step, What};

use crate::clients::{over_each, write};
use crate::once;

/// Whether the client has noticed the end by then is a race; both of its results are honest.
#[tokio::test]
async fn a_write_over_a_stale_connection_is_done_or_unknown_and_never_failed() {
    for end in [End::Close, End::Reset] {
        for (client, stack) in over_each(&once()) {
            let billing = Billing::start_without_keys().await.unwrap();
            billing.script([Step::AnswerThen(end)]);
            let first = stack.send(write(&billing.url())).await;
            // A reset may overtake the answer.
            assert_ne!(first.outcome(), Outcome::Failed, "{client} {end:?}");

            let second = stack.send(write(&billing.url())).await;
            match second.code() {
                Code::Done => assert_eq!(billing.commits(), 2, "{client} {end:?}"),
                code => {
                    assert_eq!(code, Code::ResponseLost, "{client} {end:?}");
                    assert_eq!(billing.commits(), 1, "{client} {end:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn two_writes_go_over_one_connection() {
    for (client, stack) in over_each(&once()) {
        let billing = Billing::start_without_keys().await.unwrap();
        for _ in 0..2 {
            let verdict = stack.send(write(&billing.url())).await;
            assert_eq!(verdict.code(), Code::Done, "{client}");
        }
        let mut events = billing.timeline();
        events.retain(|event| event.what == What::Accepted);
        assert_eq!(events.len(), 1, "{client}");
    }
}

/// A server on a thread of its own, which tells when it has closed its first connection.
fn closing_elsewhere(end: End) -> (String, mpsc::Receiver<()>, tokio::sync::oneshot::Sender<()>) {
    let (urls, url) = mpsc::channel();
    let (closed, is_closed) = mpsc::channel();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let billing = Billing::start_without_keys().await.unwrap();
            billing.script([Step::AnswerThen(end)]);
            urls.send(billing.url()).unwrap();
            billing
                .wait_for(|event| matches!(event.what, What::Closed | What::Reset))
                .await;
            closed.send(()).unwrap();
            let _ = stopped.await;
        });
    });
    (url.recv().unwrap(), is_closed, stop)
}

/// The client's thread sleeps until the end of its connection lies in the socket: no reactor has
/// told it so when it makes the next write.
#[tokio::test]
async fn an_end_that_lies_in_the_socket_is_seen_before_the_next_write() {
    for which in 0..2 {
        for _ in 0..20 {
            let (url, closed, _stop) = closing_elsewhere(End::Close);
            let (client, stack) = over_each(&once()).into_iter().nth(which).unwrap();
            assert_eq!(stack.send(write(&url)).await.code(), Code::Done, "{client}");
            closed.recv().unwrap();
            let second = stack.send(write(&url)).await;
            assert_eq!(second.code(), Code::Done, "{client}");
        }
    }
}
