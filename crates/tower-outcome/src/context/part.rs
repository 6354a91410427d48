//! Parts of a tool call: what tells their writes apart, and until when these may leave.

use std::sync::Arc;

use tower_outcome_core::Gate;

use super::Context;

/// A part of a call.
#[derive(Clone, Default)]
pub(super) struct Part {
    /// That of a part which ends before the call does.
    gate: Option<Gate>,
    label: Option<Box<str>>,
}

impl Context {
    /// This context for one step of the handler: tells two writes to the same route apart.
    ///
    /// The label has to be the same whenever the handler runs again for the same call.
    #[must_use]
    pub fn step(&self, label: &str) -> Self {
        self.with_part(Part {
            label: Some(label.into()),
            ..self.part()
        })
    }

    /// This context for a part of the call that ends before the call does: its writes pass `gate`,
    /// a [child](Gate::child) of the call's.
    #[must_use]
    pub fn within(&self, gate: Gate) -> Self {
        self.with_part(Part {
            gate: Some(gate),
            ..self.part()
        })
    }

    /// Decides whether anything of this call, or of this part of it, can still leave.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        let gate = self.part.as_ref().and_then(|part| part.gate.as_ref());
        gate.unwrap_or(&self.shared.gate)
    }

    pub(crate) fn label(&self) -> Option<&str> {
        self.part.as_ref()?.label.as_deref()
    }

    fn part(&self) -> Part {
        self.part.as_deref().cloned().unwrap_or_default()
    }

    fn with_part(&self, part: Part) -> Self {
        Self {
            part: Some(Arc::new(part)),
            ..self.clone()
        }
    }
}
