//! The memory of intents that are gone, for those to come.

use std::cell::RefCell;
use std::sync::Arc;

use super::{Inner, Origin};
use crate::Fingerprint;

/// Shares an intent, in memory that this thread has left over if there is any.
pub(super) fn shared(inner: Inner) -> Arc<Inner> {
    // A thread that is ending has none left.
    let spare = SPARE.try_with(|spare| spare.borrow_mut().pop());
    if let Ok(Some(mut spare)) = spare
        && let Some(room) = Arc::get_mut(&mut spare)
    {
        *room = inner;
        return spare;
    }
    Arc::new(inner)
}

/// Keeps the memory of an intent that nobody shares any more. What it held is let go.
pub(super) fn keep(inner: &mut Arc<Inner>) {
    if Arc::strong_count(inner) > 1 {
        return;
    }
    let Some(gone) = Arc::get_mut(inner) else {
        return;
    };
    gone.scope = Arc::default();
    gone.tool = Arc::default();
    gone.origin = Origin::Explicit;
    gone.fingerprint = Fingerprint::none();
    gone.successor = None;
    let _ended = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        if spare.len() < MOST {
            spare.push(Arc::clone(inner));
        }
    });
}

thread_local! {
    static SPARE: RefCell<Vec<Arc<Inner>>> = RefCell::new(Vec::with_capacity(MOST));
}

/// As many as a thread makes before the first of them are gone, where it has much to do.
const MOST: usize = 32;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{MOST, SPARE};
    use crate::{Intent, IntentRules};

    fn intent(order: usize) -> Intent {
        let rules = IntentRules::new("refund").with_version("2");
        let rules = rules.succeeding(IntentRules::new("refund").with_version("1"));
        rules.intent("acme", &json!({ "order": order })).unwrap()
    }

    #[test]
    fn the_memory_of_an_intent_is_used_again_once_nobody_has_it() {
        let one = intent(1);
        let (place, clone) = (Arc::as_ptr(&one.inner), one.clone());
        drop(one);
        assert_ne!(Arc::as_ptr(&intent(2).inner), place, "a clone still has it");
        assert_eq!(clone.key(), intent(1).key());
        drop(clone);
        let next: Vec<_> = (0..MOST).map(intent).collect();
        assert!(next.iter().any(|next| {
            let versions = next.versions();
            versions
                .map(|it| Arc::as_ptr(&it.inner))
                .any(|it| it == place)
        }));
    }

    #[test]
    fn of_an_intent_that_is_gone_nothing_is_kept_but_the_room() {
        drop((0..10 * MOST).map(intent).collect::<Vec<_>>());
        SPARE.with_borrow(|spare| {
            assert_eq!(spare.len(), MOST);
            for inner in spare {
                assert_eq!((&*inner.scope, &*inner.tool), ("", ""));
                assert!(inner.successor.is_none() && inner.fingerprint.is_empty());
            }
        });
    }
}
