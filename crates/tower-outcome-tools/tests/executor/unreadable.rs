//! An entry that cannot be read may be in doubt, and of any tool of its scope.

use std::sync::Arc;

use serde_json::json;
use tower_outcome::{BoxError, Code, MemoryLedger, Outcome};
use tower_outcome_core::ledger::{
    Answer, Entry, EntryKey, Event, Ledger, LedgerError, LedgerFuture, Listing,
};
use tower_outcome_tools::{Executor, ToolCall};

use crate::support::{Bench, call, failing, is, order};

/// A ledger that cannot read what is in doubt.
struct Damaged {
    ledger: Arc<MemoryLedger>,
    harmed: EntryKey,
}

impl Damaged {
    fn answer<'a, T: Send + 'a>(
        &self,
        key: &EntryKey,
        answer: LedgerFuture<'a, T>,
    ) -> LedgerFuture<'a, T> {
        if *key == self.harmed {
            return Box::pin(async { Err(LedgerError::unavailable(BoxError::from("no JSON"))) });
        }
        answer
    }
}

impl Ledger for Damaged {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        self.answer(key, self.ledger.apply(key, event))
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        self.answer(key, self.ledger.read(key))
    }

    fn unresolved(&self, _: usize) -> LedgerFuture<'_, Listing> {
        Box::pin(async {
            Ok(Listing {
                unreadable: vec![self.harmed.clone()],
                ..Listing::default()
            })
        })
    }

    tower_outcome_core::forward_ledger!(self => self.ledger; due page counts purge changed);
}

#[tokio::test]
async fn what_may_be_in_doubt_holds_back_its_scope_and_nobody_else() {
    let bench = Bench::scripted([failing()]).await;
    let unknown = bench.run(bench.refund()).await;
    is(&unknown, Outcome::Unknown, Code::ServerError);
    let ledger = Damaged {
        ledger: Arc::clone(&bench.ledger),
        harmed: bench.entry("refund").await.key,
    };
    let charge = bench.tool("charge", |writer, arguments| async move {
        Ok(writer.write("/charges", &arguments).await?)
    });
    let executor = Executor::new(ledger)
        .with_tool(bench.refund())
        .with_tool(charge);
    let other = ToolCall::new("acme", "refund", json!({ "order": "B" }));
    let other_tool = ToolCall::new("acme", "charge", order());
    for held in [other, other_tool, call("refund")] {
        let held = executor.run(held).await;
        is(&held, Outcome::Unknown, Code::StillConfirming);
    }
    assert_eq!(bench.billing.received().len(), 1);
    let elsewhere = ToolCall::new("zenith", "refund", order());
    is(&executor.run(elsewhere).await, Outcome::Ok, Code::Done);
}
