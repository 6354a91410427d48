//! From arguments to a key.

use std::cell::RefCell;

use serde_json::Value;

use super::members::Members;
use super::plan::Plan;
use super::{Intent, Origin, names};
use crate::canonical::{Memory, Writer, text};
use crate::key::{KeyHasher, hasher};
use crate::{Error, Fingerprint};

/// Arguments as they came.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    Text(&'a str),
    Value(&'a Value),
}

/// The intent of `[scope, tool, version of the rules]` and the arguments.
pub(super) fn derive(
    names: [&str; 3],
    source: Source<'_>,
    plan: &Plan,
    hasher: &KeyHasher,
) -> Result<Intent, Error> {
    let derived = MEMORY.try_with(|kept| {
        let mut memory = kept.try_borrow_mut().ok()?;
        // Whoever had it before may have panicked.
        memory.clear();
        let intent = derive_in(&mut memory, names, source, plan, hasher);
        memory.clear();
        Some(intent)
    });
    // A thread that is ending has no memory to keep.
    let kept = derived.ok().flatten();
    kept.unwrap_or_else(|| derive_in(&mut Memory::default(), names, source, plan, hasher))
}

fn derive_in(
    memory: &mut Memory,
    names: [&str; 3],
    source: Source<'_>,
    plan: &Plan,
    hasher: &KeyHasher,
) -> Result<Intent, Error> {
    let [scope, tool, version] = names;
    super::refuse_empty(scope, tool)?;
    // All parts of the key lie in one buffer behind their lengths, to be hashed at once.
    memory.out.extend_from_slice(BEGINNING);
    for part in [scope, tool, version] {
        memory.out.extend_from_slice(&hasher::length(part.len()));
        memory.out.extend_from_slice(part.as_bytes());
    }
    memory.out.extend_from_slice(&hasher::length(0));
    let start = memory.out.len();

    let mut writer = Writer::new(memory, plan, hasher, true);
    match source {
        Source::Text(text) => text::read(text, &mut writer)?,
        Source::Value(value) => writer.value(value)?,
    }
    if memory.out.get(start) != Some(&b'{') {
        return Err(Error::invalid("", "the arguments are no JSON object"));
    }
    let length = hasher::length(memory.out.len() - start);
    memory.out[start - length.len()..start].copy_from_slice(&length);

    let origin = Origin::Arguments {
        members: Members::of(memory),
        version: names::shared(names::Kind::Version, version),
    };
    let fingerprint = memory
        .matched
        .drain(..)
        .fold(Fingerprint::default(), |all, (pointer, hash)| {
            all.with_hash(&pointer, &hash)
        });
    let base = hasher.framed(&memory.out);
    Ok(Intent::make([scope, tool], base, origin, fingerprint))
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// What the hash is for, and the version of how a key is made of its parts: `tower-outcome/key` and
/// `1`, each behind its length.
const BEGINNING: &[u8] = b"\0\0\0\0\0\0\0\x11tower-outcome/key\0\0\0\0\0\0\0\x011";
