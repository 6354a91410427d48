//! What the ledger's keys are called.
//!
//! All of them carry the prefix as their hash tag, so that they lie in one slot and one script may
//! change several of them.

use tower_outcome_core::IdempotencyKey;
use tower_outcome_core::ledger::EntryKey;

use crate::fault::Refusal;

/// The names of one ledger.
pub(crate) struct Keyspace {
    tag: String,
}

/// The sorted sets of entries.
pub(crate) struct Sets {
    /// All that are in doubt or may come to be by time alone, by when they changed last.
    pub(crate) open: String,
    /// The same ones by when they are to be looked up.
    pub(crate) due: String,
    /// All aliases, by when they were last used, or last found to lead to something.
    pub(crate) aliases: String,
}

/// The names of one entry.
pub(crate) struct Names {
    /// Where the entry is.
    pub(crate) entry: String,
    /// Where its stored result is, which lives shorter.
    pub(crate) result: String,
    /// What stands for it among the open ones.
    pub(crate) member: String,
}

impl Keyspace {
    pub(crate) fn new(prefix: &str) -> Result<Self, Refusal> {
        if prefix.is_empty() || prefix.contains(['{', '}']) {
            return Err(Refusal::new(
                "the prefix of the ledger's keys is empty or has a brace in it",
            ));
        }
        let tag = format!("{{{prefix}}}");
        Ok(Self { tag })
    }

    pub(crate) fn sets(&self) -> Sets {
        Sets {
            open: format!("{}:open", self.tag),
            due: format!("{}:due", self.tag),
            aliases: format!("{}:aliases", self.tag),
        }
    }

    /// What the names of all entries begin with.
    pub(crate) fn entries(&self) -> String {
        [&self.tag, ENTRY].concat()
    }

    /// The pattern that the names of all entries match.
    pub(crate) fn entries_pattern(&self) -> String {
        let mut pattern = String::new();
        for letter in self.entries().chars() {
            if matches!(letter, '*' | '?' | '[' | ']' | '\\') {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
        pattern + "*"
    }

    pub(crate) fn names(&self, key: &EntryKey) -> Names {
        // The scope may hold anything, so it comes last.
        self.names_of([&hex_key(&key.key), ":", &*key.scope].concat())
    }

    /// The names that belong to a member as the server has it, which may be anything.
    pub(crate) fn names_found(&self, member: Vec<u8>) -> Names {
        let text = String::from_utf8(member);
        // What is no text is no entry's name, and neither are its digits.
        self.names_of(text.unwrap_or_else(|error| hex(error.as_bytes())))
    }

    fn names_of(&self, member: String) -> Names {
        let named = |kind: &str| [&self.tag, kind, &member].concat();
        Names {
            entry: named(ENTRY),
            result: named(":result:"),
            member,
        }
    }
}

impl Names {
    /// The entry that the names are of, or what it is called where no ledger has given such a name.
    pub(crate) fn key(&self) -> Result<EntryKey, EntryKey> {
        let (digits, scope) = self.member.split_once(':').unwrap_or((&self.member, ""));
        match unhex_key(digits) {
            Some(key) if digits.len() < self.member.len() => Ok(EntryKey {
                scope: scope.into(),
                key,
            }),
            _ => Err(EntryKey::resembling(scope, digits.as_bytes())),
        }
    }
}

/// Every byte as two digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut digits = Vec::with_capacity(2 * bytes.len());
    for byte in bytes {
        let halves = [byte >> 4, byte & 0x0f].map(usize::from);
        digits.extend(halves.map(|half| b"0123456789abcdef"[half]));
    }
    String::from_utf8(digits).unwrap_or_default()
}

/// Reads what [`hex`] wrote of 16 bytes.
pub(crate) fn unhex(digits: &str) -> Option<[u8; 16]> {
    let written = digits.len() == 32 && digits.bytes().all(|it| it.is_ascii_hexdigit());
    let number = u128::from_str_radix(digits, 16).ok().filter(|_| written)?;
    Some(number.to_be_bytes())
}

/// All digits of a key.
pub(crate) fn hex_key(key: &IdempotencyKey) -> String {
    hex(key.as_bytes())
}

/// Reads what [`hex_key`] wrote.
pub(crate) fn unhex_key(digits: &str) -> Option<IdempotencyKey> {
    let (high, low) = digits.split_at_checked(32)?;
    let halves = [unhex(high)?, unhex(low)?].concat();
    Some(IdempotencyKey::from_bytes(halves.try_into().ok()?))
}

/// What stands between the tag and the member of an entry.
const ENTRY: &str = ":entry:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_entry_whatever_the_scope_holds() {
        let keyspace = Keyspace::new("ledger").unwrap();
        for scope in ["acme", "", "a:b", "{other}:entry:", "\n\u{1f9fe}"] {
            let key = EntryKey {
                scope: scope.into(),
                key: IdempotencyKey::from_bytes([0x0a; 32]),
            };
            let names = keyspace.names(&key);
            assert!(names.entry.starts_with("{ledger}:entry:0a0a"));
            assert_eq!(keyspace.names_of(names.member).key(), Ok(key));
        }
    }

    #[test]
    fn a_name_that_no_ledger_has_given_is_no_entry_s() {
        let keyspace = Keyspace::new("ledger").unwrap();
        let digits = "0a".repeat(32);
        for member in [
            "",
            "0a",
            ":acme",
            "0a:acme",
            &digits,
            &format!("{digits}0a:acme"),
        ] {
            assert!(
                keyspace.names_of(member.to_owned()).key().is_err(),
                "{member}"
            );
        }
        let no_text = [digits.as_bytes(), b":\xff"].concat();
        assert!(keyspace.names_found(no_text).key().is_err());
    }

    #[test]
    fn a_prefix_that_would_move_the_hash_tag_is_refused() {
        for prefix in ["", "{a", "a}b"] {
            assert!(Keyspace::new(prefix).is_err(), "{prefix}");
        }
    }
}
