//! Finds an entry by the beginning of its key, as lists and logs show it.

use tower_outcome_core::IdempotencyKey;
use tower_outcome_core::ledger::{Entry, EntryKey, Filter};

use super::{Operator, OperatorError};

impl Operator {
    /// The one entry of `scope` (or of any, if that is `None`) whose key begins with these hex
    /// digits. Reads one entry where scope and key are whole, and goes through the ledger where they
    /// are not.
    ///
    /// # Errors
    ///
    /// [`OperatorError`] where there is none or more than one, where there are fewer than
    /// [`SHORTEST_KEY`] digits, and where the ledger could not be asked.
    pub async fn find(&self, scope: Option<&str>, digits: &str) -> Result<Entry, OperatorError> {
        if digits.len() < SHORTEST_KEY {
            return Err(OperatorError::too_short());
        }
        if let (Some(scope), Some(key)) = (scope, whole(digits)) {
            let scope = scope.into();
            return self.show(&EntryKey { scope, key }).await;
        }
        let mut filter = Filter {
            scope: scope.map(Into::into),
            ..Filter::new(PAGE)
        };
        let mut found = None;
        loop {
            let page = self.list(&filter).await?;
            let keys = page.entries.into_iter().map(|entry| entry.key);
            let keys = keys.chain(page.unreadable);
            for key in keys.filter(|key| hex(&key.key).starts_with(digits)) {
                if found.replace(key).is_some() {
                    return Err(OperatorError::ambiguous());
                }
            }
            match page.next {
                Some(next) => filter.after = Some(next),
                None => {
                    let found = found.ok_or_else(OperatorError::not_found)?;
                    return self.show(&found).await;
                }
            }
        }
    }
}

/// All digits of a key.
fn hex(key: &IdempotencyKey) -> String {
    let digits = key.as_bytes().iter().map(|byte| format!("{byte:02x}"));
    digits.collect()
}

/// A key of which all digits are given.
fn whole(digits: &str) -> Option<IdempotencyKey> {
    let mut bytes = [0; 32];
    if digits.len() != 2 * bytes.len() || !digits.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(IdempotencyKey::from_bytes(bytes))
}

/// How many digits of a key are shown in lists and logs, and have to be given at least.
pub const SHORTEST_KEY: usize = 8;

const PAGE: usize = 500;
