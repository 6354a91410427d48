//! Watches the writes of a stack that is already there, and changes nothing.
//!
//! For those who want to know before they change anything: the layer goes into any tower stack and
//! reports what would make a write happen twice, or be called failed when it was not. It changes no
//! byte of a request, no answer, no error and no readiness, wraps no body, and allocates nothing for
//! reads.
//!
//! | [`Kind`] | found |
//! |---|---|
//! | [`Resent`](Kind::Resent) | a write without a key was sent again after it may have happened |
//! | [`KeyChanged`](Kind::KeyChanged) | it was sent again with another key |
//! | [`Redirected`](Kind::Redirected) | it was redirected: the end is that of another request |
//! | [`Abandoned`](Kind::Abandoned) | its future was dropped, by a timeout for instance |
//! | [`Unanswered`](Kind::Unanswered) | it ended in an error |
//!
//! What is proven not to have happened is no finding: a connection that could not be made, an answer
//! 4xx other than 408 and 409, an answer 307 or 308. A timeout does not show whether a write had
//! left, so it counts as left.
//!
//! # Where to put it
//!
//! Twice, from one [`Audit`]: outermost, and right above the client. The upper layer puts a mark into
//! the request's extensions, which retries copy, and the lower one counts exactly. Above all it is
//! then the upper layer that reports an end without an answer, once, whatever happened between.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! use http::{Request, Response};
//! use tower::retry::{RetryLayer, backoff::{ExponentialBackoffMaker, MakeBackoff as _}};
//! use tower::{BoxError, ServiceBuilder, ServiceExt as _};
//! use tower_outcome::audit::{Audit, Kind};
//! # use std::future::{Ready, ready};
//! # #[derive(Clone)] struct Thrice(u8);
//! # impl<T> tower::retry::Policy<Request<String>, T, BoxError> for Thrice {
//! #     type Future = Ready<()>;
//! #     fn retry(&mut self, _: &mut Request<String>, _: &mut Result<T, BoxError>)
//! #     -> Option<Ready<()>> { self.0 += 1; (self.0 < 3).then(|| ready(())) }
//! #     fn clone_request(&mut self, request: &Request<String>) -> Option<Request<String>> {
//! #         Some(request.clone()) }
//! # }
//!
//! let audit = Audit::new();
//! let client = ServiceBuilder::new()
//!     .layer(audit.layer())
//!     .layer(RetryLayer::new(Thrice(0))) // a policy that never looks at the request
//!     .layer(audit.layer())
//!     .service_fn(|_: Request<String>| async {
//!         Ok::<_, BoxError>(Response::builder().status(503).body(()).unwrap())
//!     });
//! client.oneshot(Request::post("http://billing/refunds").body("{}".into()).unwrap()).await.unwrap();
//!
//! let findings = audit.findings();
//! assert_eq!((findings[0].kind, findings[0].attempt), (Kind::Resent, 2));
//! assert_eq!(findings.len(), 2);
//! # }
//! ```
//!
//! Below a retry only, it has no mark to go by. A write then counts as sent again if method, URI and
//! exact size of the body are those of a write that ended without success less than [`WINDOW`] ago.
//! Such a finding is [likely](Finding::certain), not certain, and each attempt without an answer is
//! reported, since nobody sees what became of the whole. Above a retry only, it sees no attempts.
//!
//! # Clients that are no services
//!
//! [`Audit::start`] is what the layer itself calls. In the middleware of another kind of client:
//!
//! ```text
//! // In an `#[async_trait] impl reqwest_middleware::Middleware`, above and below the retry.
//! async fn handle(&self, request: reqwest::Request, extensions: &mut Extensions, next: Next<'_>)
//!     -> reqwest_middleware::Result<reqwest::Response>
//! {
//!     let Ok(uri) = request.url().as_str().parse() else { return next.run(request, extensions).await };
//!     let size = request.body().and_then(|body| body.as_bytes()).map(|bytes| bytes.len() as u64);
//!     let watch = self.audit.start(request.method(), &uri, request.headers(), size, extensions);
//!     let result = next.run(request, extensions).await;
//!     match &result {
//!         Ok(answer) => watch.answered(answer.status()),
//!         Err(error) => watch.failed(error),
//!     }
//!     result
//! }
//! ```

