//! Heap allocations of the thread that measures.

use super::{Case, Measured, TIMES, WARM_UP, real};

/// Counts what each case allocates each time.
pub(crate) fn count(cases: &[Case], measured: &mut Measured) {
    for case in cases {
        let mut run = (case.prepare)();
        run(WARM_UP);
        let counted = allocation_counter::measure(|| run(TIMES));
        let each = |total: u64| real(total) / f64::from(TIMES);
        measured.note(case.name, "allocations", each(counted.count_total));
        measured.note(case.name, "bytes", each(counted.bytes_total));
    }
}

/// How many bytes are alive after `make`, as long as what it made is.
pub(crate) fn alive<T>(make: impl FnOnce() -> T) -> (T, f64) {
    let mut result = None;
    let counted = allocation_counter::measure(|| result = Some(make()));
    let bytes = u64::try_from(counted.bytes_current).unwrap_or_default();
    (result.expect("it was just made"), real(bytes))
}
