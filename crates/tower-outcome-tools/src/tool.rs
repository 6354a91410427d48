//! A tool: its name, what it promises, and the code behind it.
//!
//! | made by | promises | counts as sent |
//! |---|---|---|
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

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tower_outcome_core::rule::exact;
use tower_outcome_core::{BoxError, IntentRules};

/// A tool that an [`Executor`](crate::Executor) can run. Cheap to clone.
///
/// See the [module docs](self).
#[derive(Clone)]
pub struct Tool {
    name: Box<str>,
    kind: Kind,
    handler: Arc<Handler>,
    rules: IntentRules,
    single_write: bool,
    deadline: Option<Duration>,
}

/// What a tool promises.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Opaque,
    Read,
    Write,
}

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
            single_write: false,
            deadline: None,
        }
    }

    /// Derives keys by `rules`, which have to be for a tool of the same name.
    #[must_use]
    pub fn with_rules(mut self, rules: IntentRules) -> Self {
        self.rules = rules;
        self
    }

    /// The member at `pointer` is part of the key. See [`IntentRules::key`].
    #[must_use]
    pub fn key(mut self, pointer: &str) -> Self {
        self.rules = self.rules.key(pointer, exact());
        self
    }

    /// The member at `pointer` has to be equal when the key is met again. See
    /// [`IntentRules::matches`].
    #[must_use]
    pub fn matches(mut self, pointer: &str) -> Self {
        self.rules = self.rules.matches(pointer, exact());
        self
    }

    /// The member at `pointer` does not count. See [`IntentRules::ignore`].
    #[must_use]
    pub fn ignore(mut self, pointer: &str) -> Self {
        self.rules = self.rules.ignore(pointer);
        self
    }

    /// Gives each call of this tool `limit` to end, instead of the executor's deadline.
    #[must_use]
    pub const fn with_deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(limit);
        self
    }

    /// Promises that a call makes one write and no more.
    ///
    /// A handler that gave up on a late answer may have had a second write to make, so that the
    /// late answer alone does not prove that the call was done. With this promise it does.
    #[must_use]
    pub const fn with_single_write(mut self) -> Self {
        self.single_write = true;
        self
    }

    /// The name that calls have to use.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) const fn rules(&self) -> &IntentRules {
        &self.rules
    }

    pub(crate) const fn is_single_write(&self) -> bool {
        self.single_write
    }

    pub(crate) const fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// Runs the handler. All of it is in the future, so that a panic is as well.
    pub(crate) async fn handle(self: Arc<Self>, arguments: Value) -> Result<Value, BoxError> {
        (self.handler)(arguments).await
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
