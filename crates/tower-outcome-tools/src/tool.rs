//! A tool: its name, what it promises, and the code behind it.
//!
//! | made by | promises | counts as sent |
//! |---|---|---|
//! | [`Tool::outcome_status`] | to tell what became of a call | never |
//! | [`Tool::read`] | that it changes nothing; a write inside is refused | never |
//! | [`Tool::write`] | that all its writes go through clients of this library | once one of them leaves |
//! | [`Tool::opaque_write`] | nothing | from its start, unless it returns [`NothingSent`] |
//!
//! ```
//! use serde_json::json;
//! use tower_outcome_core::BoxError;
//! use tower_outcome_tools::{NothingSent, Tool};
//!
//! let print = Tool::opaque_write("print", |arguments| async move {
//!     if arguments["pages"] == 0 {
//!         return Err(BoxError::from(NothingSent::because("/pages: is zero")));
//!     }
//!     Ok(json!({ "printed": true })) // through a library that nobody can look into
//! });
//! let print = print.key("/document").ignore("/reason");
//! # let _ = print;
//! ```
//!
//! A handler takes and returns JSON. One with types of its own is a tower service, such as an async
//! function in a `service_fn`: see [`Tool::write_service`].

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tower_outcome::Context;
use tower_outcome::profile::Profiles;
use tower_outcome_core::{BoxError, Error, IntentRules};

use crate::executor::permits::Permits;
use crate::lanes::LaneSet;

mod arguments;
mod near_misses;
mod redaction;
mod request;
#[cfg(feature = "schema")]
mod schema;
mod service;
mod settings;

pub use near_misses::NearMisses;
pub(crate) use redaction::Redaction;

/// A tool that an [`Executor`](crate::Executor) can run. Cheap to clone.
///
/// See the [module docs](self).
#[derive(Clone)]
pub struct Tool {
    name: Box<str>,
    kind: Kind,
    handler: Arc<Handler>,
    check: Option<Arc<Check>>,
    rules: IntentRules,
    single_write: bool,
    deadline: Option<Duration>,
    permits: Option<Arc<Permits>>,
    lanes: Option<Arc<LaneFunction>>,
    near_misses: NearMisses,
    profiles: Option<Arc<Profiles>>,
    redacted: Vec<Box<str>>,
    #[cfg(feature = "schema")]
    schema: Option<Arc<schema::Schema>>,
}

/// What a tool promises.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Opaque,
    Read,
    Status,
    Write,
}

type Check = dyn Fn(&Value) -> Result<(), Error> + Send + Sync;
type LaneFunction = dyn Fn(&str, &Value) -> LaneSet + Send + Sync;
type Handler = dyn Fn(Value) -> HandlerFuture + Send + Sync;
type HandlerFuture = Pin<Box<dyn Future<Output = Result<Value, BoxError>> + Send>>;

impl Tool {
    /// A tool that changes nothing. A write inside is refused before it leaves.
    #[must_use]
    pub fn read<H, F>(name: impl Into<Box<str>>, handler: H) -> Self
    where
        H: Fn(Value) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Value, BoxError>> + Send + 'static,
    {
        Self::new(name.into(), Kind::Read, handler)
    }

    /// A tool all of whose writes go through clients of this library.
    ///
    /// What becomes of a call is read from the evidence of those writes. The handler's `Ok` is
    /// believed only where they prove it: one that reports success without any write ends in
    /// `failed`, since by its promise nothing was sent.
    #[must_use]
    pub fn write<H, F>(name: impl Into<Box<str>>, handler: H) -> Self
    where
        H: Fn(Value) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Value, BoxError>> + Send + 'static,
    {
        Self::new(name.into(), Kind::Write, handler)
    }

    /// A tool that writes by means nobody can look into.
    ///
    /// It counts as sent from its start: only its `Ok` is success, and only [`NothingSent`] is a
    /// failure. Anything else is `unknown`.
    #[must_use]
    pub fn opaque_write<H, F>(name: impl Into<Box<str>>, handler: H) -> Self
    where
        H: Fn(Value) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Value, BoxError>> + Send + 'static,
    {
        Self::new(name.into(), Kind::Opaque, handler)
    }

    /// The tool `outcome_status`: tells what became of an earlier call, and changes nothing.
    ///
    /// It takes either the `key` that the earlier call's result shows, or that call's `tool` and
    /// `arguments`, and is answered with the envelope that the same call would get now. By key it
    /// knows recent calls of this process, and what the ledger lists as being in doubt; by
    /// arguments every call of its scope. [`Executor::status`](crate::Executor::status) is the same
    /// for the host.
    #[must_use]
    pub fn outcome_status() -> Self {
        Self::new(STATUS.into(), Kind::Status, |_| async { Ok(Value::Null) })
    }

    fn new<H, F>(name: Box<str>, kind: Kind, handler: H) -> Self
    where
        H: Fn(Value) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Value, BoxError>> + Send + 'static,
    {
        Self {
            rules: IntentRules::new(name.clone()),
            name,
            kind,
            handler: Arc::new(move |arguments| Box::pin(handler(arguments))),
            check: None,
            single_write: false,
            deadline: None,
            permits: None,
            lanes: None,
            near_misses: NearMisses::default(),
            profiles: None,
            redacted: Vec::new(),
            #[cfg(feature = "schema")]
            schema: None,
        }
    }

    /// The name that calls have to use.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs the handler in `context`. All of it is in the future, so that a panic is as well.
    pub(crate) async fn handle(
        self: Arc<Self>,
        arguments: Value,
        mut context: Context,
    ) -> Result<Value, BoxError> {
        if let Some(profiles) = &self.profiles {
            context = context.with_profiles(Arc::clone(profiles));
        }
        let handler = async { (self.handler)(arguments).await };
        context.scope(handler).await
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("single_write", &self.single_write)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

/// The error of an opaque tool that knows that nothing was sent. It is taken at its word.
#[derive(Clone, Debug, Default)]
pub struct NothingSent {
    reason: Option<Box<str>>,
}

impl NothingSent {
    /// Nothing was sent, and the caller does not need to know why.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing was sent, for a reason that the caller is told. Put nothing secret into it.
    #[must_use]
    pub fn because(reason: impl Into<Box<str>>) -> Self {
        Self {
            reason: Some(reason.into()),
        }
    }

    pub(crate) fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }
}

impl fmt::Display for NothingSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing was sent")?;
        match &self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for NothingSent {}

const STATUS: &str = "outcome_status";
