//! Without the layers nobody keeps a record.

use http::{Request, Response};

use super::Decision;
use super::facts::Facts;

/// No record.
pub(super) enum None {}

pub(super) type Record = None;

pub(super) const fn of<B>(_: &Request<B>) -> Option<&None> {
    Option::None
}

pub(super) fn facts<T, E>(record: &None, _: &Result<Response<T>, E>) -> Facts {
    match *record {}
}

pub(super) const fn is_done(record: &None) -> bool {
    match *record {}
}

pub(super) const fn is_keyed<B>(_: &Request<B>) -> Option<bool> {
    Option::None
}

pub(super) const fn is_read<B>(_: &Request<B>) -> bool {
    false
}

pub(super) const fn note(record: &None, _: Decision) {
    match *record {}
}
