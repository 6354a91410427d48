//! Names that come back with every call, shared instead of copied.

use std::cell::RefCell;
use std::sync::Arc;

use crate::canonical::fast_hash;

/// The same text, and the same memory if this thread has been asked for it lately.
pub(super) fn shared(name: &str) -> Arc<str> {
    let hash = fast_hash(name.as_bytes());
    let place = usize::try_from(hash % PLACES as u64).unwrap_or_default();
    let known = RECENT.try_with(|recent| {
        let slot = &mut recent.borrow_mut()[place];
        match slot {
            Some(known) if **known == *name => Arc::clone(known),
            slot if name.len() <= LONGEST => Arc::clone(slot.insert(name.into())),
            _ => name.into(),
        }
    });
    // A thread that is ending remembers no more.
    known.unwrap_or_else(|_| name.into())
}

thread_local! {
    static RECENT: RefCell<[Option<Arc<str>>; PLACES]> = const { RefCell::new([const { None }; PLACES]) };
}

/// How many names a thread remembers.
const PLACES: usize = 32;

/// The longest name that it remembers, in bytes.
const LONGEST: usize = 512;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{LONGEST, shared};

    #[test]
    fn a_name_that_comes_back_is_shared_and_a_long_one_is_not_kept() {
        assert!(Arc::ptr_eq(&shared("refund"), &shared("refund")));
        let long = "x".repeat(LONGEST + 1);
        assert!(!Arc::ptr_eq(&shared(&long), &shared(&long)));
        for number in 0..1000 {
            let name = number.to_string();
            assert_eq!(*shared(&name), *name);
        }
    }
}
