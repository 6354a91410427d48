//! What a writer remembers of the objects and arrays that are open, and how it puts them in order.

use std::ops::Range;

use super::order;
use super::pointer::push_token;
use crate::intent::plan::{Order, Slot};

/// What a writer needs, kept from one value to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// The canonical text.
    pub(crate) out: Vec<u8>,
    /// The members of the outermost object that count: name and a hash for use in this process.
    pub(crate) top: Vec<(Range<usize>, u64)>,
    /// The fields that must match: pointer and hash.
    pub(crate) matched: Vec<(String, [u8; 32])>,
    /// The names of all members.
    pub(crate) names: String,
    /// Whether the names are those of the outermost members that count, each behind a slash.
    pub(crate) are_pointers: bool,
    /// The members of all open objects.
    pub(super) members: Vec<Member>,
    pub(super) frames: Vec<Frame>,
    /// Room for a reader's strings.
    pub(crate) decoded: String,
    spare: Vec<u8>,
}

impl Memory {
    /// Forgets what was written, and the room for it where that was unusually large.
    pub(crate) fn clear(&mut self) {
        self.out.clear();
        self.top.clear();
        self.matched.clear();
        self.names.clear();
        self.are_pointers = false;
        self.members.clear();
        self.frames.clear();
        self.spare.clear();
        self.decoded.clear();
        self.out.shrink_to(KEPT);
        self.top.shrink_to(KEPT_MEMBERS);
        self.names.shrink_to(KEPT);
        self.members.shrink_to(KEPT_MEMBERS);
        self.spare.shrink_to(KEPT);
        self.decoded.shrink_to(KEPT);
    }
}

/// A member of an object, or an element of an array whose order does not count.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: Range<usize>,
    pub(super) body: Range<usize>,
    pub(super) fate: Fate,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fate {
    /// Counts as if it were not there.
    Absent,
    /// Stands in the text.
    Kept,
    /// Ignored, or moved to the fields that must match.
    Taken,
}

/// An object or array that is being written.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    pub(super) slot: Slot,
    pub(super) body: usize,
    pub(super) members: usize,
    pub(super) elements: usize,
    /// Where the current member or element starts, and its value.
    pub(super) start: usize,
    pub(super) value: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Array(Option<Order>),
    Object,
}

impl Memory {
    /// Where a writer stands, as a JSON pointer (RFC 6901).
    pub(super) fn pointer(&self) -> String {
        let Memory {
            frames,
            members,
            names,
            ..
        } = self;
        let mut ends = frames.iter().skip(1).map(|frame| frame.members);
        frames.iter().fold(String::new(), |pointer, frame| {
            let end = ends.next().unwrap_or(members.len());
            match frame.kind {
                Kind::Array(_) => format!("{pointer}/{}", frame.elements.saturating_sub(1)),
                Kind::Object => match members[frame.members..end].last() {
                    Some(member) => push_token(pointer, &names[member.name.clone()]),
                    None => pointer,
                },
            }
        })
    }

    /// Puts the members of an object in order, or names the one that stands twice.
    pub(super) fn sort_members(&mut self, frame: &Frame) -> Result<(), Range<usize>> {
        let Self { members, names, .. } = self;
        let members = &mut members[frame.members..];
        let compare =
            |a: &Member, b: &Member| order::compare(&names[a.name.clone()], &names[b.name.clone()]);
        if !members.is_sorted_by(|a, b| compare(a, b).is_lt()) {
            members.sort_unstable_by(compare);
            if let Some(pair) = members
                .windows(2)
                .find(|pair| compare(&pair[0], &pair[1]).is_eq())
            {
                return Err(pair[1].name.clone());
            }
        }
        Ok(())
    }

    /// Puts the elements of an array in the order of their bytes.
    pub(super) fn sort_elements(&mut self, frame: &Frame, order: Order) {
        let Self { members, out, .. } = self;
        let elements = &mut members[frame.members..];
        elements.sort_unstable_by(|a, b| out[a.body.clone()].cmp(&out[b.body.clone()]));
        if order == Order::Set {
            for at in 1..elements.len() {
                if out[elements[at].body.clone()] == out[elements[at - 1].body.clone()] {
                    elements[at].fate = Fate::Taken;
                }
            }
        }
        self.rebuild(frame);
    }

    /// Writes an object or array anew if its members do not stand in the order of the list.
    pub(super) fn rebuild(&mut self, frame: &Frame) {
        let Self {
            members,
            out,
            spare,
            ..
        } = self;
        let kept = || {
            let members = members[frame.members..].iter();
            members.filter(|member| member.fate == Fate::Kept)
        };
        let length: usize = kept().map(|member| member.body.len() + 1).sum();
        let in_place = out.len() + 1 == frame.body + length.max(1);
        if in_place && kept().is_sorted_by_key(|member| member.body.start) {
            return;
        }
        spare.clear();
        for member in kept() {
            if !spare.is_empty() {
                spare.push(b',');
            }
            spare.extend_from_slice(&out[member.body.clone()]);
        }
        out.truncate(frame.body);
        out.extend_from_slice(spare);
    }

    /// Notes the members of the outermost object, which must still stand where they were written.
    pub(super) fn note_top(&mut self, frame: &Frame) {
        for member in &self.members[frame.members..] {
            if member.fate == Fate::Kept {
                let body = &self.out[member.body.clone()];
                self.top.push((member.name.clone(), fast_hash(body)));
            }
        }
    }
}

/// A hash for use in this process, where nobody gains by making two values meet.
pub(crate) fn fast_hash(bytes: &[u8]) -> u64 {
    let last = match bytes.last_chunk() {
        // Some bytes of it twice, which costs less than to take the rest alone.
        Some(last) => u64::from_le_bytes(*last),
        None => bytes
            .iter()
            .fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    let words = bytes
        .as_chunks()
        .0
        .iter()
        .map(|word| u64::from_le_bytes(*word));
    words.chain([last]).fold(bytes.len() as u64, |hash, word| {
        (hash ^ word).wrapping_mul(GOLDEN).rotate_left(32)
    })
}

/// 2^64 by the golden ratio: an odd number whose bits look like chance.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// How many bytes of room are kept between two values.
const KEPT: usize = 64 * 1024;

/// For how many members room is kept.
const KEPT_MEMBERS: usize = 4 * 1024;
