//! Profiles as files: one provider a file, in TOML.
//!
//! ```
//! use tower_outcome::Profile;
//!
//! let profile = Profile::from_toml(r#"
//!     name = "acme"                       # required
//!     retention_s = 86400                 # how long a key lives: seconds, or "forever"; left out: unknown
//!     stored_failures = "re_execute"      # what a 5xx leaves under its key; left out: unknown
//!     scope = ["account", "region"]       # under another one of these the same key is a new one
//!     min_delay_s = 1                     # before the same key is sent again
//!     replay = [{ name = "acme-replay", is = "yes" }]   # marks a stored answer
//!     hint = "acme-should-retry"          # header that asks for another attempt: true or false
//!     look_up = ["by_key", "webhook"]     # how to find out what became of a write
//!
//!     [key]
//!     in = "header"                       # body, header, metadata, none or query
//!     name = "Acme-Key"                   # of the header, pair or member; /a/b for a member of a member
//!     format = "uuid_v4"                  # base64url, hex, uuid or uuid_v4
//!     quoted = false                      # as a structured field
//!     min_length = 1
//!     max_length = 40
//!     characters = "A-Za-z0-9-"
//!     methods = ["POST"]                  # on which it counts; left out: POST alone
//!
//!     ## The first rule that matches decides. All that it asks for has to hold.
//!     [[rule]]
//!     means = "created"                   # see Meaning
//!     status = [409, "5xx"]
//!     header = [{ name = "acme-state", is = "done" }]     # without `is`: is there
//!     body = [{ at = "/error/code", is = ["dup", 17] }]   # or `ends`, `filled`, `empty`, `names_route`
//!     text = ["was already used"]         # one of these somewhere in the body, in any case
//!     keyed = true                        # only for requests with a key
//!     found = "/error/id"                 # what the answer names for a look-up
//!
//!     [[rule]]
//!     means = "declined"
//!     status = 200
//!     body = [{ at = "/state", is = "failed" }]
//!     settles = true                      # it reports the one execution under the key
//!     resend = false                      # known better than by the meaning
//!
//!     ## Requests to which something else applies. The first route that matches is asked; its rules
//!     ## come before those above, its other members in the place of those above.
//!     [[route]]
//!     methods = ["POST"]
//!     paths = ["/v1/search/**"]           # `*` up to the next slash, `**` over slashes
//!     hosts = ["*.acme.example"]
//!     operations = ["Get*"]               # of x-amz-target, or the Action of a query
//!     effect = "read"                     # or "write"; left out: by the method
//! "#)?;
//! assert!(profile.honours_keys());
//!
//! let error = Profile::from_toml("name = 'acme'\nretention = 60").unwrap_err();
//! assert_eq!(error.field(), "retention");
//! # Ok::<(), tower_outcome::profile::ProfileError>(())
//! ```
//!
//! Besides those shown there are `reference`, the member of a body (JSON or a form) that carries our
//! token for a look-up; `ignored_key = { name, is }`, the response header that says that the key was not
//! looked at; and `success`, tests like those of `body` which a 2xx has to pass to count as one.
//! A `*` in a JSON pointer stands for any one member, `**` for any depth.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, Method};
use tower_outcome_core::{KeyFormat, KeyStyle};

use super::key::Place;
use super::limits::Limits;
use super::promise::{LookUp, Retention, Scope, StoredFailures};
use super::route::Matcher;
use super::{Key, Profile, ProfileError, Route};
use fields::{At, Fields};

mod fields;
mod rules;

impl Profile {
    /// Reads a profile from the text of a file in the format of [`file`](crate::profile::file).
    ///
    /// # Errors
    ///
    /// [`ProfileError`] names the field that is unknown, missing or has a value that cannot be.
    pub fn from_toml(text: &str) -> Result<Self, ProfileError> {
        let table = text
            .parse::<toml::Table>()
            .map_err(|error| ProfileError::new("", error.to_string()))?;
        let mut fields = Fields::new(String::new(), table);
        let name = fields.required("name", At::text)?;
        if name.is_empty() {
            return Err(ProfileError::new("name", "is empty"));
        }
        let base = Self {
            name: name.into(),
            key: None,
            ..Self::generic()
        };
        let profile = promises(&mut fields, base)?;
        let routes = fields.take("route", |at| {
            at.list(|at| route(at.table()?, profile.clone()))
        })?;
        fields.finish()?;
        Ok(Self {
            routes: routes.unwrap_or_default(),
            ..profile
        })
    }

    /// Reads a profile from a file.
    ///
    /// # Errors
    ///
    /// As [`from_toml`](Self::from_toml), and where the file cannot be read.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ProfileError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ProfileError::new("", format!("the file cannot be read: {error}")))?;
        Self::from_toml(&text)
    }
}

