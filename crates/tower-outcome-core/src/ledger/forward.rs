//! Ledgers that stand before another one.

/// Inside an `impl Ledger`: hands the named methods on to another ledger.
///
/// ```
/// use tower_outcome_core::forward_ledger;
/// use tower_outcome_core::ledger::{Answer, EntryKey, Event, Ledger, LedgerFuture, MemoryLedger};
///
/// /// Says what is applied.
/// struct Told(MemoryLedger);
///
/// impl Ledger for Told {
///     fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
///         println!("{}", event.as_str());
///         self.0.apply(key, event)
///     }
///
///     forward_ledger!(self => self.0; read unresolved due page counts purge changed encrypts
///         may_lose_writes needs_honoured_keys);
/// }
/// ```
#[macro_export]
macro_rules! forward_ledger {
    ($this:ident => $ledger:expr; $($method:ident)+) => {
        $($crate::forward_ledger!(@$method $this $ledger);)+
    };
    (@apply $this:ident $ledger:expr) => {
        fn apply<'a>(
            &'a $this,
            key: &'a $crate::ledger::EntryKey,
            event: $crate::ledger::Event,
        ) -> $crate::ledger::LedgerFuture<'a, $crate::ledger::Answer> {
            $crate::Ledger::apply(&$ledger, key, event)
        }
    };
    (@read $this:ident $ledger:expr) => {
        fn read<'a>(
            &'a $this,
            key: &'a $crate::ledger::EntryKey,
        ) -> $crate::ledger::LedgerFuture<'a, Option<$crate::ledger::Entry>> {
            $crate::Ledger::read(&$ledger, key)
        }
    };
    (@unresolved $this:ident $ledger:expr) => {
        fn unresolved(
            &$this,
            limit: usize,
        ) -> $crate::ledger::LedgerFuture<'_, $crate::ledger::Listing> {
            $crate::Ledger::unresolved(&$ledger, limit)
        }
    };
    (@due $this:ident $ledger:expr) => {
        fn due(
            &$this,
            limit: usize,
        ) -> $crate::ledger::LedgerFuture<'_, $crate::ledger::Listing> {
            $crate::Ledger::due(&$ledger, limit)
        }
    };
    (@page $this:ident $ledger:expr) => {
        fn page<'a>(
            &'a $this,
            filter: &'a $crate::ledger::Filter,
        ) -> $crate::ledger::LedgerFuture<'a, $crate::ledger::Page> {
            $crate::Ledger::page(&$ledger, filter)
        }
    };
    (@counts $this:ident $ledger:expr) => {
        fn counts(&$this) -> $crate::ledger::LedgerFuture<'_, $crate::ledger::Counts> {
            $crate::Ledger::counts(&$ledger)
        }
    };
    (@purge $this:ident $ledger:expr) => {
        fn purge(&$this, limit: usize) -> $crate::ledger::LedgerFuture<'_, usize> {
            $crate::Ledger::purge(&$ledger, limit)
        }
    };
    (@changed $this:ident $ledger:expr) => {
        fn changed<'a>(
            &'a $this,
            key: &'a $crate::ledger::EntryKey,
        ) -> $crate::ledger::Changed<'a> {
            $crate::Ledger::changed(&$ledger, key)
        }
    };
    (@$flag:ident $this:ident $ledger:expr) => {
        fn $flag(&$this) -> bool {
            $crate::Ledger::$flag(&$ledger)
        }
    };
}
