//! The row of the call whose handler makes a call.
//!
//! A call inside a call has a row of its own, and whoever asks for the outer call after a crash does
//! not know that one. So before anything of the inner call may leave, the outer row says so: the end
//! of its lease is doubt then, and its handler is not run again.

use std::sync::Arc;

use tower_outcome::Context;
use tower_outcome::context::Recorder;
use tower_outcome_core::ledger::{LedgerError, WriteRecord};

use super::Run;

/// Where the call around takes down that this one may send.
pub(super) struct Around {
    /// The nearest one; it tells those around it.
    recorder: Arc<dyn Recorder>,
    /// No token of the inner call's writes: they may be sent again under the inner row's fence, so
    /// that what a provider says of them settles that row only.
    record: WriteRecord,
}

impl Around {
    pub(super) fn of(run: &Run) -> Option<Self> {
        let mut lineage = run.outer.iter().flat_map(Context::lineage);
        let recorder = lineage.find_map(Context::recorder)?;
        let (tool, key) = (run.tool.name(), run.intent.key());
        Some(Self {
            recorder: Arc::clone(recorder),
            record: WriteRecord {
                // One for each call, and the words by which a person finds its row.
                label: format!("{tool} {}", key.short()),
                route: tool.to_owned(),
                ..WriteRecord::default()
            },
        })
    }

    /// Returns once the outer row says that something may leave.
    pub(super) async fn before_send(&self) -> Result<(), LedgerError> {
        self.recorder.before_send(self.record.clone()).await
    }
}
