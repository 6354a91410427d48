//! A client under test.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tower_outcome_testkit::Told;

/// A version of HTTP that a client speaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Protocol {
    /// gRPC over HTTP/2.
    Grpc,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2 with prior knowledge.
    Http2,
    /// HTTP/1.1 or HTTP/2 over TLS.
    Https,
}

/// Makes one write to a server and tells what it believes then.
pub type Write = Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = Told>>>>;

/// A way to make writes.
#[derive(Clone, Copy)]
pub struct Client {
    /// Its name in tables.
    pub name: &'static str,
    /// What it speaks.
    pub protocol: Protocol,
    /// A fresh client, with connections of its own, that gives up after this time.
    pub make: fn(Duration) -> Write,
}

impl Client {
    /// A way to make writes.
    pub const fn new(name: &'static str, protocol: Protocol, make: fn(Duration) -> Write) -> Self {
        Self {
            name,
            protocol,
            make,
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.name).finish()
    }
}
