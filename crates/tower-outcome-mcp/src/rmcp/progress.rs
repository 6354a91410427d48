//! Sends a call's reports of progress to the client that wants them.

use std::future::Future;
use std::pin::pin;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use tokio::sync::mpsc;
use tower_outcome_tools::{Progress, ToolCall};

/// Reports of one call, on their way to its client.
pub(super) struct Reports {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    queue: mpsc::Receiver<Progress>,
}

impl Reports {
    /// Has `call` report to the client that gave `token`.
    pub(super) fn of(
        call: ToolCall,
        token: ProgressToken,
        peer: Peer<RoleServer>,
    ) -> (ToolCall, Self) {
        let (sender, queue) = mpsc::channel(WAITING);
        // A client that reads slowly misses reports; the call waits for nobody.
        let call = call.with_progress(move |progress| drop(sender.try_send(progress)));
        let reports = Self { peer, token, queue };
        (call, reports)
    }

    /// Sends what is reported until `call` has ended, and no word after its result.
    pub(super) async fn during<F: Future>(mut self, call: F) -> F::Output {
        let mut call = pin!(call);
        let ended = loop {
            tokio::select! {
                biased;
                ended = &mut call => break ended,
                Some(progress) = self.queue.recv() => self.send(progress).await,
            }
        };
        while let Ok(progress) = self.queue.try_recv() {
            self.send(progress).await;
        }
        ended
    }

    async fn send(&self, progress: Progress) {
        let mut report = ProgressNotificationParam::new(self.token.clone(), progress.done());
        report.total = progress.total();
        if !progress.message().is_empty() {
            report.message = Some(progress.message().to_owned());
        }
        // A client that is gone is told nothing; its call ends by itself.
        let _ = self.peer.notify_progress(report).await;
    }
}

/// How many reports may wait for the client.
const WAITING: usize = 16;
