//! What a tool is told about its calls.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tower_outcome::Profile;
use tower_outcome_core::rule::exact;
use tower_outcome_core::{Error, IntentRules};

use super::{Kind, NearMisses, Redaction, Tool};
use crate::executor::permits::Permits;
use crate::lanes::{Lane, LaneSet};

impl Tool {
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

    /// Runs at most `n` writing calls of this tool at once, at least 1, beside the executor's own
    /// cap and in the same way. Clones of the tool share it.
    #[must_use]
    pub fn with_concurrency(mut self, n: usize) -> Self {
        self.permits = Some(Permits::new(n));
        self
    }

    /// Says which things a writing call changes, from its scope and arguments: calls that share a
    /// [`Lane`] run one after the other.
    ///
    /// A call keeps its lanes until nothing of it is under way, or until it is known to be in doubt
    /// and [holds back](NearMisses) whatever touches the same things. A call that its handler makes
    /// has the lanes of the calls around it; for another lane it waits like any call, so that two
    /// handlers can wait for each other's until a deadline ends one of them unsent. So declare at
    /// the outer tool what its inner calls need.
    #[must_use]
    pub fn with_lanes<I>(
        mut self,
        lanes: impl Fn(&str, &Value) -> I + Send + Sync + 'static,
    ) -> Self
    where
        I: IntoIterator<Item = Lane>,
    {
        self.lanes = Some(Arc::new(move |scope, arguments| {
            lanes(scope, arguments).into_iter().collect()
        }));
        self
    }

    /// Says which calls are held back while one of this tool is unresolved.
    #[must_use]
    pub const fn with_near_misses(mut self, near_misses: NearMisses) -> Self {
        self.near_misses = near_misses;
        self
    }

    /// Says what the API at `host`, to which this tool writes, promises about repeated writes. A `*`
    /// in it stands for anything; of several hosts that fit the first counts.
    ///
    /// The promise travels with the call and holds for the writes that its handler makes there
    /// through a client that was not told a profile: one plain client serves tools of many APIs. A
    /// client that was told one goes by its own. Writes to any other host are promised nothing.
    ///
    /// ```
    /// use serde_json::json;
    /// use tower_outcome::Profile;
    /// use tower_outcome_tools::Tool;
    ///
    /// let refund = Tool::write("refund", |_| async { Ok(json!({})) })
    ///     .with_profile("api.mollie.com", Profile::named("mollie").unwrap());
    /// # let _ = refund;
    /// ```
    #[must_use]
    pub fn with_profile(mut self, host: &str, profile: impl Into<Arc<Profile>>) -> Self {
        let profiles = self.profiles.map(Arc::unwrap_or_clone).unwrap_or_default();
        self.profiles = Some(Arc::new(profiles.with(host, profile)));
        self
    }

    /// Keeps the value at `pointer` of the arguments out of results, rows, details and logs: where
    /// it turns up again, a mark stands in its place.
    ///
    /// Covers strings, also as parts of other texts, and numbers, and all of them below the
    /// pointer; not what a tool or a service makes of them, a hash or a spelling of its own. The
    /// request itself is not changed.
    #[must_use]
    pub fn with_redacted(mut self, pointer: &str) -> Self {
        self.redacted.push(pointer.into());
        self
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

    pub(crate) const fn near_misses(&self) -> NearMisses {
        self.near_misses
    }

    pub(crate) const fn permits(&self) -> Option<&Arc<Permits>> {
        self.permits.as_ref()
    }

    /// The lanes of one call, in the order in which they are taken.
    pub(crate) fn lanes(&self, scope: &str, arguments: &Value) -> LaneSet {
        let lanes = self.lanes.as_ref();
        lanes.map_or_else(LaneSet::default, |lanes| lanes(scope, arguments))
    }

    pub(crate) fn redaction(&self, arguments: &Value) -> Redaction {
        Redaction::new(&self.redacted, arguments)
    }

    /// Refuses arguments that are not what the tool takes.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), Error> {
        #[cfg(feature = "schema")]
        if let Some(schema) = &self.schema {
            schema.check(arguments)?;
        }
        let Some(check) = &self.check else {
            return Ok(());
        };
        // A type of the host's may panic while it is read, and nothing of it is looked at then.
        catch_unwind(AssertUnwindSafe(|| check(arguments)))
            .unwrap_or_else(|_| Err(Error::invalid("arguments", "could not be read for a panic")))
    }
}
