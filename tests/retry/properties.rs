//! Whatever a provider answers and whatever the policy is told, a write happens once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full};
use proptest::prelude::*;
use tokio::time::Instant;
use tower::{Layer as _, service_fn};
use tower_outcome::transport::Wire;
use tower_outcome::{Client, KeyedRetry, OutcomeBody, Profile, RequestExt as _, Stack};

use crate::plain::{Answer, answer, broken, keyed, send, write};
use crate::{intent, profile};

#[derive(Clone, Debug)]
struct Policy {
    attempts: u32,
    first_delay: Duration,
    total_time: Duration,
    retries_unsent: bool,
    refreshes: bool,
    profile: usize,
}

impl Policy {
    fn profile(&self) -> Profile {
        match self.profile {
            0 => Profile::generic(),
            1 => Profile::idempotency_key(),
            2 => profile("retention_s = 100\nhint = 'again'"),
            _ => profile("min_delay_s = 3\nstored_failures = 're_execute'"),
        }
    }

    fn retry(&self) -> KeyedRetry {
        let mut retry = KeyedRetry::new(self.attempts)
            .with_profile(self.profile())
            .with_first_delay(self.first_delay)
            .with_total_time(self.total_time);
        if self.retries_unsent {
            retry = retry.with_unsent_retries();
        }
        if self.refreshes {
            retry = retry.with_refresh(|| async {
                let mut headers = HeaderMap::new();
                headers.insert("authorization", HeaderValue::from_static("new"));
                headers.insert("idempotency-key", HeaderValue::from_static("another"));
                headers
            });
        }
        retry
    }
}

prop_compose! {
    fn policies()(
        attempts in 0..8_u32,
        first in 0..3000_u64,
        total in 1..200_u64,
        retries_unsent: bool,
        refreshes: bool,
        profile in 0..4_usize,
    ) -> Policy {
        Policy {
            attempts,
            first_delay: Duration::from_millis(first),
            total_time: Duration::from_secs(total),
            retries_unsent,
            refreshes,
            profile,
        }
    }
}

fn answers() -> impl Strategy<Value = Answer> {
    let status = prop::sample::select(vec![
        200_u16, 201, 202, 303, 307, 400, 401, 401, 403, 404, 409, 409, 412, 422, 425, 429, 429,
        500, 500, 502, 503, 503, 504,
    ]);
    let header = prop::option::of(prop::sample::select(vec![
        ("retry-after", "0"),
        ("retry-after", "7"),
        ("retry-after", "9999999999"),
        ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),
        ("grpc-retry-pushback-ms", "5"),
        ("grpc-retry-pushback-ms", "-1"),
        ("again", "true"),
        ("again", "false"),
    ]));
    prop_oneof![
        1 => Just(broken()),
        5 => (status, header).prop_map(|(status, header)| match header {
            Some((name, value)) => answer(status).with(name, value),
            None => answer(status),
        }),
    ]
}

fn scripts() -> impl Strategy<Value = Vec<Answer>> {
    prop::collection::vec(answers(), 1..9)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(future)
}

/// One request as it arrived: when, and what must never differ.
type Arrived = (Duration, Option<HeaderValue>, Option<Bytes>);

/// What arrives at a provider that answers by `script`, from a whole stack over it.
async fn through_a_stack(
    policy: &Policy,
    with_key: bool,
    streams: bool,
    script: &[Answer],
) -> Vec<Arrived> {
    let script: VecDeque<Answer> = script.iter().cloned().collect();
    let script = Arc::new(Mutex::new(script));
    let arrived = Arc::new(Mutex::new(Vec::new()));
    let began = Instant::now();
    let seen = Arc::clone(&arrived);
    let provider = service_fn(move |request: Request<OutcomeBody>| {
        let key = request.headers().get("idempotency-key").cloned();
        let bytes = request.body().bytes();
        seen.lock().unwrap().push((began.elapsed(), key, bytes));
        let answer = script.lock().unwrap().pop_front();
        let answer = answer.map_or(Err("nothing more".into()), crate::plain::respond);
        std::future::ready(answer.map(|it: Response<()>| it.map(|()| Full::<Bytes>::default())))
    });
    let stack = Stack::new()
        .with_deadline(DEADLINE)
        .with_profile(policy.profile())
        .with_retry(policy.retry());
    let client = Client::new(stack.layer(Wire::unknown(provider)));
    let body = if streams {
        OutcomeBody::new(Full::<Bytes>::from("{}").with_trailers(std::future::pending()))
    } else {
        "{}".into()
    };
    let request = Request::post("http://acme.test/refunds")
        .body(body)
        .unwrap();
    let _verdict = if with_key {
        client.send(request.with_intent(intent())).await
    } else {
        client.send(request).await
    };
    std::mem::take(&mut *arrived.lock().unwrap())
}

/// What may leave without a key that counts: one, and one more after a refusal for credentials,
/// which is proof that the first was not looked at.
fn most_unkeyed(policy: &Policy, script: &[Answer]) -> usize {
    if policy.refreshes && script[0].is_unauthorized() {
        2
    } else {
        1
    }
}

fn alike<T: PartialEq>(all: impl IntoIterator<Item = T>) -> bool {
    let mut all = all.into_iter();
    let first = all.next();
    all.all(|it| Some(it) == first)
}

proptest! {
    #[test]
    fn alone_it_repeats_nothing_that_could_happen_twice(
        policy in policies(),
        script in scripts(),
        with_key: bool,
    ) {
        let request = if with_key { keyed() } else { write() };
        let seen = block_on(send(policy.retry(), request, script.clone()));
        prop_assert!(seen.sent() <= policy.attempts.max(1) as usize);
        if !(with_key && policy.profile > 0) {
            prop_assert!(seen.sent() <= most_unkeyed(&policy, &script));
        }
        prop_assert!(alike(seen.arrived.iter().map(|it| it.headers.get("idempotency-key"))));
        prop_assert!(alike(seen.arrived.iter().map(|it| it.body)));
        let repeats = seen.arrived.iter().skip(1);
        prop_assert!(repeats.map(|it| it.after).all(|after| after <= policy.total_time));
    }

    #[test]
    fn in_a_stack_it_repeats_nothing_that_could_happen_twice(
        policy in policies(),
        script in scripts(),
        with_key: bool,
        streams: bool,
    ) {
        let arrived = block_on(through_a_stack(&policy, with_key, streams, &script));
        prop_assert!(arrived.len() <= policy.attempts.max(1) as usize);
        if streams {
            prop_assert_eq!(arrived.len(), 1);
        }
        if !(with_key && policy.profile > 0) {
            prop_assert!(arrived.len() <= most_unkeyed(&policy, &script));
        }
        prop_assert!(alike(arrived.iter().map(|(_, key, _)| key)));
        prop_assert!(alike(arrived.iter().map(|(_, _, body)| body)));
        let last = arrived.iter().skip(1).map(|(after, ..)| *after).max();
        prop_assert!(last.is_none_or(|it| it < DEADLINE && it <= policy.total_time));
    }
}

const DEADLINE: Duration = Duration::from_secs(20);
