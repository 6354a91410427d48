//! A reqwest client that sends each request once.
//!
//! A client that follows redirects answers for another request than the one that was made: after a
//! processed POST and a 303 its "connection refused" is that of the GET. So the promise not to
//! follow any is part of the type.

use std::ops::Deref;

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
        self.0.build().map(WritesClient)
    }
}

/// A reqwest client that sends each request once. Makes requests like the client that it is.
#[derive(Clone, Debug)]
pub struct WritesClient(reqwest::Client);

impl WritesClient {
    /// The client itself, without the promise.
    #[must_use]
    pub fn into_inner(self) -> reqwest::Client {
        self.0
    }
}

impl Deref for WritesClient {
    type Target = reqwest::Client;

    fn deref(&self) -> &reqwest::Client {
        &self.0
    }
}
