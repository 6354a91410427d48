//! What the members of a tool's arguments mean for its key.

use serde_json::Value;

use super::derive::{Source, derive};
use super::plan::{Decision, Plan};
use super::rule::ValueRule;
use super::{Intent, schema};
use crate::Error;
use crate::key::KeyHasher;

/// The rules of one tool: which members of its arguments make the key, which must only match, and
/// which do not count.
///
/// A pointer is a JSON pointer (RFC 6901) such as `/pay/amount`. The token `*` stands for every
/// element of an array, and for every member of an object that is not declared by its own name.
/// A decision covers everything below its pointer; further decisions below it refine it. A member
/// that nothing is declared for is part of the key, unless [`only_declared`](Self::only_declared).
///
/// A rule that is declared wrongly (no pointer, declared twice, below an ignored member) is
/// reported by [`check_schema`](Self::check_schema) and by every attempt to make an intent.
///
/// ```
/// use serde_json::json;
/// use tower_outcome_core::IntentRules;
/// use tower_outcome_core::rule::{decimal, id};
///
/// let refund = IntentRules::new("refund")
///     .key("/order", id().trim())
///     .matches("/amount", decimal(2))
///     .ignore("/reason");
///
/// let first = refund.intent("acme", &json!({ "order": 7, "amount": 20, "reason": "late" }))?;
/// let again = refund.intent("acme", &json!({ "order": "7", "amount": 30 }))?;
/// assert_eq!(first.key(), again.key());
/// assert_eq!(first.fingerprint().differs(again.fingerprint()), Some("/amount"));
/// # Ok::<(), tower_outcome_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct IntentRules {
    tool: Box<str>,
    version: Box<str>,
    plan: Plan,
    hasher: KeyHasher,
    former: Option<Box<Self>>,
    flaw: Option<Error>,
}

impl IntentRules {
    /// Rules for `tool`, by which every member is part of the key as it is.
    #[must_use]
    pub fn new(tool: impl Into<Box<str>>) -> Self {
        Self {
            tool: tool.into(),
            version: Box::default(),
            plan: Plan::default(),
            hasher: KeyHasher::default(),
            former: None,
            flaw: None,
        }
    }

    /// The member at `pointer` is part of the key, read by `rule`.
    #[must_use]
    pub fn key(self, pointer: &str, rule: ValueRule) -> Self {
        self.declare(pointer, Decision::Key(rule))
    }

    /// The member at `pointer` is not part of the key, but must be equal when the key is met
    /// again: a call that differs in it is refused instead of answered with the first one's
    /// result.
    ///
    /// Elements of an array are compared at the index at which they stand.
    #[must_use]
    pub fn matches(self, pointer: &str, rule: ValueRule) -> Self {
        self.declare(pointer, Decision::Matches(rule))
    }

    /// The member at `pointer` does not count: free text, the time of the call, an id that is
    /// made anew for each call.
    #[must_use]
    pub fn ignore(self, pointer: &str) -> Self {
        self.declare(pointer, Decision::Ignore)
    }

    /// Members that nothing is declared for do not count.
    ///
    /// This keeps the key stable when a model invents members, and merges two wishes where one was
    /// forgotten: use [`check_schema`](Self::check_schema) with it.
    #[must_use]
    pub fn only_declared(mut self) -> Self {
        self.plan.only_declared = true;
        self
    }

    /// A null counts as if its member were absent, at any depth. Nulls in arrays are values. Null
    /// instead of the arguments stands for none.
    #[must_use]
    pub fn null_is_absent(mut self) -> Self {
        self.plan.null_is_absent = true;
        self
    }

    /// An empty string, array or object counts as if its member were absent, at any depth.
    #[must_use]
    pub fn empty_is_absent(mut self) -> Self {
        self.plan.empty_is_absent = true;
        self
    }