#![cfg(feature = "client")]

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::{Extensions, HeaderMap, HeaderName, Method, Request, Response, Uri};
use http_body::Body;
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

mod evidence;
mod finding;
mod log;
mod recent;
mod watch;
mod write;

pub use finding::{Ended, Finding, Kind};
pub use log::MAX_FINDINGS;
pub use recent::{MAX_RECENT, WINDOW};
pub use watch::Watch;

/// What was found so far, and where to find more. Cloning shares it.
#[derive(Clone)]
pub struct Audit {
    key_header: HeaderName,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    log: log::Log,
    recent: recent::Recent,
}

impl Audit {
    /// Has found nothing yet; takes `Idempotency-Key` for the key's header.
    #[must_use]
    pub fn new() -> Self {
        Self {
            key_header: HeaderName::from_static("idempotency-key"),
            shared: Arc::default(),
        }
    }

    /// Takes another header for the key's.
    #[must_use]
    pub fn with_key_header(mut self, name: HeaderName) -> Self {
        self.key_header = name;
        self
    }

    /// A layer that reports here.
    #[must_use]
    pub fn layer(&self) -> AuditLayer {
        AuditLayer {
            audit: self.clone(),
        }
    }

    /// What was found, oldest first: at most the latest [`MAX_FINDINGS`].
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        self.shared.log.findings()
    }

    /// How many older findings made room for later ones.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.shared.log.dropped()
    }

    /// Starts to watch a request that is about to be sent, with a body of exactly `size` bytes.
    ///
    /// What is returned has to be told the end; see the [module docs](self).
    pub fn start(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        size: Option<u64>,
        extensions: &mut Extensions,
    ) -> Watch {
        let sent = write::Sent {
            method,
            uri,
            key: headers.get(&self.key_header).map(write::hash),
            size,
        };
        watch::start(&self.shared, &sent, extensions)
    }
}

impl Default for Audit {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit")
            .field("key_header", &self.key_header)
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}

/// Applies [`Audited`].
#[derive(Clone, Debug)]
pub struct AuditLayer {
    audit: Audit,
}

impl<S> Layer<S> for AuditLayer {
    type Service = Audited<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Audited {
            inner,
            audit: self.audit.clone(),
        }
    }
}

/// Watches writes.
///
/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Audited<S> {
    inner: S,
    audit: Audit,
}

impl<S, B, T> Service<Request<B>> for Audited<S>
where
    S: Service<Request<B>, Response = Response<T>>,
    S::Error: 'static,
    B: Body,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut parts, body) = request.into_parts();
        let size = body.size_hint().exact();
        let watch = self.audit.start(
            &parts.method,
            &parts.uri,
            &parts.headers,
            size,
            &mut parts.extensions,
        );
        ResponseFuture {
            inner: self.inner.call(Request::from_parts(parts, body)),
            watch: Some(watch),
        }
    }
}

pin_project! {
    /// Response future of [`Audited`].
    ///
    /// Dropping it drops the inner future; that of a write is a finding.
    #[derive(Debug)]
    pub struct ResponseFuture<F> {
        #[pin]
        inner: F,
        watch: Option<Watch>,
    }
}

impl<F, T, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<T>, E>>,
    E: 'static,
{
    type Output = Result<Response<T>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = ready!(this.inner.poll(cx));
        if let Some(watch) = this.watch.take() {
            match &result {
                Ok(answer) => watch.answered(answer.status()),
                Err(error) => watch.failed_with(error),
            }
        }
        Poll::Ready(result)
    }
}
