//! One attempt, and the probe in its body that tells whether it left.
//!
//! A transport asks a request's body before it serialises the request: hyper asks `is_end_stream`
//! right before it writes the head, on HTTP/1 and on HTTP/2. A body that was dropped unasked belongs
//! to a request that can never leave.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use tower_outcome_core::Code;
use tower_outcome_core::gate::{Admission, State};

use super::Call;
use crate::retry::Pushback;

/// One attempt. Cloning shares it.
#[derive(Clone)]
pub(crate) struct Attempt {
    call: Call,
    /// `None` for the first, which is a part of the call's record.
    later: Option<Arc<Track>>,
}

impl Attempt {
    pub(super) const fn new(call: Call, later: Option<Arc<Track>>) -> Self {
        Self { call, later }
    }

    /// The call that it is made for.
    pub(crate) const fn call(&self) -> &Call {
        &self.call
    }

    /// Ends the attempt. `unsent` is proof beyond the probe's.
    pub(crate) fn finish(&self, ending: Ending, unsent: bool) {
        let _ = self.ending.set(ending);
        self.give_back(unsent);
    }

    /// Notes that the provider answered.
    pub(crate) fn answered(&self, ending: Ending) {
        self.flags.fetch_or(ANSWERED, Ordering::AcqRel);
        self.finish(ending, false);
    }

    fn give_back(&self, unsent: bool) {
        let gate = &self.call.record.gate;
        match self.take_admission() {
            Some(admission) if unsent => gate.take_back(admission),
            Some(admission) => gate.mark_left(admission),
            None => {}
        }
    }
}

impl Deref for Attempt {
    type Target = Track;

    fn deref(&self) -> &Track {
        match &self.later {
            Some(later) => later,
            None => &self.call.record.first,
        }
    }
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Attempt").field(&**self).finish()
    }
}

/// What is known of one attempt.
#[derive(Debug, Default)]
pub(crate) struct Track {
    flags: AtomicU8,
    admission: Mutex<Option<Admission>>,
    gone: AtomicWaker,
    ending: OnceLock<Ending>,
    head: OnceLock<Code>,
}

/// How an attempt ended by itself, and what that means for another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub(crate) code: Code,
    /// Another attempt under the same key does no harm and may tell more.
    pub(crate) brings_news: bool,
    /// What the provider asks of further attempts.
    pub(crate) pushback: Option<Pushback>,
}

impl From<Code> for Ending {
    /// The end of an attempt that nothing can follow.
    fn from(code: Code) -> Self {
        Self {
            code,
            brings_news: false,
            pushback: None,
        }
    }
}

impl Track {
    /// Takes what the gate has admitted.
    pub(super) fn admit(&self, admission: Admission) {
        *self.admission() = Some(admission);
    }

    /// Counts an attempt that nobody has ended, and nobody can any more, as one that left.
    pub(super) fn abandon(&self, gate: &State) {
        if let Some(admission) = self.take_admission() {
            gate.mark_left(admission);
        }
    }

    /// From here on what happens to the body counts. Called once the body is wrapped, right before
    /// the client gets it: wrapping may ask the body as well.
    pub(crate) fn arm(&self) {
        self.flags.fetch_or(ARMED, Ordering::AcqRel);
    }

    /// Whether the transport took the request into its hands.
    pub(crate) fn is_touched(&self) -> bool {
        self.flags.load(Ordering::Acquire) & (TOUCHED | ARMED) != ARMED
    }

    /// Whether the transport asked for the body's first bytes.
    pub(crate) fn is_polled(&self) -> bool {
        self.flags.load(Ordering::Acquire) & POLLED != 0
    }

    /// Whether the request's own body broke off while it was sent.
    pub(crate) fn is_broken(&self) -> bool {
        self.flags.load(Ordering::Acquire) & BROKEN != 0
    }

    /// Whether the request is proven never to have left: its body is gone and nobody asked it.
    pub(crate) fn is_proven_unsent(&self) -> bool {
        // One look: between two the body could be asked and dropped.
        let flags = self.flags.load(Ordering::Acquire);
        flags & (ARMED | GONE | TOUCHED) == ARMED | GONE
    }

    /// Waits until the transport has let go of the body.
    pub(crate) fn poll_gone(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.gone.register(cx.waker());
        if self.flags.load(Ordering::Acquire) & GONE == 0 {
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// Notes what the head of the answer proves, whatever becomes of its body. The first time stays.
    pub(crate) fn headed(&self, code: impl FnOnce() -> Code) {
        self.head.get_or_init(code);
    }

    /// The code that proves the change, if the answer or its head is here and does.
    pub(crate) fn done_by_head(&self) -> Option<Code> {
        let head = self.head.get().copied().or_else(|| self.code());
        head.filter(|code| code.outcome().is_done())
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.flags.load(Ordering::Acquire) & ANSWERED != 0
    }

    /// How the attempt ended by itself, once it has.
    pub(crate) fn code(&self) -> Option<Code> {
        self.ending().map(|ending| ending.code)
    }

    pub(crate) fn ending(&self) -> Option<Ending> {
        self.ending.get().copied()
    }

    fn take_admission(&self) -> Option<Admission> {
        self.admission().take()
    }

    fn admission(&self) -> MutexGuard<'_, Option<Admission>> {
        self.admission
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sits in the body of one attempt and tells what became of it.
#[derive(Debug)]
pub(crate) struct Probe(Attempt);

impl Probe {
    pub(crate) fn new(attempt: &Attempt) -> Self {
        Self(attempt.clone())
    }

    pub(crate) fn touched(&self) {
        if self.0.flags.load(Ordering::Acquire) & ARMED != 0 {
            self.0.flags.fetch_or(TOUCHED, Ordering::AcqRel);
        }
    }

    pub(crate) fn is_polled(&self) -> bool {
        self.0.is_polled()
    }

    /// The caller's own body broke off: what the client's error says may be that body's.
    pub(crate) fn broke_off(&self) {
        self.0.flags.fetch_or(BROKEN, Ordering::AcqRel);
    }

    pub(crate) fn polled(&self) {
        self.0.flags.fetch_or(TOUCHED | POLLED, Ordering::AcqRel);
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        let before = self.0.flags.fetch_or(GONE, Ordering::AcqRel);
        if before & (ARMED | TOUCHED) == ARMED {
            self.0.give_back(true);
        }
        self.0.gone.wake();
    }
}

const ARMED: u8 = 1;
const TOUCHED: u8 = 2;
const POLLED: u8 = 4;
const GONE: u8 = 8;
const ANSWERED: u8 = 16;
const BROKEN: u8 = 32;
