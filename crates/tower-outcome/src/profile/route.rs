//! Where in an API a request goes, and what is different there.

use std::sync::Arc;

use http::{HeaderMap, Method, Request};

use super::Profile;
use super::glob::is_like;

/// Where in an API a request goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    method: &'a Method,
    host: Option<&'a str>,
    path: &'a str,
    operation: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// `path` may have a query behind it.
    pub(crate) fn new(
        method: &'a Method,
        host: Option<&'a str>,
        path: &'a str,
        headers: Option<&'a HeaderMap>,
    ) -> Self {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let action = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("Action="));
        let target = || {
            let target = headers?.get("x-amz-target")?.to_str().ok()?;
            target.rsplit('.').next()
        };
        Self {
            method,
            host,
            path,
            operation: action.or_else(target),
        }
    }

    pub(crate) fn of<B>(request: &'a Request<B>) -> Self {
        let uri = request.uri();
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Self::new(request.method(), uri.host(), path, Some(request.headers()))
    }

    pub(crate) const fn method(&self) -> &'a Method {
        self.method
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
        let fits = |globs: &[Box<str>], text: Option<&str>| {
            globs.is_empty()
                || text.is_some_and(|text| globs.iter().any(|glob| is_like(glob, text)))
        };
        (self.methods.is_empty() || self.methods.contains(target.method))
            && fits(&self.hosts, target.host)
            && fits(&self.paths, Some(target.path))
            && fits(&self.operations, target.operation)
    }
}
