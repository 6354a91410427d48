//! What an attempt waits for beside its client.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Sleep;
use tower_outcome_core::gate::WaitSealed;

use crate::call::Call;

/// What an attempt waits for beside its client.
pub(super) enum Until {
    // Boxed: most attempts end by themselves.
    Late(Pin<Box<Sleep>>),
    Nothing,
    /// The end of its call.
    Sealed(WaitSealed),
}

impl Until {
    pub(super) fn late(limit: Duration) -> Self {
        Self::Late(Box::pin(tokio::time::sleep(limit)))
    }

    pub(super) const fn is_late(&self) -> bool {
        matches!(self, Self::Late(_))
    }

    /// Ready once it is late; never where no limit was set.
    pub(super) fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Late(sleep) => sleep.as_mut().poll(cx),
            Self::Nothing | Self::Sealed(_) => Poll::Pending,
        }
    }

    /// Ready once `call` has ended.
    pub(super) fn poll_sealed(&mut self, call: &Call, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            match self {
                Self::Sealed(sealed) => return Pin::new(sealed).poll(cx),
                Self::Late(_) | Self::Nothing => *self = Self::Sealed(call.gate().sealed()),
            }
        }
    }
}
