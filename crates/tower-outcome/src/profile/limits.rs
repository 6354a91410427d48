//! Which keys a provider takes.

use tower_outcome_core::{IdempotencyKey, KeyStyle};

/// Which keys a provider takes.
#[derive(Debug)]
pub(crate) struct Limits {
    pub(crate) min: u64,
    pub(crate) max: u64,
    /// Characters and ranges such as `A-Z`; `None` for any.
    pub(crate) characters: Option<Box<str>>,
}

impl Limits {
    /// What is wrong with keys of this style, if something is.
    pub(crate) fn fault(&self, style: KeyStyle) -> Option<String> {
        // Any key does: all of a style are of one length, and differ in their digits only.
        let sample = IdempotencyKey::from_bytes([0x5a; 32]).wire(0).render(style);
        let length = sample.len() as u64;
        if length < self.min || length > self.max {
            return Some(format!(
                "makes keys of {length} characters; {} to {} are taken",
                self.min, self.max
            ));
        }
        let characters = self.characters.as_deref()?;
        let strange = sample.chars().find(|letter| !allows(characters, *letter))?;
        Some(format!("makes keys with {strange:?}, which is not taken"))
    }
}

/// Whether `letter` is among `characters`; a dash between two of them makes a range.
fn allows(characters: &str, letter: char) -> bool {
    let letters: Vec<char> = characters.chars().collect();
    let mut rest = letters.as_slice();
    loop {
        rest = match rest {
            [] => return false,
            [first, '-', last, ..] if (*first..=*last).contains(&letter) => return true,
            [_, '-', _, rest @ ..] => rest,
            [first, ..] if *first == letter => return true,
            [_, rest @ ..] => rest,
        };
    }
}
