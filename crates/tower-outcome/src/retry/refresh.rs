//! New credentials for a request that was refused for its old ones.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderMap, HeaderName, Request};

/// Fetches new credentials.
#[derive(Clone)]
pub(super) struct Refresh(Arc<Fetch>);

type Fetch = dyn Fn() -> Fetching + Send + Sync;
type Fetching = Pin<Box<dyn Future<Output = HeaderMap> + Send>>;

impl Refresh {
    pub(super) fn new<F>(fetch: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = HeaderMap> + Send + 'static,
    {
        Self(Arc::new(move || Box::pin(fetch())))
    }

    /// Has the attempts of `request` carry what the future brings. The header `key` stays as it is.
    pub(super) fn begin<B>(
        &self,
        request: &mut Request<B>,
        key: Option<HeaderName>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let renewed = Renewed::default();
        request.extensions_mut().insert(renewed.clone());
        let fetching = (self.0)();
        Box::pin(async move {
            let mut headers = fetching.await;
            if let Some(key) = key {
                headers.remove(key);
            }
            *renewed.0.lock().unwrap_or_else(PoisonError::into_inner) = headers;
        })
    }
}

impl fmt::Debug for Refresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refresh").finish_non_exhaustive()
    }
}

/// Headers that were fetched while the request waited.
#[derive(Clone, Default)]
struct Renewed(Arc<Mutex<HeaderMap>>);

/// Puts the credentials on a request that [`KeyedRetry::with_refresh`](super::KeyedRetry) fetched
/// for it, in the place of those that it has.
///
/// The transports of this crate do that by themselves. Where the policy works alone, put this
/// below the retry, with tower's `map_request`.
#[must_use]
pub fn renewed<B>(mut request: Request<B>) -> Request<B> {
    renew(&mut request);
    request
}

/// The same, where the request is.
#[inline]
pub(crate) fn renew<B>(request: &mut Request<B>) {
    if let Some(renewed) = request.extensions().get::<Renewed>().cloned() {
        renewed.put(request.headers_mut());
    }
}

impl Renewed {
    fn put(&self, headers: &mut HeaderMap) {
        let renewed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for name in renewed.keys() {
            headers.remove(name);
        }
        for (name, value) in &*renewed {
            headers.append(name, value.clone());
        }
    }
}
