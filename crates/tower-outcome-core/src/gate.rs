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
use std::sync::Arc;
use std::task::{Context, Poll};

mod sleepers;
mod state;

pub use state::{Admission, State};

/// Shared by everything that handles one call.
///
/// Cloning shares the gate. A [`child`](Self::child) has a state of its own, and everything that
/// passes it passes its parent as well.
#[derive(Clone)]
pub struct Gate {
    shared: Arc<dyn AsRef<State> + Send + Sync>,
}

impl Gate {
    /// An open gate that nothing has passed.
    #[must_use]
    pub fn new() -> Self {
        Self::of(Arc::new(State::new(None)))
    }

    /// The gate that is a part of `record`, so that both are one allocation.
    #[must_use]
    pub fn of<R: AsRef<State> + Send + Sync + 'static>(record: Arc<R>) -> Self {
        Self { shared: record }
    }

    /// A gate for one write of a call that may make several.
    #[must_use]
    pub fn child(&self) -> Self {
        Self::of(Arc::new(State::new(Some(self.clone()))))
    }

    /// Lets one attempt through.
    ///
    /// # Errors
    ///
    /// [`Sealed`] if this gate or one above it has been sealed: the attempt must not be made.
    pub fn pass(&self) -> Result<Pass, Sealed> {
        let admission = self.state().admit()?;
        Ok(Pass {
            gate: self.clone(),
            admission: Some(admission),
        })
    }

    /// Closes the gate for good and tells what had passed until then.
    #[expect(
        clippy::must_use_candidate,
        reason = "closing it is reason enough to call"
    )]
    pub fn seal(&self) -> Seen {
        self.state().seal()
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
        self.state().is_sealed()
    }

    /// What has passed so far. Only after [`seal`](Self::seal) is the answer final.
    #[must_use]
    pub fn look(&self) -> Seen {
        self.state().look()
    }

    fn state(&self) -> &State {
        (*self.shared).as_ref()
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
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
    gate: Gate,
    admission: Option<Admission>,
}

impl Pass {
    /// Takes the attempt back. Only for proof that no byte of it can ever leave.
    pub fn prove_unsent(mut self) {
        if let Some(admission) = self.admission.take() {
            self.gate.state().take_back(admission);
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if let Some(admission) = self.admission.take() {
            self.gate.state().mark_left(admission);
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

/// Future of [`Gate::sealed`].
#[derive(Debug)]
pub struct WaitSealed {
    gate: Gate,
    slot: Option<u64>,
}

impl Future for WaitSealed {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let state = this.gate.state();
        if state.is_sealed() {
            return Poll::Ready(());
        }
        this.slot = Some(state.sleepers().sleep(this.slot, cx.waker()));
        // Looked at again, for a seal between the first look and the registration.
        if state.is_sealed() {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for WaitSealed {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            self.gate.state().sleepers().forget(slot);
        }
    }
}
