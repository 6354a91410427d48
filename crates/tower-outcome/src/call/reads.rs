//! Which requests change nothing.

use http::Request;

use crate::profile::is_read;

/// Whether the request is known to read: by its method, or because the outermost layer asked the
/// profile of its route.
pub(crate) fn reads<B>(request: &Request<B>) -> bool {
    is_read(request.method()) || is_marked(request)
}

/// Whether its method says that it reads, and nobody above has put anything into the request that
/// could say otherwise: all that most reads have to be asked.
#[inline]
pub(crate) fn is_plain_read<B>(request: &Request<B>) -> bool {
    is_read(request.method()) && request.extensions().is_empty()
}

/// Whether the profile says that it reads, where its method does not.
pub(crate) fn is_marked<B>(request: &Request<B>) -> bool {
    request.extensions().get::<Reads>().is_some()
}

/// Has the layers below know that the request reads, where its method does not say so.
pub(super) fn mark<B>(request: &mut Request<B>) {
    if !is_read(request.method()) {
        request.extensions_mut().insert(Reads);
    }
}

/// Marks a request that reads although its method does not say so.
#[derive(Clone, Copy)]
struct Reads;
