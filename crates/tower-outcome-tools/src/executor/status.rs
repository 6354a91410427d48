//! What became of a call, for whoever asks later. Sends nothing and claims nothing.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;
use tower_outcome_core::ledger::{Entry, EntryKey, alias};
use tower_outcome_core::{Code, Envelope, Error, Fingerprint, IdempotencyKey};

use super::{Executor, Run, invalid, narrow, replay};
use crate::tool::Kind;
use crate::tool_call::ToolCall;

impl Executor {
    /// What became of a call, from the ledger alone. Sends nothing and claims nothing.
    ///
    /// Has a [deadline of its own](Self::with_status_deadline): a ledger that does not answer by
    /// then is one that could not be asked.
    pub async fn status(&self, call: &ToolCall) -> Envelope {
        self.status_within(call, self.config.status_deadline).await
    }

    /// The same for whoever knows a call by its scope and key.
    pub async fn status_of(&self, scope: &str, key: &IdempotencyKey) -> Envelope {
        let key = EntryKey {
            scope: scope.into(),
            key: *key,
        };
        self.look_at(&key, self.config.status_deadline).await
    }

    async fn status_within(&self, call: &ToolCall, limit: Duration) -> Envelope {
        match self.look_up(call) {
            Ok((tool, _)) if !tool.kind().writes() => {
                invalid(&Error::invalid("tool", "only reads, and leaves no record"))
            }
            Ok((_, intent)) => {
                let found = async {
                    let (intent, entry) = self.find(&intent).await?;
                    Ok((Some(intent.entry_fingerprint()), entry))
                };
                self.look(&EntryKey::of(&intent), found, limit).await
            }
            Err(error) => invalid(&error),
        }
    }

    /// What the entry says that a key leads to.
    async fn look_at(&self, key: &EntryKey, limit: Duration) -> Envelope {
        let found = async {
            let mut entry = self.read(key).await?;
            if let Some(to) = entry.as_ref().and_then(Entry::leads_to) {
                let led = alias::read(&*self.config.ledger, &to).await;
                entry = led.map_err(|error| narrow(self.state.doubts.unasked(&to, &error)))?;
            }
            Ok((None, entry))
        };
        self.look(key, found, limit).await
    }

    /// Waits for what is found: an entry, and what has to be equal in it.
    async fn look(
        &self,
        key: &EntryKey,
        found: impl Future<Output = Result<(Option<Fingerprint>, Option<Entry>), Envelope>>,
        limit: Duration,
    ) -> Envelope {
        let state = &self.state;
        let (envelope, key) = match timeout(limit, found).await {
            // It waits for its lane or its permit, or is about to claim.
            Ok(Ok((_, None))) if state.twins.is_running(key) => {
                (Envelope::new(Code::AlreadyInProgress), key.key)
            }
            Ok(Ok((fingerprint, entry))) => {
                let envelope = replay::status(entry.as_ref(), fingerprint.as_ref());
                (envelope, entry.map_or(key.key, |entry| entry.key.key))
            }
            Ok(Err(refused)) => (refused, key.key),
            Err(_) if state.doubts.contains(key) => (Envelope::new(Code::StillConfirming), key.key),
            Err(_) => (narrow(Code::StoreUnavailable), key.key),
        };
        envelope.with_key(&key)
    }

    /// The calls of `scope` whose shortened key is `short`, as far as this process has seen them or
    /// the ledger lists them as being in doubt.
    async fn find_short(&self, scope: &str, short: [u8; 4]) -> Vec<EntryKey> {
        let mut found = self.state.recent.find(scope, short);
        if found.is_empty() {
            let doubts = &self.state.doubts;
            // Whatever is known already is known without the ledger.
            let _ = doubts.refresh(&*self.config.ledger).await;
            found = doubts.find(scope, short);
        }
        found
    }
}

/// A call of the tool [`outcome_status`](crate::Tool::outcome_status).
pub(super) async fn run(run: Run) -> Envelope {
    let (executor, scope) = (&run.executor, run.intent.scope());
    let limit = run.tool.deadline();
    let limit = limit.unwrap_or(executor.config.status_deadline);
    match Question::parse(&run.arguments) {
        Ok(Question::Call { tool, arguments }) => {
            let call = ToolCall::new(scope, tool, arguments.clone());
            executor.status_within(&call, limit).await
        }
        Ok(Question::Key(short)) => {
            let found = timeout(limit, executor.find_short(scope, short)).await;
            match found.unwrap_or_default().as_slice() {
                [key] => executor.look_at(key, limit).await,
                [] => narrow(Code::NotSent).with_detail(UNKNOWN_KEY),
                _ => invalid(&Error::invalid("/key", "stands for several calls")),
            }
        }
        Err(error) => invalid(&error),
    }
}

/// How a model names an earlier call.
enum Question<'a> {
    Call { tool: &'a str, arguments: &'a Value },
    Key([u8; 4]),
}

impl<'a> Question<'a> {
    fn parse(asked: &'a Value) -> Result<Self, Error> {
        let (key, tool, arguments) = (asked.get("key"), asked.get("tool"), asked.get("arguments"));
        match (key, tool, arguments) {
            (Some(key), None, None) => {
                let short = key.as_str().and_then(parse_short).map(Self::Key);
                short.ok_or_else(|| Error::invalid("/key", "is not the key of an earlier result"))
            }
            (None, Some(Value::String(tool)), Some(arguments)) => {
                Ok(Self::Call { tool, arguments })
            }
            _ => Err(Error::invalid(
                "arguments",
                "take either key, or tool and arguments",
            )),
        }
    }
}

/// The bytes behind the eight digits that [`IdempotencyKey::short`] shows.
fn parse_short(text: &str) -> Option<[u8; 4]> {
    let hex = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = hex.then(|| u32::from_str_radix(text, 16).ok())??;
    Some(number.to_be_bytes())
}

/// Whether `key` is one of `scope`, and shortened to `short`.
pub(super) fn is_short_of(key: &EntryKey, scope: &str, short: [u8; 4]) -> bool {
    *key.scope == *scope && key.key.as_bytes().starts_with(&short)
}

/// The calls that this process has seen last.
#[derive(Default)]
pub(super) struct Recent {
    keys: Mutex<VecDeque<EntryKey>>,
}

impl Recent {
    pub(super) fn note(&self, key: EntryKey) {
        let mut keys = self.lock();
        if keys.len() >= REMEMBERED {
            keys.pop_front();
        }
        keys.push_back(key);
    }

    /// Each of those that match, once.
    fn find(&self, scope: &str, short: [u8; 4]) -> Vec<EntryKey> {
        let keys = self.lock();
        let mut found: Vec<_> = keys
            .iter()
            .filter(|key| is_short_of(key, scope, short))
            .cloned()
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<EntryKey>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kind {
    pub(super) const fn writes(self) -> bool {
        matches!(self, Self::Opaque | Self::Write)
    }
}

/// How many calls can be asked about by their shortened keys alone.
const REMEMBERED: usize = 1024;

const UNKNOWN_KEY: &str = "No recent call of this key is known here; ask by tool and arguments.";
