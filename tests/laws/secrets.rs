//! Law 10: nothing that a call carries is shown or kept where it does not belong.

use std::error::Error as _;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use http::Request;
use serde_json::json;
use tower::{ServiceBuilder, ServiceExt as _};
use tower_outcome::transport::Wire;
use tower_outcome::{
    ClaimLayer, Context, DeadlineLayer, Error, Gate, Intent, KeyLayer, KeyedRetry, MemoryLedger,
    OutcomeBody, Profile, RequestExt as _, ShieldLayer, Stack,
};
use tower_outcome_core::ledger::{EntryKey, Ledger};
use tower_outcome_sqlite::SqliteLedger;
use tower_outcome_testkit::{Billing, Refusing, Reply, Step};

use crate::DEADLINE;
use crate::clients::{hyper, over_each};
use crate::trace::Trace;

/// Everything in a request that is somebody's business and nobody else's.
const CANARIES: [&str; 5] = [
    "canary-argument",
    "canary-body",
    "canary-header",
    "canary-password",
    "canary-query",
];

/// What a provider answers may be kept, but is not shown.
const ANSWER: &str = "canary-answer";

fn secretive() -> Intent {
    let arguments = json!({ "order": "A-1", "card": "canary-argument" });
    Intent::new("acme", "refund", &arguments).unwrap()
}

