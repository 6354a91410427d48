//! What applies to some requests only.

use http::Method;
use tower_outcome::Code;
use tower_outcome::classify::{self, History, KeyOrigin, Sent};

use super::{Came, headers, profile};

const API: &str = "
[[rule]]
means = 'declined'
status = [409, 410]

[[route]]
methods = ['POST']
hosts = ['*.acme.example']
paths = ['/v1/*/search', '/v2/**']
effect = 'read'

[[route]]
paths = ['/v1/pending']
[[route.rule]]
means = 'pending'
status = [200, 410]

[[route]]
operations = ['Delete*']
effect = 'write'
";

fn code(sent: &Sent<'_>, status: u16) -> Code {
    Came::new(status, "{}")
        .read(&profile(API), sent, History::Clean)
        .code
}

#[test]
fn a_post_that_reads_changes_nothing() {
    let sent = |path| Sent::new(&Method::POST, path).with_host("api.acme.example");
    assert_eq!(code(&sent("/v1/refunds/search?q=1"), 500), Code::ReadFailed);
    assert_eq!(code(&sent("/v2/a/b"), 500), Code::ReadFailed);
    assert_eq!(code(&sent("/v1/a/b/search"), 500), Code::ServerError);
    assert_eq!(
        code(&sent("/v2/a/b").with_host("acme.test"), 500),
        Code::ServerError
    );
    assert_eq!(
        code(&Sent::new(&Method::POST, "/v2/a/b"), 500),
        Code::ServerError
    );
    let put = Sent::new(&Method::PUT, "/v2/a/b").with_host("api.acme.example");
    assert_eq!(code(&put, 500), Code::ServerError);
    let end = |code| classify::unanswered(&profile(API), &sent("/v2/a"), code, History::Clean).code;
    assert_eq!(end(Code::ResponseLost), Code::ReadFailed);
    assert_eq!(end(Code::ConnectFailed), Code::ConnectFailed);
}

#[test]
fn a_get_that_writes_may_have_happened() {
    let get = |path| Sent::new(&Method::GET, path);
    assert_eq!(code(&get("/"), 500), Code::ReadFailed);
    assert_eq!(code(&get("/?Action=DeleteVolume"), 500), Code::ServerError);
    assert_eq!(code(&get("/?Action=ListVolumes"), 500), Code::ReadFailed);
    let target = headers(&[("x-amz-target", "Acme_2012.DeleteVolume")]);
    assert_eq!(
        code(&get("/").with_headers(&target), 500),
        Code::ServerError
    );
}

#[test]
fn a_route_has_its_own_rules_before_those_of_the_api() {
    let sent = |path| Sent::new(&Method::POST, path).with_key(KeyOrigin::Explicit);
    assert_eq!(code(&sent("/v1/pending"), 200), Code::AcceptedPending);
    assert_eq!(code(&sent("/v1/pending"), 409), Code::Declined);
    assert_eq!(code(&sent("/v1/pending"), 410), Code::AcceptedPending);
    assert_eq!(code(&sent("/v1/other"), 200), Code::Done);
}
