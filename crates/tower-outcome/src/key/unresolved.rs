//! The writes of this process of which nobody knows what became of them.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use tower_outcome_core::Code;

use crate::Error;
use crate::call::{Call, REFUSED_REPEAT};

/// Writes whose key no provider and no ledger looks after, by route and key.
#[derive(Default)]
pub(super) struct Unresolved {
    calls: Mutex<HashMap<Box<str>, Call>>,
}

impl Unresolved {
    /// Remembers `call`, unless the same write is unresolved already.
    pub(super) fn admit(&self, call: &Call) -> Result<(), Error> {
        if !call.has_key() || call.is_keyed() || call.is_claimed() {
            return Ok(());
        }
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.get(call.label()).is_some_and(Call::is_unresolved) {
            return Err(Error::new(Code::StillConfirming).with_detail(REFUSED_REPEAT));
        }
        if calls.len() >= MAX_UNRESOLVED {
            calls.retain(|_, call| call.is_unresolved());
        }
        if calls.len() >= MAX_UNRESOLVED {
            tracing::warn!("too many unresolved writes: a repeat of this one would not be noticed");
            return Ok(());
        }
        calls.insert(call.label().into(), call.clone());
        Ok(())
    }
}

impl fmt::Debug for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unresolved").finish_non_exhaustive()
    }
}

/// How many unresolved keys are remembered. Beyond that, repeats of further ones go unnoticed.
pub const MAX_UNRESOLVED: usize = 10_000;
