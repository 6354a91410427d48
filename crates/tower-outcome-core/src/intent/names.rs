//! Names that come back with every call, shared instead of copied.

use std::cell::RefCell;
use std::sync::Arc;

/// What is named. One kind of names does not displace another.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Members,
    Scope,
    Tool,
    Version,
}

/// The same text, and the same memory if this thread has been asked for it lately.
pub(super) fn shared(kind: Kind, name: &str) -> Arc<str> {
    let place = kind as usize * OF_A_KIND + place(name.as_bytes());
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

/// Where a name is remembered among those of its kind.
fn place(name: &[u8]) -> usize {
    let ends = [name.first(), name.last()].map(|end| usize::from(end.copied().unwrap_or_default()));
    (7 * name.len() + ends[0] + 3 * ends[1]) % OF_A_KIND
}

thread_local! {
    static RECENT: RefCell<[Option<Arc<str>>; PLACES]> = const { RefCell::new([const { None }; PLACES]) };
}

/// How many names of a kind a thread remembers.
const OF_A_KIND: usize = 16;

/// How many it remembers at all.
const PLACES: usize = 4 * OF_A_KIND;

/// The longest name that it remembers, in bytes.
const LONGEST: usize = 512;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Kind, LONGEST, shared};

    #[test]
    fn a_name_that_comes_back_is_shared_and_a_long_one_is_not_kept() {
        let tool = |name: &str| shared(Kind::Tool, name);
        assert!(Arc::ptr_eq(&tool("refund"), &tool("refund")));
        let long = "x".repeat(LONGEST + 1);
        assert!(!Arc::ptr_eq(&tool(&long), &tool(&long)));
        for number in 0..1000 {
            let name = number.to_string();
            assert_eq!(*tool(&name), *name);
        }
    }

    #[test]
    fn names_of_other_kinds_displace_none() {
        let kinds = [Kind::Members, Kind::Scope, Kind::Tool, Kind::Version];
        let named = || kinds.map(|kind| shared(kind, "refund"));
        let (once, again) = (named(), named());
        assert!(
            once.iter()
                .zip(&again)
                .all(|(one, other)| Arc::ptr_eq(one, other))
        );
        for number in 0..1000 {
            shared(Kind::Scope, &number.to_string());
        }
        assert!(Arc::ptr_eq(&once[2], &shared(Kind::Tool, "refund")));
    }
}
