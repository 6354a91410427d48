//! What the assertion lets pass and what it names.

use std::panic::AssertUnwindSafe;

use tokio::task::LocalSet;
use tower_outcome_testkit::{Told, assert_at_most_once, at_most_once};

use crate::clients::{careful, following, honest, post};

/// What the assertion says about this client.
async fn complaint(write: impl AsyncFn(String) -> Told + 'static) -> String {
    let panic = LocalSet::new()
        .run_until(async {
            let asserted = AssertUnwindSafe(assert_at_most_once(write));
            tokio::task::spawn_local(asserted.0).await.unwrap_err()
        })
        .await;
    *panic.into_panic().downcast().unwrap()
}

fn line<'a>(complaint: &'a str, scenario: &str) -> &'a str {
    let starts = |line: &&str| line.starts_with(&format!("{scenario} "));
    complaint.lines().find(starts).unwrap()
}

#[tokio::test]
async fn a_client_that_never_repeats_and_never_guesses_passes() {
    let client = careful();
    assert_at_most_once(async |url| honest(&post(&client, &url).await)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_on_other_threads_passes_too() {
    let client = careful();
    assert_at_most_once(async |url| {
        let client = client.clone();
        let write = tokio::spawn(async move { honest(&post(&client, &url).await) });
        write.await.unwrap()
    })
    .await;
}

#[tokio::test]
async fn a_client_that_repeats_after_any_error_is_caught() {
    let client = careful();
    let complaint = complaint(async move |url| {
        let mut result = post(&client, &url).await;
        if result.is_err() {
            result = post(&client, &url).await;
        }
        honest(&result)
    })
    .await;
    for scenario in [
        "accepts once the write has ended",
        "commits, then closes",
        "commits, then resets",
        "commits, then is silent",
        "commits, answers once the write has ended",
        "commits after reuse, then closes",
    ] {
        let line = line(&complaint, scenario);
        assert!(line.ends_with("TOOK EFFECT MORE THAN ONCE"), "{complaint}");
    }
    assert!(line(&complaint, "reads all, then closes").ends_with("done"));
}

#[tokio::test]
async fn a_client_that_calls_every_error_a_failure_is_caught() {
    let client = careful();
    let complaint = complaint(async move |url| match post(&client, &url).await {
        Ok(answer) if answer.status().is_success() => Told::Done,
        _ => Told::Failed,
    })
    .await;
    for scenario in [
        "accepts once the write has ended",
        "commits, then closes",
        "commits, then is silent",
        "commits, answers 503",
        "commits, redirects by 303",
        "commits after reuse, then resets",
    ] {
        let line = line(&complaint, scenario);
        assert!(line.ends_with("TOLD FAILED, TOOK EFFECT"), "{complaint}");
    }
    assert!(line(&complaint, "reads all, then closes").ends_with("failed"));
}

#[tokio::test]
async fn a_client_that_follows_redirects_is_caught() {
    let client = following();
    let report = at_most_once(async |url| honest(&post(&client, &url).await));
    let report = report.await.unwrap();
    let double: Vec<_> = report.double_commits().map(|it| it.scenario).collect();
    assert_eq!(double, ["commits, redirects by 307"]);
    let failed: Vec<_> = report.false_failed().map(|it| it.scenario).collect();
    let refused = [
        "commits, redirects by 303 into a refusal",
        "commits, redirects by 307 into a refusal",
    ];
    assert_eq!(failed, refused);
}

#[tokio::test]
async fn a_client_that_cannot_write_is_caught() {
    let complaint = complaint(async |_| Told::Failed).await;
    assert!(line(&complaint, "answers").ends_with("DID NOT WRITE"));
    let wrong = complaint.lines().last().unwrap();
    assert!(wrong.starts_with("1 of "), "{complaint}");
}
