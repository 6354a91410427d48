//! What a provider's answers mean: ordered rules, the first that matches decides.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use http::{HeaderMap, HeaderName};
use serde_json::Value;

use super::pattern::{Pattern, names_one_of};
use crate::classify::View;

macro_rules! meanings {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)+) => {
        /// What an answer says about the request, before anything is known of earlier attempts.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum Meaning {
            $($(#[$doc])* $name,)+
        }

        impl Meaning {
            /// Every meaning there is.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The meaning as a profile spells it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

meanings! {
    /// An identical request under this key did it before: success in the dress of an error.
    Created = "created",
    /// The provider looked at it and said no.
    Declined = "declined",
    /// It happened.
    Done = "done",
    /// Something equal is there already, made by whomever.
    Exists = "exists",
    /// An earlier request is being worked on.
    InFlight = "in_flight",
    /// Anything may have become of it.
    Indeterminate = "indeterminate",
    /// The key is missing, malformed or too long.
    KeyInvalid = "key_invalid",
    /// The key is too old to be known.
    KeyTooOld = "key_too_old",
    /// The key stands for another request, or the request is simply wrong: both look like this.
    MaybeMismatch = "maybe_mismatch",
    /// The key stands for another request.
    Mismatch = "mismatch",
    /// Not one effect, and the same request will run as if it were the first.
    NotProcessed = "not_processed",
    /// Some of it happened.
    Partial = "partial",
    /// Taken, not decided.
    Pending = "pending",
    /// The key died with an earlier request of unknown effect.
    Poisoned = "poisoned",
    /// A condition of the request did not hold.
    PreconditionFailed = "precondition_failed",
    /// Done earlier, or in flight: the provider does not say which.
    ProcessedOrInFlight = "processed_or_in_flight",
    /// The provider wants fewer requests.
    RateLimited = "rate_limited",
    /// Moved, and not sent on.
    Redirected = "redirected",
    /// The request is wrong.
    Rejected = "rejected",
}

impl Meaning {
    /// Whether it speaks of a key, and so of requests that carry one only.
    pub(crate) const fn needs_key(self) -> bool {
        matches!(
            self,
            Self::Created
                | Self::KeyInvalid
                | Self::KeyTooOld
                | Self::MaybeMismatch
                | Self::Mismatch
                | Self::Poisoned
        )
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Meaning {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut all = Self::ALL.iter().copied();
        all.find(|meaning| meaning.as_str() == text).ok_or(())
    }
}

/// One line of a profile: an answer like this means that.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) means: Meaning,
    /// Statuses of which one has to be met; empty for any.
    pub(crate) status: Vec<RangeInclusive<u16>>,
    /// Only for requests with a key, or only for those without.
    pub(crate) keyed: Option<bool>,
    pub(crate) headers: Vec<HeaderTest>,
    pub(crate) body: Vec<BodyTest>,
    /// Texts of which one has to stand in the body, in any case.
    pub(crate) text: Vec<Box<str>>,
    /// The answer reports the one execution under the key, so it settles what earlier attempts
    /// under it left open.
    pub(crate) settles: bool,
    /// What is known better than by the meaning alone: whether a resend may bring news.
    pub(crate) resend: Option<bool>,
    /// What the answer names for a look-up.
    pub(crate) found: Option<Pattern>,
}

impl Rule {
    /// Whether an answer of this status could be decided by its body.
    pub(crate) fn asks_body(&self, status: u16) -> bool {
        self.has_status(status) && !(self.body.is_empty() && self.text.is_empty())
    }

    pub(crate) fn matches(&self, view: &View<'_>, keyed: bool) -> bool {
        self.has_status(view.status().as_u16())
            && self.keyed.is_none_or(|wanted| wanted == keyed)
            && (keyed || !self.means.needs_key())
            && self.headers.iter().all(|test| test.holds(view.headers()))
            && (self.text.is_empty() || self.text.iter().any(|text| view.says(text)))
            && self.body.iter().all(|test| test.holds_in(view))
    }

    fn has_status(&self, status: u16) -> bool {
        self.status.is_empty() || self.status.iter().any(|range| range.contains(&status))
    }
}

/// A response header, and the values of which it has to have one; none for any.
#[derive(Clone, Debug)]
pub(crate) struct HeaderTest {
    pub(crate) name: HeaderName,
    pub(crate) is: Vec<Box<str>>,
}

impl HeaderTest {
    pub(crate) fn holds(&self, headers: &HeaderMap) -> bool {
        headers.get_all(&self.name).iter().any(|value| {
            let is = |wanted: &str| value.as_bytes().eq_ignore_ascii_case(wanted.as_bytes());
            self.is.is_empty() || self.is.iter().any(|wanted| is(wanted))
        })
    }
}

/// A place in the JSON body, and what has to be found there.
#[derive(Clone, Debug)]
pub(crate) struct BodyTest {
    pub(crate) at: Pattern,
    pub(crate) test: Test,
}

#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// An empty list, object or text.
    Empty,
    /// Ends in one of these.
    Ends(Vec<Box<str>>),
    /// Anything but null, false and what is empty.
    Filled,
    /// One of these, compared as text: codes come as numbers and as strings.
    Is(Vec<Box<str>>),
    /// The kind of thing that the last segment of the request's path is a collection of.
    NamesRoute,
}

impl BodyTest {
    pub(crate) fn holds_in(&self, view: &View<'_>) -> bool {
        let Some(body) = view.json() else {
            return false;
        };
        let found = self.at.find(body);
        found.into_iter().any(|value| match &self.test {
            Test::Empty => is_empty(value) == Some(true),
            Test::Ends(ends) => {
                let text = value.as_str().unwrap_or_default();
                ends.iter().any(|end| text.ends_with(&**end))
            }
            Test::Filled => {
                !matches!(value, Value::Null | Value::Bool(false)) && is_empty(value) != Some(true)
            }
            Test::Is(texts) => {
                scalar(value).is_some_and(|it| texts.iter().any(|text| **text == it))
            }
            Test::NamesRoute => {
                let last = view.path().trim_end_matches('/').rsplit('/').next();
                names_one_of(last.unwrap_or_default(), value.as_str().unwrap_or_default())
            }
        })
    }
}

/// A scalar as text; `None` for null, lists and objects.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Null | Value::Object(_) => None,
    }
}

fn is_empty(value: &Value) -> Option<bool> {
    match value {
        Value::Array(items) => Some(items.is_empty()),
        Value::Object(members) => Some(members.is_empty()),
        Value::String(text) => Some(text.is_empty()),
        _ => None,
    }
}
