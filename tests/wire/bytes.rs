//! The connection is cut after every byte of the request and of the answer.

use tower_outcome::{Code, Outcome};
use tower_outcome_testkit::{Billing, End, Step, What};

use crate::clients::{over_each, write};
use crate::once;

const ENDS: [End; 2] = [End::Close, End::Reset];

#[tokio::test]
async fn a_request_cut_at_any_byte_is_never_called_failed_once_a_byte_was_read() {
    for end in ENDS {
        for which in 0..2 {
            let mut bytes = 0;
            loop {
                let billing = Billing::start_without_keys().await.unwrap();
                billing.script([Step::StopAfter { bytes, end }]);
                let [first, second] = over_each(&once());
                let (client, stack) = if which == 0 { first } else { second };
                let verdict = stack.send(write(&billing.url())).await;

                // Not one byte was read where the server ends the connection on acceptance.
                if bytes > 0 || verdict.outcome() != Outcome::Failed {
                    assert_eq!(
                        verdict.code(),
                        Code::ResponseLost,
                        "{client} {bytes} {end:?}"
                    );
                }
                assert_eq!(billing.commits(), 0);
                let mut events = billing.timeline().into_iter();
                if events.any(|event| event.what == What::ReadAll) {
                    break;
                }
                bytes += 1;
            }
            assert!(bytes > 100, "a whole request was enumerated");
        }
    }
}

#[tokio::test]
async fn an_answer_cut_at_any_byte_is_never_called_failed() {
    for end in ENDS {
        for which in 0..2 {
            let (mut proven, mut bytes) = (0, 0);
            while proven < 3 {
                let billing = Billing::start_without_keys().await.unwrap();
                billing.script([Step::HalfAnswer { bytes, end }]);
                let [first, second] = over_each(&once());
                let (client, stack) = if which == 0 { first } else { second };
                let verdict = stack.send(write(&billing.url())).await;

                assert_eq!(billing.commits(), 1);
                let allowed = [Code::ResponseLost, Code::DoneBodyLost, Code::Done];
                let code = verdict.code();
                assert!(allowed.contains(&code), "{client} {bytes} {end:?} {code}");
                // A reset may overtake what was sent before it.
                if end == End::Close && bytes < ANSWER.len() {
                    let headed = bytes >= HEAD;
                    let expected = if headed {
                        Code::DoneBodyLost
                    } else {
                        Code::ResponseLost
                    };
                    assert_eq!(code, expected, "{client} {bytes}");
                }
                proven += usize::from(bytes >= ANSWER.len());
                bytes += 1;
            }
        }
    }
}

/// What the server answers to the first of the writes that all tests make.
const ANSWER: &str = "HTTP/1.1 201 \r\ncontent-type: application/json\r\n\
    content-length: 41\r\n\r\n{\"id\":\"re_1\",\"order\":\"A-1\",\"amount\":1000}";
const HEAD: usize = ANSWER.len() - 41;
