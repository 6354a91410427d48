//! Writes canonical JSON from a stream of events, each value as the plan for its place says.
//!
//! Everything is written straight to its place and taken back where it turns out not to count, so
//! that a value costs one pass and, its [`Memory`] being kept, no allocation.

use serde_json::{Map, Value};

use super::memory::{Fate, Frame, Kind, Member, Memory, fast_hash};
use super::{Number, plain, push_token, string};
use crate::Error;
use crate::fingerprint;
use crate::intent::plan::{Plan, Slot};
use crate::intent::rule::{Scalar, ValueRule};
use crate::key::KeyHasher;

/// Takes the events of one value.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    memory: &'a mut Memory,
    plan: &'a Plan,
    hasher: &'a KeyHasher,
    exact: bool,
    /// The place of the member whose name was just written; none if it does not count.
    next: Option<Slot>,
    /// How many open objects and arrays do not count.
    muted: usize,
}

impl<'a> Writer<'a> {
    /// Appends to `memory`; an `exact` one refuses what RFC 8785 would merge.
    pub(crate) fn new(
        memory: &'a mut Memory,
        plan: &'a Plan,
        hasher: &'a KeyHasher,
        exact: bool,
    ) -> Self {
        Self {
            memory,
            plan,
            hasher,
            exact,
            next: None,
            muted: 0,
        }
    }

    /// Lends a reader the room for a string.
    pub(crate) fn take_decoded(&mut self) -> String {
        std::mem::take(&mut self.memory.decoded)
    }

    pub(crate) fn keep_decoded(&mut self, decoded: String) {
        self.memory.decoded = decoded;
    }

    /// Writes a whole value.
    pub(crate) fn value(&mut self, value: &Value) -> Result<(), Error> {
        match value {
            Value::Null => self.null(),
            Value::Bool(value) => self.boolean(*value),
            Value::Number(number) => self.number(number.into()),
            Value::String(text) => self.string(text),
            Value::Array(_) | Value::Object(_) if self.is_plain() => self.plain(value),
            Value::Object(members) if self.memory.frames.is_empty() && self.plan.is_empty() => {
                self.outermost(members)
            }
            Value::Array(elements) => {
                self.begin_array()?;
                for element in elements {
                    self.value(element)?;
                }
                self.end_array();
                Ok(())
            }
            Value::Object(members) => {
                self.begin_object()?;
                for (name, value) in members {
                    self.key(name);
                    self.value(value)?;
                }
                self.end_object()
            }
        }
    }

    /// Whether the plan has nothing to say about the value that comes next, nor below it.
    fn is_plain(&self) -> bool {
        let slot = match self.memory.frames.last() {
            Some(Frame {
                kind: Kind::Object, ..
            }) => self.next,
            Some(frame) => Some(frame.slot),
            None => None,
        };
        slot.is_some_and(|slot| self.plan.is_silent_below(slot))
    }

    fn plain(&mut self, value: &Value) -> Result<(), Error> {
        let Some(slot) = self.open() else {
            return Ok(());
        };
        let memory = &mut *self.memory;
        plain::write(&mut memory.out, value, self.exact, memory.frames.len()).map_err(
            |refusal| Error::invalid(self.memory.pointer() + &refusal.pointer, refusal.reason),
        )?;
        self.close(slot);
        Ok(())
    }

    /// Writes the outermost object where nothing is declared.
    fn outermost(&mut self, members: &Map<String, Value>) -> Result<(), Error> {
        let Memory {
            out, names, top, ..
        } = &mut *self.memory;
        let note = |name: &str, body: &[u8]| {
            names.push('/');
            let start = names.len();
            names.push_str(name);
            top.push((start..names.len(), fast_hash(body)));
        };
        plain::write_object(out, members, self.exact, 0, note)
            .map_err(|refusal| Error::invalid(refusal.pointer, refusal.reason))?;
        self.memory.are_pointers = true;
        Ok(())
    }

