//! What an answer proves about a write.
//!
//! One pure function of three things: what was sent, what came back, and what may have been sent
//! before. The provider's [`Profile`] is asked first, then rules that hold for any HTTP or gRPC
//! API. A refusal proves something only while nothing else of the same intent may have left.
//!
//! ```
//! use http::{HeaderMap, Method, StatusCode};
//! use tower_outcome::classify::{self, Answer, History, KeyOrigin, Sent};
//! use tower_outcome::{Code, Profile};
//!
//! let stripe = Profile::named("stripe_v1").unwrap();
//! let sent = Sent::new(&Method::POST, "/v1/refunds").with_key(KeyOrigin::Derived);
//! let mut headers = HeaderMap::new();
//! let refused = Answer::new(StatusCode::BAD_REQUEST, &headers).with_body(b"{}");
//! assert_eq!(classify::answer(&stripe, &sent, &refused, History::Clean).code, Code::Rejected);
//! // An earlier attempt was lost: the refusal of a later one says nothing about it ...
//! let again = classify::answer(&stripe, &sent, &refused, History::LeftInThisCall);
//! assert_eq!(again.code, Code::RejectedAfterUnknown);
//! // ... unless it says that it is the stored answer to that attempt.
//! headers.insert("idempotent-replayed", "true".parse().unwrap());
//! let stored = Answer::new(StatusCode::BAD_REQUEST, &headers).with_body(b"{}");
//! let again = classify::answer(&stripe, &sent, &stored, History::LeftInThisCall);
//! assert_eq!(again.code, Code::Rejected);
//! ```

#![cfg(feature = "client")]

use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use tower_outcome_core::{Code, Outcome};

use crate::profile::{Meaning, Profile, Target};

mod bridge;
mod conditions;
mod facts;
mod generic;
mod grpc;
mod resend;
mod view;
mod word;

pub(crate) use bridge::{lost, write};
pub(crate) use conditions::is_conditional;
use facts::Facts;
pub use grpc::GrpcStatus;
pub(crate) use view::View;

/// What is known of the request.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    pub(crate) method: &'a Method,
    pub(crate) host: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) headers: Option<&'a HeaderMap>,
    pub(crate) conditional: bool,
    pub(crate) key: Option<KeyOrigin>,
    pub(crate) key_age: Option<Duration>,
    pub(crate) claimed: bool,
    pub(crate) moves: bool,
}

/// Where the key of a request comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeyOrigin {
    /// From what the request means: who sends other bytes under it has sent some before.
    Derived,
    /// The caller chose it, so it may stand for something else altogether.
    Explicit,
}

/// What may have been sent of the same intent before this request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum History {
    /// Nothing, or only what is proven unsent or refused.
    Clean,
    /// An earlier call may have left something, none of this call has.
    LeftInEarlierCall,
    /// An earlier attempt of this very call may have left.
    LeftInThisCall,
}

/// What came back.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    pub(crate) status: StatusCode,
    pub(crate) headers: &'a HeaderMap,
    /// `None` where it is not at hand: too long, or lost.
    pub(crate) body: Option<&'a [u8]>,
    /// The head came, the body did not.
    pub(crate) body_lost: bool,
    pub(crate) grpc: Option<GrpcStatus<'a>>,
}

/// What an answer proves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reading {
    /// What it proves of the whole intent.
    pub code: Code,
    /// What it says by itself; `None` where no answer came.
    pub meaning: Option<Meaning>,
    /// Whether the same bytes may be sent again under the same key, after the provider's delay:
    /// nothing can happen twice, and the next answer may tell more.
    pub retryable_with_same_key: bool,
    /// The provider calls it the stored answer of an earlier request.
    pub replayed: bool,
    /// What the answer names for a look-up: the id of what exists already.
    pub found: Option<String>,
    /// The line of the profile that decided, counted from 1; `None` for the general rules.
    pub rule: Option<usize>,
}

/// Judges an answer. The answer to a read proves that nothing changed, whatever it says.
#[must_use]
pub fn answer(
    profile: &Profile,
    sent: &Sent<'_>,
    answer: &Answer<'_>,
    history: History,
) -> Reading {
    let profile = profile.narrowed(&sent.target());
    if profile.reads(sent.method) {
        return Reading::bare(read(answer.status), false);
    }
    answer_on_route(&profile, sent, answer, history)
}

/// Judges the answer to a write, by the profile of its very route.
fn answer_on_route(
    profile: &Profile,
    sent: &Sent<'_>,
    answer: &Answer<'_>,
    history: History,
) -> Reading {
    let view = View::new(sent, answer);
    let facts = Facts::new(profile, sent, history, Some(&view));
    let finding = find(profile, &view, facts.keyed);
    Reading {
        code: word::of(&finding, &facts, &view),
        meaning: Some(finding.means),
        retryable_with_same_key: facts.protects() && resend::brings_news(&finding, &facts, &view),
        replayed: facts.replayed,
        found: finding.found,
        rule: finding.rule,
    }
}