    /// Names this set of rules. The name is part of the key.
    ///
    /// Give another name with every change of the rules, and let them
    /// [succeed](Self::succeeding) the old ones: another key means that an earlier call is not
    /// found.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<Box<str>>) -> Self {
        self.version = version.into();
        self
    }

    /// Derives keys and fingerprints with HMAC-SHA-256 (RFC 2104) under `secret`, so that nobody
    /// who sees one can find the arguments by trying.
    ///
    /// All replicas need the same secret of at least 16 bytes. Another secret makes other keys,
    /// as another version does.
    #[must_use]
    pub fn with_secret(mut self, secret: &[u8]) -> Self {
        if secret.len() < SHORTEST_SECRET {
            let flaw = Error::invalid("secret", "is shorter than 16 bytes");
            self.flaw.get_or_insert(flaw);
        }
        self.hasher = KeyHasher::keyed(secret);
        self
    }

    /// Takes over from `former` rules, or from the same rules under another secret.
    ///
    /// While replicas with the former rules are still at work, a wish keeps the key that those give
    /// it, in the ledger and on the wire, so that both meet one entry. The ledger learns the new
    /// key as an alias of that entry ([`Intent::successor`], [`alias`](crate::ledger::alias)): once
    /// no replica knows the former rules alone, `succeeding` can be taken out, and the entries of
    /// wishes that were made meanwhile are still found. Those of wishes that were made before and
    /// not again have no alias: leave it in for as long as an earlier call is to be recognised.
    ///
    /// Rules may succeed rules that succeed others. Replicas at work at the same time have to have a
    /// version in common. Arguments that the former rules refuse have the new key alone.
    ///
    /// ```
    /// use serde_json::json;
    /// use tower_outcome_core::IntentRules;
    ///
    /// let former = IntentRules::new("refund").with_version("1");
    /// let rules = IntentRules::new("refund").with_version("2").ignore("/reason");
    /// let overlap = rules.clone().succeeding(former.clone());
    ///
    /// let arguments = json!({ "order": 7, "reason": "late" });
    /// let intent = overlap.intent("acme", &arguments)?;
    /// assert_eq!(intent.key(), former.intent("acme", &arguments)?.key());
    /// let successor = intent.successor().unwrap();
    /// assert_eq!(successor.key(), rules.intent("acme", &arguments)?.key());
    /// # Ok::<(), tower_outcome_core::Error>(())
    /// ```
    #[must_use]
    pub fn succeeding(mut self, former: Self) -> Self {
        if former.tool != self.tool {
            let flaw = Error::invalid("tool", "is not the tool of the former rules");
            self.flaw.get_or_insert(flaw);
        }
        if let Some(flaw) = former.flaw.clone() {
            self.flaw.get_or_insert(flaw);
        }
        self.former = Some(Box::new(former));
        self
    }

    /// The tool that these rules are for.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The wish that `arguments` spell.
    ///
    /// A value has lost what only text shows: a member that stood twice, the digits beyond a
    /// double. Where the text is at hand, [`intent_from_str`](Self::intent_from_str) sees them.
    ///
    /// # Errors
    ///
    /// Refuses an empty scope or tool, arguments that are no object, and values that a rule or the
    /// [canonical form](crate::canonical) refuses.
    pub fn intent(&self, scope: &str, arguments: &Value) -> Result<Intent, Error> {
        self.derive(scope, Source::Value(arguments))
    }

    /// The wish that the JSON text of the arguments spells.
    ///
    /// # Errors
    ///
    /// As [`intent`](Self::intent); also refuses what is no JSON, and members that stand twice.
    pub fn intent_from_str(&self, scope: &str, json: &str) -> Result<Intent, Error> {
        self.derive(scope, Source::Text(json))
    }

    /// Checks at start that every property of the tool's JSON schema has a decision, and that
    /// every `key` and `matches` names a property.
    ///
    /// # Errors
    ///
    /// Names the first property without a decision, or the first decision without a property.
    pub fn check_schema(&self, schema: &Value) -> Result<(), Error> {
        self.sound()?;
        schema::check(&self.plan, schema)
    }

    fn declare(mut self, pointer: &str, decision: Decision) -> Self {
        if let Err(flaw) = self.plan.declare(pointer, decision) {
            self.flaw.get_or_insert(flaw);
        }
        self
    }

    fn derive(&self, scope: &str, source: Source<'_>) -> Result<Intent, Error> {
        self.sound()?;
        let names = [scope, &self.tool, &self.version];
        let intent = derive(names, source, &self.plan, &self.hasher)?;
        let former = self.former.as_ref();
        let former = former.and_then(|rules| rules.derive(scope, source).ok());
        Ok(match former {
            Some(former) if former.key() == intent.key() => intent,
            Some(former) => former.with_successor(intent),
            None => intent,
        })
    }

    fn sound(&self) -> Result<(), Error> {
        self.flaw.clone().map_or(Ok(()), Err)
    }
}

/// Half of the digest, below which trying secrets is cheaper than it should be.
const SHORTEST_SECRET: usize = 16;
