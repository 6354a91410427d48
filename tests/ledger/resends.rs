//! A request is kept sealed, sent again from another process, and read by nobody else.

use tower_outcome::Code;
use tower_outcome_core::ledger::{AesGcmSiv, State};

use crate::support::{Bench, IGNORED, LOST, SECRET, cipher, key, state};
use crate::trace::Trace;

#[tokio::test]
async fn a_write_that_was_lost_is_sent_again_by_another_process_and_its_answer_replayed() {
    for (step, commits_before) in [(LOST, 1), (IGNORED, 0)] {
        let bench = Bench::scripted([step]).await;
        bench.lose(&bench.ledger(cipher()), 1).await;
        assert_eq!(bench.billing.commits(), commits_before);

        let reconciling = bench.ledger(cipher());
        let report = bench.resend(&reconciling).await;
        assert_eq!(
            (report.confirmed, report.resent),
            (vec![key(1)], vec![key(1)])
        );
        assert_eq!(bench.billing.commits(), 1);
        let requests = bench.billing.received();
        assert_eq!(requests[0].key(), requests[1].key());
        assert_eq!(requests[0].body, requests[1].body);

        let (code, body) = bench.refund(&bench.ledger(cipher()), 1).await;
        assert_eq!(code, Code::AlreadyDone);
        assert!(body.contains("re_1"), "{body}");
        assert_eq!(bench.billing.received().len(), 2);
    }
}

#[tokio::test]
async fn keys_are_changed_between_the_send_and_the_resend() {
    let bench = Bench::scripted([IGNORED]).await;
    bench.lose(&bench.ledger(cipher()), 1).await;
    let rotated = || AesGcmSiv::new(2, [2; 32]).with_earlier_key(1, [1; 32]);
    let report = bench.resend(&bench.ledger(rotated())).await;
    assert_eq!(report.confirmed, [key(1)]);
    // Its answer is sealed with the new key.
    let new = bench.ledger(AesGcmSiv::new(2, [2; 32]));
    assert_eq!(bench.refund(&new, 1).await.0, Code::AlreadyDone);
    let old = bench.ledger(cipher());
    let (code, body) = bench.refund(&old, 1).await;
    assert_eq!((code, &*body), (Code::ResultOmitted, ""));
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn nothing_that_was_carried_is_in_the_file_or_in_the_log() {
    let trace = Trace::start();
    let bench = Bench::scripted([IGNORED, LOST]).await;
    let ledger = bench.ledger(cipher());
    bench.lose(&ledger, 1).await;
    bench.lose(&ledger, 2).await;
    files(&bench);
    let report = bench.resend(&ledger).await;
    assert_eq!(report.confirmed.len(), 2);
    files(&bench);
    assert_eq!(state(&ledger, 2).await, State::Done);

    let text = trace.text();
    assert!(
        text.contains("attempt ended"),
        "the layers were heard: {text}"
    );
    for secret in [SECRET, "re_1"] {
        assert!(!text.contains(secret), "{secret} in {text}");
        let shown = format!("{ledger:?} {report:?}");
        assert!(!shown.contains(secret), "{shown}");
    }
}

/// Reads all that is on the disk.
fn files(bench: &Bench) {
    let mut read = 0;
    for file in std::fs::read_dir(&bench.directory).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        read += bytes.len();
        for secret in [SECRET, "re_1", "A-1", "x-note"] {
            let found = bytes
                .windows(secret.len())
                .any(|part| part == secret.as_bytes());
            assert!(!found, "{secret} is on the disk");
        }
    }
    assert!(read > 4096, "the rows were read");
}
