//! Places for writes: none left, or all of them given up.

use std::sync::Arc;
use std::time::Duration;

use tower_outcome::{Code, Outcome, Stack, Watch};
use tower_outcome_testkit::Billing;

use crate::clients::{hyper, write};

#[tokio::test(start_paused = true)]
async fn the_record_of_a_write_without_a_slot_is_settled() {
    let client = Stack::new().with_slots(0).over(hyper()).boxed();
    let watch = Watch::new();
    let mut request = write("http://127.0.0.1:9");
    request.extensions_mut().insert(watch.clone());
    let verdict = client.send(request).await;
    assert_eq!(verdict.code(), Code::Overloaded);
    let call = watch.call().unwrap();
    let settled = tokio::time::timeout(Duration::from_hours(1), call.settled()).await;
    assert!(
        settled.is_ok(),
        "nothing of it is under way, and settled() waits"
    );
}

/// A drain that begins with the call: whatever the order, the word is true.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_that_races_with_writes_tells_no_lie() {
    for round in 0..60 {
        let billing = Billing::start_without_keys().await.unwrap();
        let stack = Stack::new();
        let client = Arc::new(stack.over(hyper()).boxed());
        let sends = (0..4).map(|_| {
            let (client, request) = (client.clone(), write(&billing.url()));
            tokio::spawn(async move { client.send(request).await.outcome() })
        });
        let sends: Vec<_> = sends.collect();
        for _ in 0..round % 12 {
            tokio::task::yield_now().await;
        }
        let left = stack.drain(Duration::from_secs(5)).await;
        let before = billing.commits();
        let mut done = 0;
        let mut unknown = 0;
        for send in sends {
            match send.await.unwrap() {
                Outcome::Failed => {}
                Outcome::Ok => done += 1,
                _ => unknown += 1,
            }
        }
        assert_eq!(left, 0);
        let commits = billing.commits();
        assert_eq!(before, commits, "something left after the drain");
        assert!(
            done <= commits && commits <= done + unknown,
            "{done} {unknown} {commits}"
        );
    }
}