fn write(addr: impl std::fmt::Display) -> Request<OutcomeBody> {
    Request::post(format!(
        "http://canary-user:canary-password@{addr}/refunds?token=canary-query"
    ))
    .header("authorization", "Bearer canary-header")
    .header("x-card", "canary-header")
    .body(r#"{"order":"A-1","card":"canary-body"}"#.into())
    .unwrap()
}

fn faults() -> Vec<Step> {
    let answer = |status| {
        Reply::new(status)
            .with_header("set-cookie", ANSWER)
            .with_header("location", "/elsewhere?token=canary-query")
            .with_body(ANSWER)
    };
    let mut steps: Vec<_> = [200, 202, 207, 303, 307, 409, 412, 422, 429, 503]
        .map(|status| Step::CommitThenAnswerWith(answer(status)))
        .into();
    steps.extend([
        Step::Answer,
        Step::CommitThenClose,
        Step::CommitThenReset,
        Step::CommitThenSilence,
        Step::CommitThenSend {
            bytes: b"canary-answer\r\n\r\n".to_vec(),
            end: tower_outcome_testkit::End::Close,
        },
    ]);
    steps
}

fn assert_silent(text: &str, context: &str) {
    for canary in CANARIES.into_iter().chain([ANSWER]) {
        assert!(!text.contains(canary), "{context} shows {canary}: {text}");
    }
}

/// All that an error says, down to the last source.
fn said(error: &Error) -> String {
    let mut text = format!("{error} {error:?} {error:#?}");
    let mut source = error.source();
    while let Some(error) = source {
        write!(text, " {error} {error:?}").unwrap();
        source = error.source();
    }
    text
}

#[tokio::test]
async fn law_10_no_verdict_shows_what_its_call_carried() {
    let trace = Trace::start();
    for step in faults() {
        let stack = Stack::new()
            .with_deadline(DEADLINE / 2)
            .with_profile(Profile::idempotency_key())
            .with_retry(KeyedRetry::new(2).with_first_delay(Duration::ZERO))
            .with_ledger(MemoryLedger::default());
        for (client, stack) in over_each(&stack) {
            let billing = Billing::start().await.unwrap();
            billing.script([step.clone()]);
            let request = write(billing.addr()).with_intent(secretive());
            let verdict = stack.send(request).await;
            let context = format!("the verdict of {client} {:?}", verdict.code());
            assert_silent(
                &format!("{verdict:?} {verdict:#?} {}", verdict.message()),
                &context,
            );
            if let Err(error) = verdict.into_json() {
                assert_silent(&said(&error), &context);
            }
        }
    }
    let text = trace.text();
    assert!(
        text.contains("attempt ended"),
        "the layers were heard: {text}"
    );
    assert_silent(&text, "the log");
}

#[tokio::test]
async fn law_10_no_error_shows_what_its_call_carried() {
    macro_rules! error {
        ($wire:expr, $addr:expr) => {
            ServiceBuilder::new()
                .layer(DeadlineLayer::new(DEADLINE / 2))
                .layer(ShieldLayer::new())
                .layer(ClaimLayer::new(MemoryLedger::default()))
                .layer(KeyLayer::new())
                .service($wire)
                .oneshot(write($addr).with_intent(secretive()))
                .await
                .map(drop)
                .unwrap_err()
        };
    }
    let refusing = Refusing::start().unwrap();
    assert_silent(
        &said(&error!(Wire::hyper(hyper()), refusing.addr())),
        "hyper",
    );
    assert_silent(
        &said(&error!(
            Wire::reqwest(tower_outcome::WritesClient::trust(reqwest::Client::new())),
            refusing.addr()
        )),
        "reqwest",
    );
    for addr in ["billing.invalid", "127.0.0.1:99999"] {
        assert_silent(&said(&error!(Wire::hyper(hyper()), addr)), "hyper");
        assert_silent(
            &said(&error!(
                Wire::reqwest(tower_outcome::WritesClient::trust(reqwest::Client::new())),
                addr
            )),
            "reqwest",
        );
    }
    for step in [
        Step::CommitThenClose,
        Step::CommitThenReset,
        Step::CommitThenSilence,
    ] {
        let billing = Billing::start().await.unwrap();
        billing.script([step.clone(), step]);
        assert_silent(
            &said(&error!(Wire::hyper(hyper()), billing.addr())),
            "hyper",
        );
        let wire = Wire::reqwest(tower_outcome::WritesClient::trust(reqwest::Client::new()));
        assert_silent(&said(&error!(wire, billing.addr())), "reqwest");
    }
}

#[tokio::test]
async fn law_10_no_record_of_a_call_shows_what_it_carried() {
    for (client, stack) in over_each(&Stack::new()) {
        let billing = Billing::start().await.unwrap();
        let context = Context::new(&secretive(), 0, Gate::new());
        let send = context.clone().scope(stack.send(write(billing.addr())));
        send.await.into_json().unwrap();

        let mut text = format!(
            "{context:?} {:?} {stack:?} {:?}",
            context.writes(),
            secretive()
        );
        for call in context.writes() {
            write!(text, "{call:#?} {}", call.route()).unwrap();
        }
        assert_silent(&text, client);
        let key = secretive()
            .key()
            .wire(0)
            .render(tower_outcome::KeyFormat::Uuid);
        assert!(!text.contains(&key), "{client} shows a whole key");

        // Refused: a second, different write to the route.
        let mut other = write(billing.addr());
        *other.body_mut() = r#"{"card":"canary-body-2"}"#.into();
        let refused = context.scope(stack.send(other)).await;
        assert_silent(&said(&refused.into_json().unwrap_err()), client);
        assert_eq!(billing.commits(), 1, "{client}");
    }
}

#[tokio::test]
async fn law_10_no_row_in_memory_holds_what_a_call_carried() {
    for step in faults() {
        let ledger = std::sync::Arc::new(MemoryLedger::default());
        let stack = Stack::new()
            .with_deadline(DEADLINE / 2)
            .with_ledger(std::sync::Arc::clone(&ledger));
        let [(client, stack), _] = over_each(&stack);
        let billing = Billing::start().await.unwrap();
        billing.script([step]);
        let _ = stack
            .send(write(billing.addr()).with_intent(secretive()))
            .await;

        let row = ledger
            .read(&EntryKey::of(&secretive()))
            .await
            .unwrap()
            .unwrap();
        let result = String::from_utf8_lossy(row.result.as_deref().unwrap_or_default());
        let text = format!("{row:?} {result} {:?} {ledger:?}", row.writes);
        for canary in CANARIES {
            assert!(
                !text.contains(canary),
                "a row of {client} holds {canary}: {text}"
            );
        }
    }
}

#[tokio::test]
async fn law_10_no_byte_of_a_file_holds_what_a_call_carried() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("law-10");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let ledger = std::sync::Arc::new(SqliteLedger::open(directory.join("ledger.sqlite")).unwrap());
    for (number, step) in faults().into_iter().enumerate() {
        let stack = Stack::new()
            .with_deadline(DEADLINE / 2)
            .with_ledger(std::sync::Arc::clone(&ledger));
        let [_, (_, stack)] = over_each(&stack);
        let billing = Billing::start().await.unwrap();
        billing.script([step]);
        let intent = secretive().with_occurrence(u32::try_from(number).unwrap());
        let _ = stack.send(write(billing.addr()).with_intent(intent)).await;
    }
    let mut read = 0;
    for file in std::fs::read_dir(&directory).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        read += bytes.len();
        for canary in CANARIES {
            let canary = canary.as_bytes();
            assert!(!bytes.windows(canary.len()).any(|window| window == canary));
        }
    }
    assert!(read > 4096, "the rows were read");
}