/// What a file and each of its routes may say.
fn promises(fields: &mut Fields, base: Profile) -> Result<Profile, ProfileError> {
    let mut profile = base;
    if let Some(reads) = fields.take("effect", |at| at.word(EFFECTS))? {
        profile.reads = Some(reads);
    }
    if let Some(key) = fields.take("key", |at| key(at.table()?))? {
        profile.honours_keys = key.is_some();
        let (key, style) = key.unzip();
        profile.key = key;
        profile.dialect.key_style = style;
    }
    if let Some(scope) = fields.take("scope", |at| at.list(|at| at.word(Scope::WORDS)))? {
        profile.scope = scope;
    }
    if let Some(retention) = fields.take("retention_s", |at| retention(&at))? {
        profile.retention = Some(retention);
    }
    if let Some(delay) = fields.take("min_delay_s", |at| at.number())? {
        profile.min_delay = Duration::from_secs(delay);
    }
    let stored = fields.take("stored_failures", |at| at.word(StoredFailures::WORDS))?;
    profile.stored_failures = stored.or(profile.stored_failures);
    if let Some(member) = fields.take("reference", At::text)? {
        profile.dialect.reference = Some(member.into());
    }
    if let Some(ways) = fields.take("look_up", |at| at.list(|at| at.word(LookUp::WORDS)))? {
        profile.look_up = ways;
    }
    if let Some(markers) = fields.take("replay", |at| at.list(rules::header))? {
        profile.dialect.replay = markers;
    }
    if let Some(marker) = fields.take("ignored_key", rules::header)? {
        profile.dialect.ignored_key = Some(marker);
    }
    if let Some(name) = fields.take("hint", |at| header_name(&at))? {
        profile.hint = Some(name);
    }
    if let Some(tests) = fields.take("success", |at| at.list(rules::body))? {
        profile.dialect.success = tests;
    }
    if let Some(rules) = fields.take("rule", |at| at.list(rules::rule))? {
        profile.dialect.rules.splice(0..0, rules);
    }
    Ok(profile)
}

fn route(mut fields: Fields, base: Profile) -> Result<Route, ProfileError> {
    let texts = |at: At| at.some(At::boxed);
    let to = Matcher {
        methods: fields
            .take("methods", |at| at.some(|at| method(&at)))?
            .unwrap_or_default(),
        hosts: fields.take("hosts", texts)?.unwrap_or_default(),
        paths: fields.take("paths", texts)?.unwrap_or_default(),
        operations: fields.take("operations", texts)?.unwrap_or_default(),
    };
    if to.is_about_everything() {
        return Err(fields.wrong("", "is about every request; say which"));
    }
    let profile = Arc::new(promises(&mut fields, base)?);
    fields.finish()?;
    Ok(Route { to, profile })
}

/// `None` for a provider that is known to take no key.
fn key(mut fields: Fields) -> Result<Option<(Key, KeyStyle)>, ProfileError> {
    let kind = fields.required("in", |at| at.word(PLACES))?;
    if kind == Kind::None {
        fields.finish()?;
        return Ok(None);
    }
    let place = match kind {
        Kind::Header => Place::Header(fields.required("name", |at| header_name(&at))?),
        Kind::Query => Place::Query(fields.required("name", At::boxed)?),
        Kind::Body | Kind::None => Place::Body(fields.required("name", At::boxed)?),
    };
    let format = fields
        .take("format", |at| at.word(FORMATS))?
        .unwrap_or_default();
    let quoted = fields.take("quoted", |at| at.flag())?.unwrap_or(false);
    let style = if quoted {
        format.quoted()
    } else {
        KeyStyle::from(format)
    };
    let limits = Limits {
        min: fields.take("min_length", |at| at.number())?.unwrap_or(0),
        max: fields
            .take("max_length", |at| at.number())?
            .unwrap_or(u64::MAX),
        characters: fields.take("characters", At::boxed)?,
    };
    if let Some(fault) = limits.fault(style) {
        return Err(fields.wrong("format", fault));
    }
    let methods = fields.take("methods", |at| at.some(|at| method(&at)))?;
    fields.finish()?;
    let methods = methods.map_or_else(|| Box::from([Method::POST]), Vec::into_boxed_slice);
    let methods = Some(methods);
    Ok(Some((Key { place, methods }, style)))
}

fn retention(at: &At) -> Result<Retention, ProfileError> {
    if at.is("forever") {
        return Ok(Retention::Forever);
    }
    match at.number() {
        Ok(seconds) if seconds > 0 => Ok(Retention::For(Duration::from_secs(seconds))),
        _ => Err(at.wrong("is neither a number of seconds above 0 nor \"forever\"")),
    }
}

fn method(at: &At) -> Result<Method, ProfileError> {
    let text = at.str()?;
    let method = Method::from_bytes(text.as_bytes()).ok();
    let method = method.filter(|method| method.as_str() == text.to_ascii_uppercase());
    method.ok_or_else(|| at.wrong("is no method in capital letters"))
}

fn header_name(at: &At) -> Result<HeaderName, ProfileError> {
    let name = HeaderName::try_from(at.str()?);
    name.map_err(|_| at.wrong("cannot be the name of a header"))
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Body,
    Header,
    None,
    Query,
}

const PLACES: &[(&str, Kind)] = &[
    ("body", Kind::Body),
    ("header", Kind::Header),
    ("metadata", Kind::Header),
    ("none", Kind::None),
    ("query", Kind::Query),
];

const FORMATS: &[(&str, KeyFormat)] = &[
    ("base64url", KeyFormat::Base64Url),
    ("hex", KeyFormat::Hex),
    ("uuid", KeyFormat::Uuid),
    ("uuid_v4", KeyFormat::UuidV4),
];

/// Whether it is a read.
const EFFECTS: &[(&str, bool)] = &[("read", true), ("write", false)];