    pub(crate) fn null(&mut self) -> Result<(), Error> {
        let Some(slot) = self.open() else {
            return Ok(());
        };
        match self.memory.frames.last() {
            None if self.plan.null_is_absent => {
                self.begin_object()?;
                return self.end_object();
            }
            Some(Frame {
                kind: Kind::Object, ..
            }) => {
                if let Some(default) = self.plan.default_at(slot) {
                    self.next = Some(slot);
                    return self.value(default);
                }
            }
            _ => {}
        }
        self.memory.out.extend_from_slice(b"null");
        self.close(slot);
        Ok(())
    }

    pub(crate) fn boolean(&mut self, value: bool) -> Result<(), Error> {
        self.scalar(Scalar::Boolean(value))
    }

    pub(crate) fn number(&mut self, number: Number<'_>) -> Result<(), Error> {
        self.scalar(Scalar::Number(number))
    }

    pub(crate) fn string(&mut self, text: &str) -> Result<(), Error> {
        self.scalar(Scalar::Text(text.into()))
    }

    fn scalar(&mut self, mut scalar: Scalar<'_>) -> Result<(), Error> {
        let Some(slot) = self.open() else {
            return Ok(());
        };
        if let Some(rule) = self.plan.rule_at(slot) {
            scalar = rule.apply(scalar).map_err(|reason| self.refuse(reason))?;
        }
        let out = &mut self.memory.out;
        match scalar {
            Scalar::Boolean(true) => out.extend_from_slice(b"true"),
            Scalar::Boolean(false) => out.extend_from_slice(b"false"),
            Scalar::Number(number) => {
                if let Err(reason) = number.write(out, self.exact) {
                    return Err(self.refuse(reason.to_owned()));
                }
            }
            Scalar::Text(text) => string::write(out, &text),
            Scalar::Decimal(digits) => out.extend_from_slice(digits.as_bytes()),
        }
        self.close(slot);
        Ok(())
    }

    pub(crate) fn begin_array(&mut self) -> Result<(), Error> {
        self.begin(b'[', "an array", |rule| {
            Kind::Array(rule.and_then(ValueRule::order))
        })
    }

    pub(crate) fn begin_object(&mut self) -> Result<(), Error> {
        self.begin(b'{', "an object", |_| Kind::Object)
    }

    fn begin(
        &mut self,
        bracket: u8,
        what: &str,
        kind: impl Fn(Option<&ValueRule>) -> Kind,
    ) -> Result<(), Error> {
        if self.memory.frames.len() + self.muted >= DEPTH {
            return Err(self.refuse("is nested too deep".to_owned()));
        }
        let Some(slot) = self.open() else {
            self.muted += 1;
            return Ok(());
        };
        let rule = self.plan.rule_at(slot);
        if let Some(name) = rule.and_then(ValueRule::scalars_only) {
            return Err(self.refuse(format!("the rule {name} does not take {what}")));
        }
        let memory = &mut *self.memory;
        memory.out.push(bracket);
        memory.frames.push(Frame {
            kind: kind(rule),
            slot,
            body: memory.out.len(),
            members: memory.members.len(),
            elements: 0,
            start: memory.out.len(),
            value: memory.out.len(),
        });
        Ok(())
    }

    pub(crate) fn end_array(&mut self) {
        if self.muted > 0 {
            self.muted -= 1;
            return;
        }
        let Some(frame) = self.memory.frames.pop() else {
            return;
        };
        if let Kind::Array(Some(order)) = frame.kind {
            self.memory.sort_elements(&frame, order);
        }
        self.memory.members.truncate(frame.members);
        self.memory.out.push(b']');
        self.close(frame.slot);
    }

