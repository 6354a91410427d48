//! A handle on how a call ended, for callers that get something else back.
//!
//! A gRPC client hands out a `Status`, an SDK an error of its own: neither carries a verdict. Put a
//! watch into the request's extensions and ask it afterwards. It also tells a repeat made above the
//! stack from a new write: a request that comes again with the watch of a write that is not settled
//! is refused, unless a key that the provider honours makes it safe.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt as _};
//! use tower_outcome::{BoxError, Code, KeepResponseLayer, OutcomeBody, ReplyBody, Watch};
//!
//! let client = ServiceBuilder::new()
//!     .layer(KeepResponseLayer::new())
//!     .service_fn(|_: Request<OutcomeBody>| async {
//!         Err::<Response<ReplyBody<String>>, BoxError>("no connection".into())
//!     });
//! let watch = Watch::new();
//! let request = Request::post("/pay").extension(watch.clone()).body("10").unwrap();
//! client.oneshot(request).await.unwrap_err();
//! assert_eq!(watch.verdict().map(|it| it.code()), Some(Code::NotSent));
//! # }
//! ```

#![cfg(feature = "client")]

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tower_outcome_core::Code;

use crate::call::{Call, REFUSED_REPEAT};
use crate::{Error, Verdict};

/// A handle on how a call ended. Cloning shares it.
#[derive(Clone, Default)]
pub struct Watch {
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    call: Option<Call>,
    verdict: Option<Verdict<()>>,
}

impl Watch {
    /// Watches the next call that carries it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How the call ended; `None` before it has. An answer that is handed on as a stream ends with
    /// the stream.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict<()>> {
        let seen = self.seen();
        seen.verdict.clone().or_else(|| {
            let call = seen.call.as_ref()?;
            let conclusion = call.conclusion()?;
            Some(Verdict::unreported(conclusion, call.key().copied()))
        })
    }

    /// The record of the write; `None` for a read and before the call. After a verdict of `unknown`
    /// [`Call::settled`] waits for a late answer.
    #[must_use]
    pub fn call(&self) -> Option<Call> {
        self.seen().call.clone()
    }

    /// Watches `call`, or refuses it as a repeat.
    pub(crate) fn attach(&self, call: &Call) -> Result<(), Error> {
        let mut seen = self.seen();
        let repeats = seen.call.as_ref().is_some_and(Call::is_unresolved);
        if repeats && !call.is_keyed() {
            return Err(Error::new(Code::StillConfirming).with_detail(REFUSED_REPEAT));
        }
        *seen = Seen {
            call: Some(call.clone()),
            verdict: None,
        };
        Ok(())
    }

    /// Notes how `call` ended, unless another one is watched by now.
    pub(crate) fn ended(&self, call: Option<&Call>, verdict: Verdict<()>) {
        let mut seen = self.seen();
        let watched = match (&seen.call, call) {
            (Some(watched), Some(call)) => watched.is(call),
            (None, _) => true,
            (Some(_), None) => false,
        };
        if watched {
            seen.verdict = Some(verdict);
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("verdict", &self.verdict())
            .finish_non_exhaustive()
    }
}
