//! What a gate knows, for a record that has its gate built in.

use std::sync::atomic::{AtomicU64, Ordering};

use super::sleepers::Sleepers;
use super::{Gate, Sealed, Seen};

/// What a gate knows: see [`Gate::of`].
pub struct State {
    bits: AtomicU64,
    parent: Option<Gate>,
    /// Those of the whole family, in the gate that has no parent.
    sleepers: Sleepers,
}

impl State {
    /// An open gate that nothing has passed; what passes it passes `parent` as well.
    #[must_use]
    pub const fn new(parent: Option<Gate>) -> Self {
        Self {
            bits: AtomicU64::new(0),
            parent,
            sleepers: Sleepers::new(),
        }
    }

    /// Counts one attempt on this gate and on all above it, or on none. Like [`Gate::pass`], for a
    /// record that holds what it admitted itself, and would hold on to itself with a
    /// [`Pass`](super::Pass).
    ///
    /// # Errors
    ///
    /// [`Sealed`] if this gate or one above it has been sealed.
    pub fn admit(&self) -> Result<Admission, Sealed> {
        if let Some(parent) = &self.parent {
            // Counted there until it is given back here, which takes it back there as well.
            let Admission(()) = parent.state().admit()?;
        }
        let admitted = self
            .bits
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
                (state & SEALED == 0).then_some(state + 1)
            });
        match admitted {
            Ok(_) => Ok(Admission(())),
            Err(_) => {
                if let Some(parent) = &self.parent {
                    parent.state().take_back(Admission(()));
                }
                Err(Sealed(()))
            }
        }
    }

    /// Takes an attempt back. Only for proof that no byte of it can ever leave.
    pub fn take_back(&self, Admission(()): Admission) {
        self.bits.fetch_sub(1, Ordering::AcqRel);
        if let Some(parent) = &self.parent {
            parent.state().take_back(Admission(()));
        }
    }

    /// Counts an attempt as one that may have left, for good.
    pub fn mark_left(&self, Admission(()): Admission) {
        // The bit before the count: between the two the gate must not look as if nothing had left.
        self.bits.fetch_or(LEFT, Ordering::AcqRel);
        self.bits.fetch_sub(1, Ordering::AcqRel);
        if let Some(parent) = &self.parent {
            parent.state().mark_left(Admission(()));
        }
    }

    /// As [`Gate::seal`].
    pub fn seal(&self) -> Seen {
        let before = self.bits.fetch_or(SEALED, Ordering::AcqRel);
        // Whoever sealed it first wakes them, and who comes later looks before it sleeps.
        if before & SEALED == 0 {
            self.sleepers().wake();
        }
        seen(before)
    }

    /// As [`Gate::is_sealed`].
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        let sealed = self.bits.load(Ordering::Acquire) & SEALED != 0;
        sealed || self.parent.as_ref().is_some_and(Gate::is_sealed)
    }

    /// As [`Gate::look`].
    #[must_use]
    pub fn look(&self) -> Seen {
        seen(self.bits.load(Ordering::Acquire))
    }

    pub(super) fn sleepers(&self) -> &Sleepers {
        match &self.parent {
            Some(parent) => parent.state().sleepers(),
            None => &self.sleepers,
        }
    }
}

impl AsRef<Self> for State {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("seen", &self.look())
            .field("sealed", &self.is_sealed())
            .finish_non_exhaustive()
    }
}

/// One attempt that was counted. To be given back to the state that counted it, or it counts as
/// under way forever.
#[derive(Debug)]
#[must_use = "an attempt that is not given back stays under way"]
pub struct Admission(());

const fn seen(state: u64) -> Seen {
    if state & LEFT != 0 {
        Seen::Left
    } else if state & COUNT != 0 {
        Seen::InFlight
    } else {
        Seen::Never
    }
}

const SEALED: u64 = 1 << 63;
const LEFT: u64 = 1 << 62;
const COUNT: u64 = LEFT - 1;
