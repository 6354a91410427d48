//! A reqwest client that sends each request once.
//!
//! A client that follows redirects answers for another request than the one that was made: after a
//! processed POST and a 303 its "connection refused" is that of the GET. So the promise not to
//! follow any is part of the type, and only such a client goes into a [`Stack`](crate::Stack):
//!
//! ```compile_fail
//! let billing = tower_outcome::Stack::new().over(reqwest::Client::new());
//! ```

use std::ops::Deref;
use std::task::{Context, Poll};

use tower_service::Service;

/// Makes a reqwest client fit for writes.
pub trait ForWrites {
    /// Follows no redirects, so that an error speaks of the request that was made, and repeats
    /// nothing by itself. Comes last: what is left to do is `build`.
    #[must_use]
    fn for_writes(self) -> WritesBuilder;
}

impl ForWrites for reqwest::ClientBuilder {
    fn for_writes(self) -> WritesBuilder {
        let builder = self.redirect(reqwest::redirect::Policy::none());
        WritesBuilder(builder.retry(reqwest::retry::never()))
    }
}

/// Builds a [`WritesClient`].
#[derive(Debug)]
pub struct WritesBuilder(reqwest::ClientBuilder);

impl WritesBuilder {
    /// The client.
    ///
    /// # Errors
    ///
    /// As [`reqwest::ClientBuilder::build`]: TLS or the resolver cannot be set up.
    pub fn build(self) -> Result<WritesClient, reqwest::Error> {
        self.0.build().map(|client| WritesClient {
            client,
            sends_once: true,
        })
    }
}

/// A reqwest client that sends each request once. Makes requests like the client that it is.
#[derive(Clone, Debug)]
pub struct WritesClient {
    client: reqwest::Client,
    /// Known, and not only said.
    sends_once: bool,
}

impl WritesClient {
    /// Takes the caller's word that `client` follows no redirects and repeats nothing.
    ///
    /// Of a client that does, an answer may be taken for that of a write which it is not. What refuses
    /// a request of HTTP/2 may have refused the one behind a redirect, and proves nothing here.
    #[must_use]
    pub const fn trust(client: reqwest::Client) -> Self {
        Self {
            client,
            sends_once: false,
        }
    }

    pub(super) const fn sends_once(&self) -> bool {
        self.sends_once
    }

    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), reqwest::Error>> {
        self.client.poll_ready(cx)
    }

    pub(super) fn call(&mut self, request: reqwest::Request) -> Pending {
        self.client.call(request)
    }
}

/// What a reqwest client returns.
pub(super) type Pending = <reqwest::Client as Service<reqwest::Request>>::Future;

impl Deref for WritesClient {
    type Target = reqwest::Client;

    fn deref(&self) -> &reqwest::Client {
        &self.client
    }
}
