//! Without the layers nobody keeps a record.

use http::{Request, Response};

use super::Decision;
use super::facts::Facts;

pub(super) const fn facts<B, T, E>(_: &Request<B>, _: &Result<Response<T>, E>) -> Option<Facts> {
    None
}

pub(super) const fn is_keyed<B>(_: &Request<B>) -> Option<bool> {
    None
}

pub(super) const fn is_read<B>(_: &Request<B>) -> bool {
    false
}

pub(super) const fn note<B>(_: &Request<B>, _: Decision) -> bool {
    false
}
