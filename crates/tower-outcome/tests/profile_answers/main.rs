//! What answers prove: by the rules of a profile, by those for any API, and by what went before.

mod generic;
mod history;
mod properties;
mod resend;
mod routes;
mod rules;

use http::{HeaderMap, HeaderName, Method, StatusCode};
use tower_outcome::classify::{self, Answer, History, KeyOrigin, Reading, Sent};
use tower_outcome::{Code, Profile};

/// A profile of which `text` is all but the name.
fn profile(text: &str) -> Profile {
    Profile::from_toml(&format!("name = 'acme'\n{text}")).unwrap()
}

/// A keyed POST to `/refunds`.
fn sent() -> Sent<'static> {
    Sent::new(&Method::POST, "/refunds").with_key(KeyOrigin::Explicit)
}

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &'static str)| {
        (HeaderName::from_static(name), value.parse().unwrap())
    };
    pairs.iter().map(pair).collect()
}

/// An answer with its body.
struct Came {
    status: u16,
    headers: HeaderMap,
    body: &'static str,
}

impl Came {
    fn new(status: u16, body: &'static str) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            body,
        }
    }

    fn with(mut self, pairs: &[(&'static str, &'static str)]) -> Self {
        self.headers = headers(pairs);
        self
    }

    fn read(&self, profile: &Profile, sent: &Sent<'_>, history: History) -> Reading {
        let status = StatusCode::from_u16(self.status).unwrap();
        let answer = Answer::new(status, &self.headers).with_body(self.body.as_bytes());
        classify::answer(profile, sent, &answer, history)
    }

    /// As the answer to the first attempt at a keyed write.
    fn first(&self, profile: &Profile) -> Reading {
        self.read(profile, &sent(), History::Clean)
    }

    /// As the answer to a later attempt, an earlier one being lost.
    fn later(&self, profile: &Profile) -> Reading {
        self.read(profile, &sent(), History::LeftInThisCall)
    }

    fn code(&self, profile: &Profile) -> Code {
        self.first(profile).code
    }
}

/// The codes of a first and of a later attempt under one rule for the status 409.
fn codes(rule: &str) -> (Code, Code) {
    let profile = profile(&format!("[[rule]]\nstatus = 409\n{rule}"));
    let came = Came::new(409, "{}");
    (came.code(&profile), came.later(&profile).code)
}
