//! New credentials after a refusal for the old ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::HeaderMap;
use tower_outcome::retry::Reason;
use tower_outcome::{Code, KeyedRetry, Profile, RequestExt as _, Stack, Watch};
use tower_outcome_testkit::{Billing, Refusing, Reply, Step};

use crate::clients::{over_each, write};
use crate::plain::{self, answer, broken, keyed, send};
use crate::{at_once, intent, profile};

/// The policy, and how often it fetched.
fn refreshing(policy: KeyedRetry) -> (KeyedRetry, Arc<AtomicUsize>) {
    let fetched = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&fetched);
    let policy = policy.with_refresh(move || {
        count.fetch_add(1, Ordering::SeqCst);
        async {
            tokio::task::yield_now().await;
            let mut headers = HeaderMap::new();
            headers.insert("authorization", "new".parse().unwrap());
            headers.insert("idempotency-key", "another".parse().unwrap());
            headers
        }
    });
    (policy, fetched)
}

fn with_old(mut request: http::Request<&'static str>) -> http::Request<&'static str> {
    let old = http::HeaderValue::from_static("old");
    request.headers_mut().insert("authorization", old);
    request
}

#[tokio::test(start_paused = true)]
async fn the_next_attempts_carry_the_new_credentials_and_the_same_key() {
    let (policy, fetched) = refreshing(at_once(5));
    let script = [answer(401), answer(503), answer(200)];
    let seen = send(policy, with_old(keyed()), script).await;
    let values = |name: &str| -> Vec<_> {
        let all = seen.arrived.iter();
        all.map(|it| it.headers[name].to_str().unwrap()).collect()
    };
    assert_eq!(values("authorization"), ["old", "new", "new"]);
    assert_eq!(values("idempotency-key"), ["refund-7"; 3]);
    assert_eq!(fetched.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_second_refusal_is_final() {
    let (policy, fetched) = refreshing(at_once(9));
    for script in [vec![answer(401)], vec![answer(401), broken(), answer(401)]] {
        let sent = script.len().max(2);
        let seen = send(policy.clone(), keyed(), script).await;
        assert_eq!(seen.sent(), sent);
        assert_eq!(seen.reason(), Some(Reason::RefusedAgain));
        assert_eq!(seen.result.unwrap().status(), 401);
    }
    assert_eq!(fetched.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_final_where_no_credentials_can_be_fetched() {
    assert_eq!(send(at_once(9), keyed(), [answer(401)]).await.sent(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_write_without_a_key_was_refused_before_it_was_looked_at_and_goes_again_once() {
    let (policy, _) = refreshing(at_once(9));
    let seen = send(policy.clone(), plain::write(), [answer(401), answer(503)]).await;
    assert_eq!(seen.sent(), 2);
    let seen = send(policy.clone(), plain::write(), [answer(503)]).await;
    assert_eq!((seen.sent(), seen.reason()), (1, Some(Reason::Unkeyed)));
    // Something in between may have sent it on twice: the refusal is no proof.
    let proxied = policy.with_profile(Profile::idempotency_key().with_replaying_proxy());
    assert_eq!(send(proxied, plain::write(), [answer(401)]).await.sent(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_belongs_to_its_credentials_protects_nothing_under_others() {
    let (policy, _) = refreshing(at_once(9));
    let policy = policy.with_profile(profile("scope = ['credential']"));
    let seen = send(policy.clone(), keyed(), [answer(401), answer(200)]).await;
    assert_eq!(seen.sent(), 2);
    let seen = send(policy, keyed(), [broken(), answer(401)]).await;
    assert_eq!(
        (seen.sent(), seen.reason()),
        (2, Some(Reason::RefusedAgain))
    );
}

#[tokio::test]
async fn a_stack_refreshes_once_over_real_clients() {
    let refused = || Step::AnswerWith(Reply::new(401));
    for (script, sent, code) in [
        (vec![refused(), Step::Answer], 2, Code::Done),
        (vec![refused(), refused(), Step::Answer], 2, Code::Rejected),
    ] {
        for with_key in [true, false] {
            for which in 0..2 {
                let (policy, fetched) = refreshing(at_once(5));
                let stack = Stack::new()
                    .with_profile(Profile::idempotency_key())
                    .with_retry(policy);
                let (client, stack) = over_each(&stack).into_iter().nth(which).unwrap();
                let billing = Billing::start().await.unwrap();
                billing.script(script.clone());
                let watch = Watch::new();
                let mut request = write(&billing.url());
                request.extensions_mut().insert(watch.clone());
                let verdict = if with_key {
                    stack.send(request.with_intent(intent())).await
                } else {
                    stack.send(request).await
                };
                let received = billing.received();
                let context = format!("{client} {with_key} {code}");
                assert_eq!((verdict.code(), received.len()), (code, sent), "{context}");
                assert_eq!(fetched.load(Ordering::SeqCst), 1, "{context}");
                assert_eq!(received[0].key(), received[1].key(), "{context}");
                assert_eq!(
                    received[1].header("authorization"),
                    Some("new"),
                    "{context}"
                );
                assert!(billing.commits() <= 1, "{context}");
                let call = watch.call().unwrap();
                assert_eq!(call.attempts(), 2, "{context}");
            }
        }
    }
}

#[tokio::test]
async fn fetching_credentials_repeats_nothing_that_was_never_sent() {
    for (unsent_retries, attempts) in [(false, 1), (true, 3)] {
        let (policy, fetched) = refreshing(at_once(3));
        let policy = if unsent_retries {
            policy.with_unsent_retries()
        } else {
            policy
        };
        for (client, stack) in over_each(&Stack::new().with_retry(policy)) {
            let refusing = Refusing::start().unwrap();
            let watch = Watch::new();
            let mut request = write(&refusing.url());
            request.extensions_mut().insert(watch.clone());
            assert_eq!(
                stack.send(request).await.code(),
                Code::ConnectFailed,
                "{client}"
            );
            assert_eq!(watch.call().unwrap().attempts(), attempts, "{client}");
            assert_eq!(fetched.load(Ordering::SeqCst), 0, "{client}");
        }
    }
}
