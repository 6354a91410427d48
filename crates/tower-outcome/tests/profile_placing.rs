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
    below_of(profile, request, body).await
}

async fn below_of(
    profile: Profile,
    request: http::request::Builder,
    body: &str,
) -> Result<(String, String, Option<String>), Code> {
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

#[tokio::test]
async fn a_reference_goes_where_the_provider_can_be_asked_for_it() {
    let form = || {
        let kind = "application/x-www-form-urlencoded";
        Request::post("https://api.stripe.com/v1/refunds").header("content-type", kind)
    };
    let profile = "[[route]]\npaths = '/v1/refunds'\nreference = '/metadata/ours'";
    let got = below(profile, form(), "charge=ch_1").await.unwrap().1;
    assert_eq!(got, format!("charge=ch_1&metadata%5Bours%5D={}", key()));
    let got = below(profile, Request::post("/v1/refunds"), "{}").await;
    let member = format!(r#"{{"metadata":{{"ours":"{}"}}}}"#, key());
    assert_eq!(got.unwrap().1, member);
    let elsewhere = below(profile, Request::post("/v1/other"), "{}").await;
    assert_eq!(elsewhere.unwrap().1, "{}");
}

#[tokio::test]
async fn a_reference_of_the_callers_own_stays() {
    let form = Request::post("/").header("content-type", "application/x-www-form-urlencoded");
    let own = "metadata[ours]=mine";
    let got = below("reference = '/metadata/ours'", form, own).await;
    assert_eq!(got.unwrap().1, own);
    let own = r#"{"externalTxId":"mine"}"#;
    let got = below("reference = 'externalTxId'", Request::post("/"), own).await;
    assert_eq!(got.unwrap().1, own);
}

#[tokio::test]
async fn providers_that_can_be_asked_by_a_reference_get_one() {
    let kind = "application/x-www-form-urlencoded";
    let stripe = || Profile::named("stripe_v1").unwrap();
    let token = intent().render(0, KeyFormat::UuidV4);
    for path in ["/v1/refunds", "/v1/payment_intents"] {
        let form = Request::post(path).header("content-type", kind);
        let got = below_of(stripe(), form, "amount=20").await.unwrap().1;
        assert_eq!(
            got,
            format!("amount=20&metadata%5Btower_outcome%5D={token}")
        );
    }
    let confirm = Request::post("/v1/payment_intents/pi_1/confirm").header("content-type", kind);
    assert_eq!(below_of(stripe(), confirm, "").await.unwrap().1, "");

    let fireblocks = Profile::named("fireblocks").unwrap();
    let got = below_of(fireblocks, Request::post("/v1/transactions"), "{}").await;
    assert_eq!(got.unwrap().1, format!(r#"{{"externalTxId":"{token}"}}"#));
}
