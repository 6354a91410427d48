//! The key is put where the profile says, and a caller's own is left alone.

use http::Request;
use tower::{ServiceBuilder, ServiceExt as _};
use tower_outcome::{
    BoxError, Code, KeyFormat, KeyLayer, OutcomeBody, OutcomeLayer, Profile, RequestExt as _,
};

use crate::support::{Reply, intended, intent, paid, read, write};

/// What arrives below the layer: the key's header, and the body.
async fn below(
    profile: Profile,
    request: Request<OutcomeBody>,
) -> (Code, Option<(Option<String>, String)>) {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let service = ServiceBuilder::new()
        .layer(OutcomeLayer::new().with_profile(profile))
        .layer(KeyLayer::new())
        .service_fn(move |request: Request<OutcomeBody>| {
            let key = request.headers().get("idempotency-key");
            let key = key.map(|key| key.to_str().unwrap().to_owned());
            let body = String::from_utf8(request.body().bytes().unwrap().to_vec()).unwrap();
            sender.send((key, body)).unwrap();
            async { Ok::<Reply, BoxError>(paid()) }
        });
    let Ok(verdict) = service.oneshot(request).await;
    (verdict.code(), receiver.try_recv().ok())
}

#[tokio::test]
async fn the_key_is_spelt_as_the_profile_wants_it() {
    let wire = intent().key().wire(0);
    let profile = Profile::generic;
    for (profile, text) in [
        (profile(), wire.render(KeyFormat::Uuid)),
        (
            profile().with_key_style(KeyFormat::Hex),
            wire.render(KeyFormat::Hex),
        ),
        (
            profile().with_key_style(KeyFormat::Uuid.quoted()),
            format!("\"{}\"", wire.render(KeyFormat::Uuid)),
        ),
    ] {
        let (_, arrived) = below(profile, intended()).await;
        assert_eq!(arrived.unwrap().0, Some(text));
    }
    let (_, arrived) = below(profile().without_key(), intended()).await;
    assert_eq!(arrived.unwrap().0, None);
}

#[tokio::test]
async fn a_reference_goes_into_the_body() {
    let profile = || Profile::generic().with_reference("client_reference");
    let (_, arrived) = below(profile(), intended()).await;
    let wire = intent().key().wire(0).render(KeyFormat::Uuid);
    let body: serde_json::Value = serde_json::from_str(&arrived.unwrap().1).unwrap();
    assert_eq!(
        body,
        serde_json::json!({ "order": 7, "client_reference": wire })
    );

    let no_object = Request::post("http://billing/")
        .body("[7]")
        .unwrap()
        .with_intent(intent());
    let (code, arrived) = below(profile(), no_object).await;
    assert_eq!((code, arrived), (Code::InvalidArguments, None));
}

#[tokio::test]
async fn a_key_that_the_caller_set_is_left_alone() {
    let mut request = write();
    request
        .headers_mut()
        .insert("idempotency-key", "mine".parse().unwrap());
    let (_, arrived) = below(Profile::generic(), request).await;
    assert_eq!(arrived.unwrap().0.as_deref(), Some("mine"));
}

#[tokio::test]
async fn two_keys_at_once_are_refused() {
    let mut request = intended();
    request
        .headers_mut()
        .insert("idempotency-key", "mine".parse().unwrap());
    let (code, arrived) = below(Profile::generic(), request).await;
    assert_eq!((code, arrived), (Code::InvalidArguments, None));
}

#[tokio::test]
async fn what_has_no_wish_gets_no_key() {
    for request in [read(), write()] {
        let (_, arrived) = below(Profile::generic(), request).await;
        assert_eq!(arrived.unwrap().0, None);
    }
}
