//! Where in an API a request goes, and what is different there.

use std::sync::Arc;

use http::{HeaderMap, Method, Request, Uri};

use super::Profile;
use super::glob::is_like;

/// Where in an API a request goes. Its parts are looked for only where a route asks for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    method: &'a Method,
    address: Address<'a>,
    headers: Option<&'a HeaderMap>,
}

#[cfg_attr(
    not(feature = "client"),
    allow(dead_code, reason = "the classifier names them")
)]
#[derive(Clone, Copy, Debug)]
enum Address<'a> {
    /// The path may have a query behind it.
    Named(Option<&'a str>, &'a str),
    Uri(&'a Uri),
}

impl<'a> Target<'a> {
    /// `path` may have a query behind it.
    #[cfg(feature = "client")]
    pub(crate) const fn new(
        method: &'a Method,
        host: Option<&'a str>,
        path: &'a str,
        headers: Option<&'a HeaderMap>,
    ) -> Self {
        Self {
            method,
            address: Address::Named(host, path),
            headers,
        }
    }

    pub(crate) fn of<B>(request: &'a Request<B>) -> Self {
        Self {
            method: request.method(),
            address: Address::Uri(request.uri()),
            headers: Some(request.headers()),
        }
    }

    pub(crate) const fn method(&self) -> &'a Method {
        self.method
    }

    fn host(&self) -> Option<&'a str> {
        match self.address {
            Address::Named(host, _) => host,
            Address::Uri(uri) => uri.host(),
        }
    }

    /// The path and the query behind it.
    fn parts(&self) -> (&'a str, &'a str) {
        let whole = match self.address {
            Address::Named(_, path) => path,
            Address::Uri(uri) => uri.path_and_query().map_or("/", |path| path.as_str()),
        };
        whole.split_once('?').unwrap_or((whole, ""))
    }

    /// What is asked for, where an API has one address for everything.
    fn operation(&self) -> Option<&'a str> {
        let (_, query) = self.parts();
        let mut pairs = query.split('&');
        let action = pairs.find_map(|pair| pair.strip_prefix("Action="));
        action.or_else(|| {
            let target = self.headers?.get("x-amz-target")?.to_str().ok()?;
            target.rsplit('.').next()
        })
    }
}

/// Requests to which a provider promises something of its own.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) to: Matcher,
    /// The promises of the whole API, with those of the route in their place. It has no routes.
    pub(crate) profile: Arc<Profile>,
}

/// Which requests a route is about. An empty list asks nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matcher {
    pub(crate) methods: Vec<Method>,
    pub(crate) hosts: Vec<Box<str>>,
    pub(crate) paths: Vec<Box<str>>,
    /// Names of operations, where an API has one address for all of them.
    pub(crate) operations: Vec<Box<str>>,
}

impl Matcher {
    #[cfg(feature = "profiles")]
    pub(crate) const fn is_about_everything(&self) -> bool {
        self.methods.is_empty()
            && self.hosts.is_empty()
            && self.paths.is_empty()
            && self.operations.is_empty()
    }

    pub(crate) fn matches(&self, target: &Target<'_>) -> bool {
        (self.methods.is_empty() || self.methods.contains(target.method))
            && fits(&self.hosts, || target.host())
            && fits(&self.paths, || Some(target.parts().0))
            && fits(&self.operations, || target.operation())
    }
}

/// Whether one of `globs` is like the text; none ask nothing.
fn fits<'a>(globs: &[Box<str>], text: impl FnOnce() -> Option<&'a str>) -> bool {
    globs.is_empty() || text().is_some_and(|text| globs.iter().any(|glob| is_like(glob, text)))
}
