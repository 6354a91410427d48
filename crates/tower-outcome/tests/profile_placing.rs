//! Keys go where the provider looks for them.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower::{ServiceBuilder, ServiceExt as _};
use tower_outcome::{
    BoxError, Code, Intent, KeyFormat, KeyLayer, OutcomeBody, OutcomeLayer, Profile, ReplyBody,
    RequestExt as _,
};

type Reply = Response<ReplyBody<Full<Bytes>>>;

fn intent() -> Intent {
    Intent::explicit("acme", "refund", "7").unwrap()
}

fn key() -> String {
    intent().render(0, KeyFormat::Uuid)
}

/// Target, body and a header of what arrives below the layer, or the code of what does not.
async fn below(
    profile: &str,
    request: http::request::Builder,
    body: &str,
) -> Result<(String, String, Option<String>), Code> {
    let profile = Profile::from_toml(&format!("name = 'acme'\n{profile}")).unwrap();
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let service = ServiceBuilder::new()
        .layer(OutcomeLayer::new().with_profile(profile))
        .layer(KeyLayer::new())
        .service_fn(move |request: Request<OutcomeBody>| {
            let header = request.headers().get("acme-key");
            let header = header.map(|key| key.to_str().unwrap().to_owned());
            let body = String::from_utf8(request.body().bytes().unwrap().to_vec()).unwrap();
            sender
                .send((request.uri().to_string(), body, header))
                .unwrap();
            let answer: Reply = Response::new(ReplyBody::whole(Bytes::new()));
            async { Ok::<_, BoxError>(answer) }
        });
    let request = request.body(body.to_owned()).unwrap().with_intent(intent());
    let verdict: Result<_, Infallible> = service.oneshot(request.map(OutcomeBody::from)).await;
    receiver.try_recv().map_err(|_| verdict.unwrap().code())
}

#[tokio::test]
async fn a_header_carries_the_key_on_the_methods_that_count_alone() {
    let profile = "[key]\nin = 'header'\nname = 'Acme-Key'";
    let post = below(profile, Request::post("/refunds"), "{}").await;
    assert_eq!(post.unwrap().2, Some(key()));
    let delete = below(profile, Request::delete("/refunds/7"), "").await;
    assert_eq!(delete.unwrap().2, None);
}

#[tokio::test]
async fn a_route_may_take_the_key_elsewhere() {
    let profile = "[key]\nin = 'none'\n[[route]]\npaths = '/refunds'\n[route.key]\n\
        in = 'header'\nname = 'Acme-Key'";
    let keyed = below(profile, Request::post("http://acme.test/refunds?x=1"), "{}").await;
    assert_eq!(keyed.unwrap().2, Some(key()));
    let bare = below(profile, Request::post("http://acme.test/other"), "{}").await;
    assert_eq!(bare.unwrap().2, None);
}

#[tokio::test]
async fn a_query_gets_a_pair() {
    let profile = "[key]\nin = 'query'\nname = 'Token'";
    let first = below(profile, Request::post("http://acme.test/"), "").await;
    assert_eq!(
        first.unwrap().0,
        format!("http://acme.test/?Token={}", key())
    );
    let next = below(profile, Request::post("http://acme.test/a?b=c"), "").await;
    assert_eq!(
        next.unwrap().0,
        format!("http://acme.test/a?b=c&Token={}", key())
    );
    let own = below(profile, Request::post("http://acme.test/?Token=mine"), "").await;
    assert_eq!(own.unwrap_err(), Code::InvalidArguments);
}

#[tokio::test]
async fn a_json_body_gets_a_member() {
    let profile = "[key]\nin = 'body'\nname = 'token'";
    let body = |text: &'static str| below(profile, Request::post("/"), text);
    let got = body(r#"{"a":1}"#).await.unwrap().1;
    assert_eq!(got, format!(r#"{{"a":1,"token":"{}"}}"#, key()));
    let empty = body(r#"{"token":""}"#).await.unwrap().1;
    assert_eq!(empty, format!(r#"{{"token":"{}"}}"#, key()));
    assert_eq!(
        body(r#"{"token":"mine"}"#).await,
        Err(Code::InvalidArguments)
    );
    assert_eq!(body("[]").await, Err(Code::InvalidArguments));
    assert_eq!(body("a=1").await, Err(Code::InvalidArguments));
}

#[tokio::test]
async fn a_member_of_a_member_is_made_where_it_is_missing() {
    let profile = "[key]\nin = 'body'\nname = '/headers/token'";
    let got = below(profile, Request::post("/"), "{}").await.unwrap().1;
    assert_eq!(got, format!(r#"{{"headers":{{"token":"{}"}}}}"#, key()));
    let other = below(profile, Request::post("/"), r#"{"headers":1}"#).await;
    assert_eq!(other, Err(Code::InvalidArguments));
}

#[tokio::test]
async fn a_form_gets_a_pair() {
    let profile = "[key]\nin = 'body'\nname = 'Token'";
    let form = || {
        let kind = "application/x-www-form-urlencoded";
        Request::post("/")
            .header("content-type", kind)
            .header("content-length", "3")
    };
    let got = below(profile, form(), "a=1").await.unwrap().1;
    assert_eq!(got, format!("a=1&Token={}", key()));
    assert_eq!(
        below(profile, form(), "Token=mine").await,
        Err(Code::InvalidArguments)
    );
}