/// Judges an attempt that ended in `code` without an answer.
#[must_use]
pub fn unanswered(profile: &Profile, sent: &Sent<'_>, code: Code, history: History) -> Reading {
    let profile = profile.narrowed(&sent.target());
    if profile.reads(sent.method) {
        let proven = code.outcome() == Outcome::Failed;
        return Reading::bare(if proven { code } else { Code::ReadFailed }, false);
    }
    unanswered_on_route(&profile, sent, code, history)
}

/// Judges an attempt at a write that ended in `code`, by the profile of its very route.
fn unanswered_on_route(
    profile: &Profile,
    sent: &Sent<'_>,
    code: Code,
    history: History,
) -> Reading {
    let proven = code.outcome() == Outcome::Failed;
    let facts = Facts::new(profile, sent, history, None);
    let code = if proven && facts.is_tainted() {
        Code::RejectedAfterUnknown
    } else {
        code
    };
    Reading::bare(code, facts.protects())
}

/// Judges the answer to a read.
pub(crate) fn read(status: StatusCode) -> Code {
    match status.as_u16() {
        429 => Code::RateLimited,
        400..500 => Code::Rejected,
        500.. => Code::ReadFailed,
        _ => Code::Done,
    }
}

impl<'a> Sent<'a> {
    /// A request to `path`, whose query may stand behind it, without a key.
    #[must_use]
    pub const fn new(method: &'a Method, path: &'a str) -> Self {
        Self {
            method,
            host: None,
            path,
            headers: None,
            conditional: false,
            key: None,
            key_age: None,
            claimed: false,
            moves: false,
        }
    }

    /// The host that it went to.
    #[must_use]
    pub const fn with_host(mut self, host: &'a str) -> Self {
        self.host = Some(host);
        self
    }

    /// The request's headers, among which conditions are looked for (RFC 9110 section 13.1).
    #[must_use]
    pub fn with_headers(mut self, headers: &'a HeaderMap) -> Self {
        self.conditional = is_conditional(headers);
        self.headers = Some(headers);
        self
    }

    /// It carried a key that the provider honours on this route.
    #[must_use]
    pub const fn with_key(mut self, origin: KeyOrigin) -> Self {
        self.key = Some(origin);
        self
    }

    /// The time since the first request under the key, where that is not of the same call.
    #[must_use]
    pub const fn with_key_age(mut self, age: Duration) -> Self {
        self.key_age = Some(age);
        self
    }

    /// A ledger granted the claim on the intent to this call.
    #[must_use]
    pub const fn with_claim(mut self) -> Self {
        self.claimed = true;
        self
    }

    /// The next attempt would go to another host, or under another credential.
    #[must_use]
    pub const fn moving_on(mut self) -> Self {
        self.moves = true;
        self
    }

    pub(crate) fn target(&self) -> Target<'a> {
        Target::new(self.method, self.host, self.path, self.headers)
    }
}

impl<'a> Answer<'a> {
    /// An answer of which the body is not at hand.
    #[must_use]
    pub const fn new(status: StatusCode, headers: &'a HeaderMap) -> Self {
        Self {
            status,
            headers,
            body: None,
            body_lost: false,
            grpc: None,
        }
    }

    /// The whole body.
    #[must_use]
    pub const fn with_body(mut self, body: &'a [u8]) -> Self {
        self.body = Some(body);
        self
    }

    /// The body was lost on the way.
    #[must_use]
    pub const fn with_lost_body(mut self) -> Self {
        self.body_lost = true;
        self
    }

    /// The gRPC status, from the headers or the trailers.
    #[must_use]
    pub const fn with_grpc(mut self, status: GrpcStatus<'a>) -> Self {
        self.grpc = Some(status);
        self
    }
}

impl Reading {
    const fn bare(code: Code, retryable_with_same_key: bool) -> Self {
        Self {
            code,
            meaning: None,
            retryable_with_same_key,
            replayed: false,
            found: None,
            rule: None,
        }
    }
}

/// What an answer says by itself, and who says so.
struct Finding {
    means: Meaning,
    settles: bool,
    resend: Option<bool>,
    found: Option<String>,
    rule: Option<usize>,
}

impl Finding {
    const fn generic(means: Meaning) -> Self {
        Self {
            means,
            settles: false,
            resend: None,
            found: None,
            rule: None,
        }
    }
}

fn find(profile: &Profile, view: &View<'_>, keyed: bool) -> Finding {
    if view.is_unread() && profile.body_decides(view.status().as_u16()) {
        return Finding::generic(Meaning::Indeterminate);
    }
    let mut rules = (1..).zip(profile.rules());
    if let Some((number, rule)) = rules.find(|(_, rule)| rule.matches(view, keyed)) {
        return Finding {
            means: rule.means,
            settles: rule.settles,
            resend: rule.resend,
            found: rule.found.as_ref().and_then(|at| view.scalar_at(at)),
            rule: Some(number),
        };
    }
    generic::find(profile, view, keyed)
}
