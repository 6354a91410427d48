//! A one-way gate: after `seal` nothing of a call can leave, and one knows whether anything had.
//!
//! A boolean marker has a race: it is read as "not sent", the caller is told `failed`, and then the
//! queued request goes out. Here the end of a call seals the gate *first*; an attempt that has not
//! passed by then never will.
//!
//! ```
//! use tower_outcome_core::{Gate, Seen};
//!
//! let gate = Gate::new();
//! let pass = gate.pass().expect("nothing sealed it");
//! pass.prove_unsent(); // the connection was refused
//! assert_eq!(gate.seal(), Seen::Never);
//! assert!(gate.pass().is_err()); // the second attempt stays at home
//! ```

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Shared by everything that handles one call.
///
/// Cloning shares the gate. A [`child`](Self::child) has a state of its own, and everything that
/// passes it passes its parent as well.
#[derive(Clone, Default)]
pub struct Gate {
    shared: Arc<Shared>,
}

impl Gate {
    /// An open gate that nothing has passed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A gate for one write of a call that may make several.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: AtomicU64::new(0),
                sleepers: Arc::clone(&self.shared.sleepers),
                parent: Some(self.clone()),
            }),
        }
    }

    /// Lets one attempt through.
    ///
    /// # Errors
    ///
    /// [`Sealed`] if this gate or one above it has been sealed: the attempt must not be made.
    pub fn pass(&self) -> Result<Pass, Sealed> {
        self.admit()?;
        Ok(Pass {
            gate: Some(self.clone()),
        })
    }

    /// Closes the gate for good and tells what had passed until then.
    #[expect(
        clippy::must_use_candidate,
        reason = "closing it is reason enough to call"
    )]
    pub fn seal(&self) -> Seen {
        let before = self.shared.state.fetch_or(SEALED, Ordering::AcqRel);
        self.shared.sleepers.wake();
        Seen::from_state(before)
    }

    /// Waits until this gate or one above it is sealed. Dropping the future changes nothing.
    #[must_use]
    pub fn sealed(&self) -> WaitSealed {
        WaitSealed {
            gate: self.clone(),
            slot: None,
        }
    }

    /// Whether this gate or one above it is sealed.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        let sealed = self.shared.state.load(Ordering::Acquire) & SEALED != 0;
        sealed || self.shared.parent.as_ref().is_some_and(Self::is_sealed)
    }

    /// What has passed so far. Only after [`seal`](Self::seal) is the answer final.
    #[must_use]
    pub fn look(&self) -> Seen {
        Seen::from_state(self.shared.state.load(Ordering::Acquire))
    }

    /// Counts one attempt on this gate and on all above it, or on none.
    fn admit(&self) -> Result<(), Sealed> {
        if let Some(parent) = &self.shared.parent {
            parent.admit()?;
        }
        let admitted =
            self.shared
                .state
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
                    (state & SEALED == 0).then_some(state + 1)
                });
        if admitted.is_err()
            && let Some(parent) = &self.shared.parent
        {
            parent.take_back();
        }
        admitted.map(drop).map_err(|_| Sealed(()))
    }

    fn take_back(&self) {
        self.shared.state.fetch_sub(1, Ordering::AcqRel);
        if let Some(parent) = &self.shared.parent {
            parent.take_back();
        }
    }

    fn mark_left(&self) {
        // The bit before the count: between the two the gate must not look as if nothing had left.
        self.shared.state.fetch_or(LEFT, Ordering::AcqRel);
        self.shared.state.fetch_sub(1, Ordering::AcqRel);
        if let Some(parent) = &self.shared.parent {
            parent.mark_left();
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("seen", &self.look())
            .field("sealed", &self.is_sealed())
            .finish_non_exhaustive()
    }
}

/// The right to hand one attempt to a transport.
///
/// Dropped, the attempt counts as one that may have left, for good.
#[derive(Debug)]
#[must_use = "a dropped pass counts as a request that left"]
pub struct Pass {
    gate: Option<Gate>,
}

impl Pass {
    /// Takes the attempt back. Only for proof that no byte of it can ever leave.
    pub fn prove_unsent(mut self) {
        if let Some(gate) = self.gate.take() {
            gate.take_back();
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if let Some(gate) = self.gate.take() {
            gate.mark_left();
        }
    }
}

/// The gate was sealed: this attempt must not be made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sealed(());

impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the call has ended, nothing more may be sent for it")
    }
}

impl std::error::Error for Sealed {}

/// What has passed a gate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Seen {
    /// An attempt is under way, and none is known to have left.
    InFlight,
    /// At least one attempt may have left, whatever the others did.
    Left,
    /// Nothing left: no attempt was made, or each was proven unsent.
    Never,
}

impl Seen {
    const fn from_state(state: u64) -> Self {
        if state & LEFT != 0 {
            Self::Left
        } else if state & COUNT != 0 {
            Self::InFlight
        } else {
            Self::Never
        }
    }
}

/// Future of [`Gate::sealed`].
#[derive(Debug)]
pub struct WaitSealed {
    gate: Gate,
    slot: Option<u64>,
}

impl Future for WaitSealed {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.gate.is_sealed() {
            return Poll::Ready(());
        }
        let slot = self.gate.shared.sleepers.sleep(self.slot, cx.waker());
        self.slot = Some(slot);
        // Looked at again, for a seal between the first look and the registration.
        if self.gate.is_sealed() {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for WaitSealed {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            self.gate.shared.sleepers.forget(slot);
        }
    }
}

#[derive(Default)]
struct Shared {
    state: AtomicU64,
    parent: Option<Gate>,
    sleepers: Arc<Sleepers>,
}

/// Wakers of everyone who waits for a seal anywhere in a family of gates.
#[derive(Default)]
struct Sleepers {
    list: Mutex<(u64, Vec<(u64, Waker)>)>,
}

impl Sleepers {
    // A waker may be the last reference to a task that waits here as well: it is only ever dropped
    // once the lock is free, or its own drop would ask for the lock.
    fn sleep(&self, slot: Option<u64>, waker: &Waker) -> u64 {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let known = slot.and_then(|slot| list.1.iter_mut().find(|(id, _)| *id == slot));
        if let Some((slot, known)) = known {
            let slot = *slot;
            let old = (!known.will_wake(waker)).then(|| std::mem::replace(known, waker.clone()));
            drop(list);
            drop(old);
            return slot;
        }
        list.0 += 1;
        let slot = list.0;
        list.1.push((slot, waker.clone()));
        slot
    }

    fn forget(&self, slot: u64) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let place = list.1.iter().position(|(id, _)| *id == slot);
        let forgotten = place.map(|place| list.1.swap_remove(place));
        drop(list);
        drop(forgotten);
    }

    fn wake(&self) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let sleepers = std::mem::take(&mut list.1);
        drop(list);
        for (_, waker) in sleepers {
            waker.wake();
        }
    }
}

const SEALED: u64 = 1 << 63;
const LEFT: u64 = 1 << 62;
const COUNT: u64 = LEFT - 1;
