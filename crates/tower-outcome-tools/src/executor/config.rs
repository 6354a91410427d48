//! What an executor is told to do.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tower_outcome_core::ledger::{Ledger, Owner};

use super::permits::Permits;
use super::queue::Bounds;
use super::row::LEDGER_LIMIT;
use super::{Executor, LONGEST_WAIT};
use crate::lanes::Lanes;
use crate::tool::Tool;

#[derive(Clone)]
pub(super) struct Config {
    pub(super) tools: HashMap<Box<str>, Arc<Tool>>,
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) owner: Owner,
    pub(super) lanes: Lanes,
    pub(super) permits: Option<Arc<Permits>>,
    pub(super) queue: Bounds,
    pub(super) deadline: Duration,
    pub(super) lease: Option<Duration>,
    pub(super) patience: Duration,
    pub(super) status_deadline: Duration,
}

impl Config {
    /// For how long a call that may run for `limit` is claimed.
    pub(super) fn lease(&self, limit: Duration) -> Duration {
        // No owner is taken for dead while its call may still run by its own clock.
        let longest = LEASE.max(limit.saturating_add(2 * LEDGER_LIMIT));
        self.lease.unwrap_or(longest)
    }
}

impl Executor {
    /// Claims calls in `ledger`, as a new owner: a deadline of 30 seconds, a lease of 90, up to 5
    /// seconds of waiting for an identical call, any number of calls at once, lanes of its own, no
    /// tools. Asks nothing of the ledger before the first call.
    #[must_use]
    pub fn new(ledger: impl Ledger) -> Self {
        Self {
            config: Config {
                tools: HashMap::new(),
                ledger: Arc::new(ledger),
                owner: Owner::random(),
                lanes: Lanes::new(),
                permits: None,
                queue: Bounds {
                    all: 1024,
                    scope: 256,
                },
                deadline: Duration::from_secs(30),
                lease: None,
                patience: Duration::from_secs(5),
                status_deadline: Duration::from_secs(5),
            },
            state: Arc::default(),
        }
    }

    /// Adds a tool. One of the same name is replaced.
    #[must_use]
    pub fn with_tool(mut self, tool: Tool) -> Self {
        self.config.tools.insert(tool.name().into(), Arc::new(tool));
        self
    }

    /// Gives each call `limit` to end, waiting for a permit included.
    ///
    /// A call in doubt may take twice [`GRACE`](super::GRACE) and one answer of the ledger more.
    #[must_use]
    pub const fn with_deadline(mut self, limit: Duration) -> Self {
        self.config.deadline = limit;
        self
    }

    /// Runs at most `n` writing calls at once, at least 1. A call keeps its permit until nothing of
    /// it is under way any more, also after its caller was answered or has left. A call that a
    /// handler makes through the same executor needs none.
    ///
    /// Scopes take turns: one that asks for a thousand calls delays another one by a single call at
    /// a time. See also [`Tool::with_concurrency`].
    #[must_use]
    pub fn with_concurrency(mut self, n: usize) -> Self {
        self.config.permits = Some(Permits::new(n));
        self
    }

    /// Takes lanes in this table, to share them with other executors or with the host.
    #[must_use]
    pub fn with_lanes(mut self, lanes: Lanes) -> Self {
        self.config.lanes = lanes;
        self
    }

    /// Lets at most `n` calls wait for a lane, a permit or an identical call at once, and at most
    /// `of_scope` of one scope, so that none fills the queue up for the others. What finds no place
    /// is `failed/overloaded`. 1024 and 256 unless said otherwise.
    #[must_use]
    pub const fn with_queue(mut self, n: usize, of_scope: usize) -> Self {
        self.config.queue = Bounds {
            all: n,
            scope: of_scope,
        };
        self
    }

    /// Claims for `lease`, anew with each write; also how long late answers are waited for.
    ///
    /// Make it longer than the deadline and the clients' hard limit together, unless an owner that
    /// crashed is to be taken for dead earlier: an owner that was taken for dead and lives sends
    /// nothing more. Without a lease of the host's own it is 90 seconds, or longer where a call's
    /// deadline is.
    #[must_use]
    pub const fn with_lease(mut self, lease: Duration) -> Self {
        self.config.lease = Some(lease);
        self
    }

    /// Waits up to `patience` for an identical call in flight; then the call is `skipped`. At most a
    /// year.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.config.patience = patience.min(LONGEST_WAIT);
        self
    }

    /// Gives [`status`](Self::status) and [`Tool::outcome_status`] `limit` to ask the ledger,
    /// instead of 5 seconds. At most a year.
    #[must_use]
    pub fn with_status_deadline(mut self, limit: Duration) -> Self {
        self.config.status_deadline = limit.min(LONGEST_WAIT);
        self
    }
}

const LEASE: Duration = Duration::from_secs(90);