    pub(crate) fn key(&mut self, name: &str) {
        if self.muted > 0 {
            return;
        }
        let memory = &mut *self.memory;
        let Some(frame) = memory.frames.last_mut() else {
            return;
        };
        let start = memory.names.len();
        memory.names.push_str(name);
        memory.members.push(Member {
            name: start..memory.names.len(),
            body: 0..0,
            fate: Fate::Taken,
        });
        self.next = self.plan.child(frame.slot, name);
        if self.next.is_some() {
            if memory.out.len() > frame.body {
                memory.out.push(b',');
            }
            frame.start = memory.out.len();
            string::write(&mut memory.out, name);
            memory.out.push(b':');
            frame.value = memory.out.len();
        }
    }

    pub(crate) fn end_object(&mut self) -> Result<(), Error> {
        if self.muted > 0 {
            self.muted -= 1;
            return Ok(());
        }
        self.fill_defaults()?;
        let Some(frame) = self.memory.frames.pop() else {
            return Ok(());
        };
        if let Err(name) = self.memory.sort_members(&frame) {
            let name = self.memory.names[name].to_owned();
            let pointer = push_token(self.memory.pointer(), &name);
            return Err(Error::invalid(pointer, "stands twice in one object"));
        }
        if self.memory.frames.is_empty() {
            self.memory.note_top(&frame);
        }
        self.memory.rebuild(&frame);
        self.memory.members.truncate(frame.members);
        self.memory.out.push(b'}');
        self.close(frame.slot);
        Ok(())
    }

    /// Writes the members that are absent and have a default.
    fn fill_defaults(&mut self) -> Result<(), Error> {
        let Some(frame) = self.memory.frames.last() else {
            return Ok(());
        };
        let (plan, first) = (self.plan, frame.members);
        for (name, default) in plan.defaults(frame.slot) {
            let Memory { members, names, .. } = &mut *self.memory;
            match members[first..]
                .iter()
                .position(|member| names[member.name.clone()] == *name)
            {
                Some(at) if members[first + at].fate == Fate::Absent => {
                    members.remove(first + at);
                }
                Some(_) => continue,
                None => {}
            }
            self.key(name);
            self.value(default)?;
        }
        Ok(())
    }

    /// The place of the value that comes now, if it counts.
    fn open(&mut self) -> Option<Slot> {
        if self.muted > 0 {
            return None;
        }
        let memory = &mut *self.memory;
        let Some(frame) = memory.frames.last_mut() else {
            return Some(Slot::ROOT);
        };
        if frame.kind == Kind::Object {
            return self.next.take();
        }
        frame.elements += 1;
        let slot = self.plan.element(frame.slot, frame.elements - 1)?;
        if memory.out.len() > frame.body {
            memory.out.push(b',');
        }
        frame.start = memory.out.len();
        frame.value = frame.start;
        Some(slot)
    }

    /// Decides what becomes of the value that was just written.
    fn close(&mut self, slot: Slot) {
        let Some(frame) = self.memory.frames.last() else {
            return;
        };
        let (kind, start, body) = (frame.kind, frame.start, frame.body);
        let value = &self.memory.out[frame.value..];
        let fate = if kind == Kind::Object && self.plan.is_absent(slot, value) {
            Fate::Absent
        } else if self.plan.must_match(slot) {
            let pointer = self.memory.pointer();
            let hash = fingerprint::hash(self.hasher, &pointer, value);
            self.memory.matched.push((pointer, hash));
            Fate::Taken
        } else {
            Fate::Kept
        };
        let Memory { out, members, .. } = &mut *self.memory;
        let end = out.len();
        if fate != Fate::Kept {
            out.truncate(start - usize::from(start > body));
        }
        match (kind, members.last_mut()) {
            (Kind::Object, Some(member)) => {
                member.body = start..end;
                member.fate = fate;
            }
            (Kind::Array(Some(_)), _) if fate == Fate::Kept => members.push(Member {
                name: 0..0,
                body: start..end,
                fate,
            }),
            _ => {}
        }
    }

    fn refuse(&self, reason: String) -> Error {
        Error::invalid(self.memory.pointer(), reason)
    }
}

/// How deep a value may be nested, as in `serde_json`.
pub(super) const DEPTH: usize = 127;
