//! What a profile says decides calls through a whole stack.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use tower::retry::RetryLayer;
use tower::{BoxError, Layer as _, ServiceBuilder, ServiceExt as _, service_fn};
use tower_outcome::transport::Wire;
use tower_outcome::{
    Client, Code, Intent, KeyedRetry, OutcomeBody, Profile, RequestExt as _, Stack,
};

const KEY: &str = "[key]\nin = 'header'\nname = 'acme-key'";

/// A status and a body; the status 0 is a lost answer.
type Script = &'static [(u16, &'static str)];

/// Sends a write to a provider that answers by `script`: its code, and how often it was sent.
async fn send(profile: &str, method: Method, script: Script) -> (Code, usize) {
    let profile = Profile::from_toml(&format!("name = 'acme'\n{profile}")).unwrap();
    let answers = Arc::new(Mutex::new(script.iter().copied().collect::<VecDeque<_>>()));
    let left = Arc::clone(&answers);
    let provider = service_fn(move |_: Request<OutcomeBody>| {
        let (status, body) = answers.lock().unwrap().pop_front().unwrap();
        async move {
            let body = Full::new(Bytes::from_static(body.as_bytes()));
            match status {
                0 => Err(BoxError::from("reset")),
                status => Ok(Response::builder().status(status).body(body).unwrap()),
            }
        }
    });
    let stack = Stack::new()
        .with_profile(profile)
        .with_retry(KeyedRetry::new(3));
    let client = Client::new(stack.layer(Wire::unknown(provider)));
    let request = Request::builder()
        .method(method)
        .uri("http://acme.test/refunds");
    let intent = Intent::explicit("acme", "refund", "7").unwrap();
    let request = request.body("{}").unwrap().with_intent(intent);
    let code = client.send(request).await.code();
    let left = left.lock().unwrap().len();
    (code, script.len() - left)
}

#[tokio::test(start_paused = true)]
async fn the_body_of_a_success_may_be_a_refusal() {
    let rule = "[[rule]]\nmeans = 'declined'\nstatus = 200\nbody = [{ at = '/state', is = 'no' }]";
    let got = send(rule, Method::POST, &[(200, r#"{"state":"no"}"#)]).await;
    assert_eq!(got, (Code::Declined, 1));
    let got = send(rule, Method::POST, &[(200, r#"{"state":"yes"}"#)]).await;
    assert_eq!(got, (Code::Done, 1));
}

#[tokio::test(start_paused = true)]
async fn what_the_execution_came_to_settles_the_attempt_that_was_lost() {
    let rule = |settles| {
        let rule = "[[rule]]\nmeans = 'declined'\nstatus = 402";
        format!("{KEY}\n{rule}\nsettles = {settles}")
    };
    let script: Script = &[(0, ""), (402, "{}"), (402, "{}")];
    assert_eq!(
        send(&rule(true), Method::POST, script).await,
        (Code::Declined, 2)
    );
    // The first attempt may still be heard of.
    let open = (Code::RejectedAfterUnknown, 3);
    assert_eq!(send(&rule(false), Method::POST, script).await, open);
}

#[tokio::test(start_paused = true)]
async fn a_key_under_which_failures_run_again_protects_no_repeat_after_one() {
    let kept = |how: &str| format!("stored_failures = '{how}'\n{KEY}");
    let script: Script = &[(500, ""), (200, "{}")];
    let got = send(&kept("re_execute"), Method::POST, script).await;
    assert_eq!(got, (Code::ServerError, 1));
    assert_eq!(
        send(&kept("redrive"), Method::POST, script).await,
        (Code::Done, 2)
    );
    // A lost answer is another matter: what succeeded is kept.
    let script: Script = &[(0, ""), (200, "{}")];
    assert_eq!(
        send(&kept("re_execute"), Method::POST, script).await,
        (Code::Done, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn a_method_on_which_keys_do_not_count_is_sent_once() {
    let script: Script = &[(503, ""), (200, "{}")];
    assert_eq!(send(KEY, Method::POST, script).await, (Code::Done, 2));
    assert_eq!(
        send(KEY, Method::PATCH, script).await,
        (Code::ServerError, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_get_that_writes_and_a_post_that_reads_are_what_they_do() {
    let route = |effect| format!("[[route]]\npaths = '/refunds'\neffect = '{effect}'");
    let got = send(&route("write"), Method::GET, &[(500, "")]).await;
    assert_eq!(got, (Code::ServerError, 1));
    let got = send(&route("read"), Method::POST, &[(500, ""); 3]).await;
    assert_eq!(got, (Code::ReadFailed, 3));
    let got = send(&route("read"), Method::POST, &[(0, ""), (200, "")]).await;
    assert_eq!(got, (Code::Done, 2));
}

#[tokio::test(start_paused = true)]
async fn the_retry_alone_asks_the_profile_as_well() {
    let sent = |profile: &str, method: &Method| {
        let profile = Profile::from_toml(&format!("name = 'acme'\n{profile}")).unwrap();
        let request = Request::builder().method(method).header("acme-key", "7");
        let request = request.uri("/refunds").body("{}").unwrap();
        async move {
            let count = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&count);
            let client = ServiceBuilder::new()
                .layer(RetryLayer::new(KeyedRetry::new(3).with_profile(profile)))
                .service_fn(move |_: Request<&'static str>| {
                    counted.fetch_add(1, Ordering::SeqCst);
                    async { Ok::<_, BoxError>(Response::builder().status(503).body(()).unwrap()) }
                });
            client.oneshot(request).await.unwrap();
            count.load(Ordering::SeqCst)
        }
    };
    let again = format!("stored_failures = 're_execute'\n{KEY}");
    assert_eq!(sent(KEY, &Method::POST).await, 3);
    assert_eq!(sent(KEY, &Method::DELETE).await, 1);
    assert_eq!(sent(&again, &Method::POST).await, 1);
    assert_eq!(sent(&again, &Method::GET).await, 3);
    let writes = "[[route]]\npaths = '/refunds'\neffect = 'write'";
    assert_eq!(sent(writes, &Method::GET).await, 1);
}
