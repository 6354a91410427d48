//! How things are measured, and what was.
//!
//! Counts (allocations, instructions, what a server or the system counted) are the same on every
//! run, to within a part in a hundred, whatever else the machine does: they can be limits. Time is
//! only told as a share of what something else took in the same process, in turns.

use std::collections::BTreeMap;

pub(crate) mod allocations;
pub(crate) mod instructions;
pub(crate) mod wall;

/// Something that can be done over and over.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Makes it ready.
    pub(crate) prepare: fn() -> Run,
}

/// Does it as often as it is told.
pub(crate) type Run = Box<dyn FnMut(u32)>;

/// What was measured: for each case, by the name of the unit.
#[derive(Default)]
pub(crate) struct Measured(BTreeMap<String, BTreeMap<&'static str, f64>>);

impl Measured {
    pub(crate) fn note(&mut self, case: &str, unit: &'static str, value: f64) {
        let figures = self.0.entry(case.to_owned()).or_default();
        figures.insert(unit, value);
    }

    pub(crate) fn value(&self, case: &str, unit: &str) -> Option<f64> {
        self.0.get(case)?.get(unit).copied()
    }

    /// Everything, in the order of the names.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &BTreeMap<&'static str, f64>)> {
        self.0.iter().map(|(case, figures)| (&**case, figures))
    }
}

/// For ratios, which need no more than its 53 bits.
#[expect(clippy::cast_precision_loss, reason = "no count here comes near 2^53")]
pub(crate) fn real(count: u64) -> f64 {
    count as f64
}

/// How often a case is done before it is counted, so that buffers have grown and tables exist.
pub(crate) const WARM_UP: u32 = 100;

/// How often it is done while it is counted.
pub(crate) const TIMES: u32 = 1000;
