//! The connection is cut after every byte of the request and of the answer.

use tower_outcome::{Code, Outcome, OutcomeClient};
use tower_outcome_testkit::{Billing, End, Step, What};

use crate::clients::{over_each, over_each_http2, write};
use crate::once;

const ENDS: [End; 2] = [End::Close, End::Reset];

fn clients() -> impl Iterator<Item = (&'static str, OutcomeClient)> {
    let http2 = over_each_http2(&once());
    over_each(&once()).into_iter().chain(http2)
}

#[tokio::test]
async fn a_request_cut_at_any_byte_is_never_called_failed_once_a_byte_was_read() {
    for end in ENDS {
        for (client, stack) in clients() {
            let mut bytes = 0;
            loop {
                let billing = Billing::start_without_keys().await.unwrap();
                billing.script([Step::StopAfter { bytes, end }]);
                let verdict = stack.send(write(&billing.url())).await;

                // Not one byte was read where the server ends the connection on acceptance.
                if bytes > 0 || verdict.outcome() != Outcome::Failed {
                    let code = verdict.code();
                    assert_eq!(code, Code::ResponseLost, "{client} {bytes} {end:?}");
                }
                assert_eq!(billing.commits(), 0);
                let mut events = billing.timeline().into_iter();
                if events.any(|event| event.what == What::ReadAll) {
                    break;
                }
                bytes += 1;
            }
            println!("{client}: a request cut after each of {bytes} bytes, {end:?}");
            assert!(bytes > 80, "a whole request was enumerated: {bytes}");
        }
    }
}

#[tokio::test]
async fn an_answer_cut_at_any_byte_is_never_called_failed() {
    for end in ENDS {
        for (client, stack) in clients() {
            let mut codes = Vec::new();
            while codes.iter().filter(|code| **code == Code::Done).count() < 3 {
                let bytes = codes.len();
                let billing = Billing::start_without_keys().await.unwrap();
                billing.script([Step::HalfAnswer { bytes, end }]);
                let verdict = stack.send(write(&billing.url())).await;

                assert_eq!(billing.commits(), 1);
                let code = verdict.code();
                assert!(STEPS.contains(&code), "{client} {bytes} {end:?} {code}");
                codes.push(code);
            }
            println!(
                "{client}: an answer cut after each of {} bytes, {end:?}",
                codes.len()
            );
            // A reset may overtake what was sent before it.
            if end == End::Close {
                let step = |code: &Code| STEPS.iter().position(|it| it == code);
                assert!(codes.is_sorted_by_key(step), "{codes:?}");
                codes.dedup();
                assert_eq!(codes, STEPS);
            }
        }
    }
}

/// What is known while an answer comes in: nothing, then its head, then all of it.
const STEPS: [Code; 3] = [Code::ResponseLost, Code::DoneBodyLost, Code::Done];
