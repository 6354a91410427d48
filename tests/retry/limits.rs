//! When the policy stops.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use tower::BoxError;
use tower::retry::Policy;
use tower::retry::budget::TpsBudget;
use tower_outcome::KeyedRetry;
use tower_outcome::retry::Reason;

use crate::plain::{Answer, answer, broken, keyed, read, send, write};
use crate::{at_once, profile};

fn busy(seconds: u64) -> Answer {
    answer(503).with("retry-after", seconds.to_string())
}

#[tokio::test(start_paused = true)]
async fn no_more_attempts_are_made_than_were_allowed() {
    for attempts in [0, 1, 2, 5] {
        let seen = send(at_once(attempts), keyed(), [broken()]).await;
        assert_eq!(seen.sent(), attempts.max(1) as usize);
    }
}

#[tokio::test]
async fn what_may_not_be_repeated_is_not_even_copied() {
    let copies = |mut policy: KeyedRetry, request: Request<&'static str>| {
        let copied: Option<Request<&'static str>> =
            Policy::<_, Response<()>, BoxError>::clone_request(&mut policy, &request);
        copied.is_some()
    };
    assert!(copies(at_once(2), keyed()));
    assert!(copies(at_once(2), read()));
    assert!(!copies(at_once(2), write()));
    assert!(!copies(at_once(1), keyed()));
    assert!(!copies(KeyedRetry::new(2), keyed()));
}

#[tokio::test(start_paused = true)]
async fn no_wait_is_begun_that_would_outlast_the_total_time() {
    let policy = at_once(5).with_total_time(Duration::from_secs(10));
    let seen = send(policy.clone(), keyed(), [busy(9), busy(0), busy(1)]).await;
    assert_eq!(seen.seconds(), [0, 9, 9]);
    assert_eq!(seen.reason(), Some(Reason::TimeSpent));
    let seen = send(policy, keyed(), [busy(10)]).await;
    assert_eq!(seen.seconds(), [0]);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_may_be_forgotten_by_then_is_not_sent_again() {
    // A request may be a minute under way.
    let policy = at_once(9).with_profile(profile("retention_s = 90"));
    let seen = send(policy.clone(), keyed(), [busy(20), busy(9), busy(1)]).await;
    assert_eq!(seen.seconds(), [0, 20, 29]);
    assert_eq!(seen.reason(), Some(Reason::KeyMayBeForgotten));
    let forever = at_once(3).with_profile(profile("retention_s = 'forever'"));
    assert_eq!(send(forever, keyed(), [busy(99)]).await.sent(), 3);
    // Nobody says: the call's own time is the limit.
    assert_eq!(send(at_once(3), keyed(), [busy(99)]).await.sent(), 3);
}

#[tokio::test(start_paused = true)]
async fn calls_share_a_budget_for_retries() {
    let none = Arc::new(TpsBudget::new(Duration::from_secs(10), 0, 0.0));
    let seen = send(at_once(3).with_budget(none), keyed(), [answer(503)]).await;
    assert_eq!((seen.sent(), seen.reason()), (1, Some(Reason::BudgetSpent)));

    // One retry for each call.
    let budget = Arc::new(TpsBudget::new(Duration::from_secs(10), 0, 1.0));
    let policy = at_once(9).with_budget(Arc::clone(&budget));
    for _ in 0..3 {
        assert_eq!(send(policy.clone(), keyed(), [answer(503)]).await.sent(), 2);
    }
    for _ in 0..3 {
        send(policy.clone(), write(), [answer(200)]).await;
        send(policy.clone(), keyed(), [answer(200)]).await;
    }
    assert_eq!(send(policy, keyed(), [answer(503)]).await.sent(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_the_provider_does_not_keep_is_not_repeated() {
    let keeps = |how: &str| at_once(3).with_profile(profile(&format!("stored_failures = '{how}'")));
    let seen = send(keeps("re_execute"), keyed(), [answer(500)]).await;
    assert_eq!((seen.sent(), seen.reason()), (1, Some(Reason::RunsAgain)));
    let seen = send(keeps("replay"), keyed(), [answer(500)]).await;
    assert_eq!((seen.sent(), seen.reason()), (1, Some(Reason::NoNews)));
    assert_eq!(
        send(keeps("replay"), keyed(), [answer(502)]).await.sent(),
        3
    );
    assert_eq!(
        send(keeps("redrive"), keyed(), [answer(500)]).await.sent(),
        3
    );
}
