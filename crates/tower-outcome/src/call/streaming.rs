//! A call whose answer is handed on before its end.

use tower_outcome_core::Conclusion;

use super::{Call, Delivery, End, Progress};

impl Call {
    /// Has the caller get the answer itself.
    pub(crate) fn keep_response(&self) {
        self.progress().delivery = Delivery::Kept;
    }

    pub(crate) fn keeps_response(&self) -> bool {
        self.progress().delivery != Delivery::Judged
    }

    /// The caller reads on by itself.
    pub(crate) fn begin_streaming(&self) {
        self.progress().delivery = Delivery::Streaming;
    }

    /// There is no more of the answer. Where a ledger has to be asked first, that settles the call.
    pub(crate) fn end_streaming(&self) {
        self.progress().delivery = Delivery::Streamed;
        self.record.changed.notify_waiters();
        if !self.progress().asks_ledger {
            self.settle(self.judge(Ok(())));
        }
    }

    /// Whether the caller got the answer's head, and its end says how the call ended.
    pub(crate) fn is_handed_on(&self) -> bool {
        self.progress().is_handed_on()
    }

    /// Waits until there is no more of the answer.
    pub(crate) async fn streamed(&self) {
        self.when(|it| (it.delivery == Delivery::Streamed).then_some(()))
            .await;
    }

    /// The caller goes away; with the answer's head in its hands it may read on.
    pub(crate) fn abandon(&self) {
        let mut progress = self.progress();
        if progress.is_handed_on() {
            return;
        }
        progress.end.get_or_insert(End::Cancelled);
        drop(progress);
        self.record.gate.seal();
    }

    /// Ends the call in the middle of its answer. Says so, unless a ledger has to be asked first.
    pub(crate) fn break_off(&self, end: End) {
        self.end(end);
        self.give_interim_unless_claimed(self.lost_code());
        if let Some(doubt) = self.interim() {
            self.tell(doubt);
        }
    }

    /// Waits until nothing of the write is under way any more, and tells what became of it.
    ///
    /// Later than the caller's verdict where the answer was late. Dropping the future changes
    /// nothing.
    pub async fn settled(&self) -> Conclusion {
        self.when(|progress| progress.settled).await
    }

    async fn when<T>(&self, look: impl Fn(&Progress) -> Option<T>) -> T {
        loop {
            let mut change = std::pin::pin!(self.record.changed.notified());
            change.as_mut().enable();
            if let Some(seen) = look(&self.progress()) {
                return seen;
            }
            change.await;
        }
    }
}

impl Progress {
    const fn is_handed_on(&self) -> bool {
        matches!(self.delivery, Delivery::Streamed | Delivery::Streaming)
    }
}
