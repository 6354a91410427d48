//! How long the policy waits.

use std::time::Duration;

use tower_outcome::KeyedRetry;
use tower_outcome::retry::{MAX_DELAY, Reason};

use crate::plain::{answer, broken, keyed, read, send};
use crate::{at_once, profile};

fn busy(wait: &str) -> crate::plain::Answer {
    answer(503).with("retry-after", wait)
}

#[tokio::test(start_paused = true)]
async fn the_provider_is_given_the_seconds_that_it_asks_for() {
    let seen = send(at_once(3), keyed(), [busy("7"), busy("0"), answer(200)]).await;
    assert_eq!(seen.seconds(), [0, 7, 7]);
    let seen = send(
        at_once(2),
        read(),
        [answer(429).with("retry-after", "7"), answer(200)],
    )
    .await;
    assert_eq!(seen.seconds(), [0, 7]);
}

#[tokio::test(start_paused = true)]
async fn the_provider_is_given_until_the_moment_that_it_names() {
    let until = |moment: &str| busy(moment).with("date", "Wed, 21 Oct 2015 07:28:00 GMT");
    let later = until("Wed, 21 Oct 2015 07:28:09 GMT");
    let past = until("Wed, 21 Oct 2015 07:27:00 GMT");
    let seen = send(at_once(3), keyed(), [later, past, answer(200)]).await;
    assert_eq!(seen.seconds(), [0, 9, 9]);
}

#[tokio::test(start_paused = true)]
async fn an_absurd_wait_is_cut_short_and_an_unreadable_one_ignored() {
    let patient = || at_once(2).with_total_time(Duration::from_hours(1));
    for wait in ["999999", "9223372036854775807", "99999999999999999999"] {
        let seen = send(patient(), keyed(), [busy(wait), answer(200)]).await;
        assert_eq!(seen.seconds(), [0, 300], "{wait}");
    }
    for wait in ["-3", "+3", "1.5", "tomorrow"] {
        let seen = send(patient(), keyed(), [busy(wait), answer(200)]).await;
        assert_eq!(seen.seconds(), [0, 0], "{wait}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pushback_is_the_wait_and_the_backoff_begins_anew_after_it() {
    let pushed = |wait: &str| answer(503).with("grpc-retry-pushback-ms", wait);
    let seen = send(at_once(2), keyed(), [pushed("5000"), answer(200)]).await;
    assert_eq!(seen.seconds(), [0, 5]);

    let policy = KeyedRetry::new(12).with_first_delay(Duration::from_millis(10));
    let policy = policy.with_profile(profile(""));
    let script = std::iter::repeat_n(answer(503), 9).chain([pushed("0"), answer(503)]);
    let seen = send(policy, keyed(), script).await;
    let last = seen.arrived[11]
        .after
        .saturating_sub(seen.arrived[10].after);
    assert!(last <= Duration::from_millis(10), "{last:?}");
}

#[tokio::test(start_paused = true)]
async fn a_pushback_of_never_is_final() {
    for never in ["-1", "soon", "2147483648"] {
        let pushed = answer(503).with("grpc-retry-pushback-ms", never);
        let seen = send(at_once(3), keyed(), [pushed]).await;
        assert_eq!(
            (seen.sent(), seen.reason()),
            (1, Some(Reason::ProviderForbids))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_hint_of_a_provider_is_taken() {
    let policy = || at_once(3).with_profile(profile("hint = 'should-retry'"));
    let hinted = |status, hint: &str| answer(status).with("should-retry", hint);
    let seen = send(policy(), keyed(), [hinted(503, "false")]).await;
    assert_eq!(
        (seen.sent(), seen.reason()),
        (1, Some(Reason::ProviderForbids))
    );
    let seen = send(policy(), keyed(), [hinted(409, "true"), answer(200)]).await;
    assert_eq!(seen.sent(), 2);
    let seen = send(policy(), keyed(), [answer(409)]).await;
    assert_eq!(seen.sent(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_same_key_is_not_sent_again_before_the_provider_can_take_it() {
    let policy = at_once(2).with_profile(profile("min_delay_s = 30"));
    let seen = send(policy.clone(), keyed(), [busy("1"), answer(200)]).await;
    assert_eq!(seen.seconds(), [0, 30]);
    let seen = send(policy, read(), [broken(), answer(200)]).await;
    assert_eq!(seen.seconds(), [0, 0]);
}

#[tokio::test(start_paused = true)]
async fn the_backoff_doubles_up_to_a_limit_with_full_jitter() {
    let first = Duration::from_millis(100);
    let policy = KeyedRetry::new(9)
        .with_profile(profile(""))
        .with_first_delay(first);
    let mut firsts = Vec::new();
    let mut longest = [Duration::ZERO; 8];
    for _ in 0..40 {
        let seen = send(policy.clone(), keyed(), [answer(503)]).await;
        assert_eq!(seen.sent(), 9);
        for (nth, pair) in seen.arrived.windows(2).enumerate() {
            let wait = pair[1].after.saturating_sub(pair[0].after);
            // tokio's clock goes by milliseconds.
            let ceiling = (first * (1 << nth)).min(MAX_DELAY) + Duration::from_millis(1);
            assert!(wait <= ceiling, "{nth} {wait:?}");
            longest[nth] = longest[nth].max(wait);
        }
        firsts.push(seen.arrived[1].after);
    }
    // 40 draws below half of their range are as good as impossible, as are 40 equal ones.
    for (nth, wait) in longest.into_iter().enumerate() {
        let ceiling = (first * (1 << nth)).min(MAX_DELAY);
        assert!(wait > ceiling / 2, "{nth} {wait:?}");
    }
    firsts.sort_unstable();
    firsts.dedup();
    assert!(firsts.len() > 1);
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_service_do_not_wait_alike() {
    use tower::{Service as _, ServiceBuilder, ServiceExt as _, retry::RetryLayer};
    let policy = KeyedRetry::new(2).with_profile(profile(""));
    let policy = policy.with_first_delay(Duration::from_secs(4));
    let mut client = ServiceBuilder::new()
        .layer(RetryLayer::new(policy))
        .service_fn(|_: http::Request<&'static str>| {
            std::future::ready(Err::<http::Response<()>, _>("the connection broke"))
        });
    let mut waits = Vec::new();
    for _ in 0..20 {
        let began = tokio::time::Instant::now();
        client
            .ready()
            .await
            .unwrap()
            .call(keyed())
            .await
            .unwrap_err();
        waits.push(began.elapsed());
    }
    waits.sort_unstable();
    waits.dedup();
    assert!(waits.len() > 1, "{waits:?}");
}
