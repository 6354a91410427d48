//! reqwest's client, with its redirects and its own retries, and what repeats over it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_effects::{EffectOutcome, Runtime};
use agent_effects_http::HttpEffect;
use agent_effects_memory::MemoryStore;
use reqwest::header::CONTENT_TYPE;
use reqwest_middleware::ClientBuilder;
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;
use tower_outcome_matrix::{BODY, Protocol, Write};
use tower_outcome_testkit::Told;

use super::{JSON, told};

/// With a timeout.
pub(super) fn plain(protocol: Protocol, deadline: Duration) -> Write {
    let client = client(protocol, deadline);
    Arc::new(move |url| {
        let request = client
            .post(format!("{url}/refunds"))
            .header(CONTENT_TYPE, JSON)
            .body(BODY);
        Box::pin(async move {
            let answer = request.send().await;
            told(answer.ok().map(|response| response.status()))
        })
    })
}

/// With the strategy and the number of retries of the example on the crate's first page.
pub(super) fn reqwest_retry(protocol: Protocol, deadline: Duration) -> Write {
    let policy = ExponentialBackoff::builder()
        .retry_bounds(Duration::ZERO, Duration::ZERO)
        .build_with_max_retries(3);
    let client = ClientBuilder::new(client(protocol, deadline))
        .with(RetryTransientMiddleware::new_with_policy(policy))
        .build();
    Arc::new(move |url| {
        let request = client
            .post(format!("{url}/refunds"))
            .header(CONTENT_TYPE, JSON)
            .body(BODY);
        Box::pin(async move {
            let answer = request.send().await;
            told(answer.ok().map(|response| response.status()))
        })
    })
}

/// With nothing declared: no look-up, no key, not that the client follows no redirects.
pub(super) fn agent_effects(protocol: Protocol, deadline: Duration) -> Write {
    let client = client(protocol, deadline);
    let runtime = Runtime::new(MemoryStore::new());
    let orders = AtomicUsize::new(0);
    Arc::new(move |url| {
        let effect = HttpEffect::post(&client, format!("{url}/refunds"))
            .header("content-type", JSON)
            .body(BODY);
        // Every write of a test is another one: an equal key would only show the first again.
        let order = orders.fetch_add(1, Ordering::Relaxed);
        let outcome = runtime.effect("refund", order).run(effect.send());
        Box::pin(async move {
            match outcome.await {
                Ok(EffectOutcome::Committed(_)) => Told::Done,
                Ok(EffectOutcome::Failed(_) | EffectOutcome::Rejected(_)) => Told::Failed,
                Ok(_) | Err(_) => Told::Unknown,
            }
        })
    })
}

fn client(protocol: Protocol, deadline: Duration) -> reqwest::Client {
    let builder = reqwest::Client::builder().no_proxy().timeout(deadline);
    let builder = match protocol {
        Protocol::Http2 => builder.http2_prior_knowledge(),
        Protocol::Grpc | Protocol::Http1 | Protocol::Https => builder,
    };
    builder.build().expect("no TLS is set up")
}
