//! Keeps the requests of writes, so that what is in doubt can be sent again under the same key.
//!
//! A request is kept in its write's record, in a ledger that encrypts and in no other. Its
//! credentials are not: the record has a fingerprint of them instead, so that whoever sends it again
//! can tell that it does so as the same account. To say whether and when that is safe is the
//! business of whoever sends it; a reconciler does.
//!
//! ```
//! use http::{HeaderMap, HeaderValue};
//! use tower_outcome::StoredRequests;
//!
//! let stored = StoredRequests::new([7; 32]);
//! let mut headers = HeaderMap::new();
//! headers.insert("authorization", HeaderValue::from_static("Bearer canary"));
//! let of_the_token = stored.credential(&headers).unwrap();
//! assert!(!of_the_token.contains("canary"));
//! // Where the client below adds it, or it changes by the hour, the account has to be named.
//! let named = StoredRequests::new([7; 32]).with_credential("acme, live");
//! assert_ne!(named.credential(&headers), Some(of_the_token));
//! ```

#![cfg(feature = "client")]

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use tower_outcome_core::ledger::entry::MAX_REQUEST;
use tower_outcome_core::ledger::{StoredRequest, WriteRecord};

use crate::OutcomeBody;
use crate::call::{Again, route};

/// Which requests are kept, and how their credentials are told apart.
///
/// See the [module docs](self).
#[derive(Clone)]
pub struct StoredRequests {
    secret: Arc<[u8; 32]>,
    credential: Option<Box<str>>,
}

impl StoredRequests {
    /// Keeps requests of up to [`MAX_STORED`] bytes. `secret` keeps fingerprints of credentials from
    /// being guessed; it is the same in all processes that share the ledger.
    #[must_use]
    pub fn new(secret: [u8; 32]) -> Self {
        Self {
            secret: Arc::new(secret),
            credential: None,
        }
    }

    /// Names the credential under which requests go out: an account and its mode, as a rule. Needed
    /// where the client below adds it, or where it changes though the account stays.
    #[must_use]
    pub fn with_credential(self, name: &str) -> Self {
        let credential = Some(name.into());
        Self { credential, ..self }
    }

    /// A fingerprint of the credential: of its name, or of the headers that look like one. `None`
    /// where there is neither, so that nobody can tell who would be sending.
    #[must_use]
    pub fn credential(&self, headers: &HeaderMap) -> Option<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&*self.secret).ok()?;
        let mut part = |bytes: &[u8]| {
            mac.update(&(bytes.len() as u64).to_be_bytes());
            mac.update(bytes);
        };
        if let Some(name) = &self.credential {
            part(b"named");
            part(name.as_bytes());
        } else {
            let mut secrets: Vec<(&str, &[u8])> = headers
                .iter()
                .filter(|(name, _)| is_credential(name))
                .map(|(name, value)| (name.as_str(), value.as_bytes()))
                .collect();
            if secrets.is_empty() {
                return None;
            }
            secrets.sort_unstable();
            part(b"headers");
            for (name, value) in secrets {
                part(name.as_bytes());
                part(value);
            }
        }
        let digest = mac.finalize().into_bytes();
        let mut text = String::with_capacity(32);
        for byte in &digest[..16] {
            let _ = write!(text, "{byte:02x}");
        }
        Some(text)
    }
}

impl fmt::Debug for StoredRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredRequests")
            .field("credential", &self.credential)
            .finish_non_exhaustive()
    }
}

/// The request without its credentials and without its key, which the record has. `None` where
/// it cannot be sent again: it is too long, streamed, or has a password in its address.
pub(crate) fn pack(request: &Request<OutcomeBody>) -> Option<StoredRequest> {
    let body = request.body().bytes()?;
    let uri = request.uri();
    if body.len() > MAX_STORED || uri.authority()?.as_str().contains('@') {
        return None;
    }
    let headers = request.headers().iter();
    let kept = headers.filter(|(name, value)| !is_credential(name) && !value.is_sensitive());
    let head = Head {
        form: FORM,
        method: request.method().as_str().to_owned(),
        uri: uri.to_string(),
        headers: kept
            .map(|(name, value)| {
                let value = value.to_str().ok()?.to_owned();
                Some((name.as_str().to_owned(), value))
            })
            .collect::<Option<_>>()?,
    };
    let mut packed = serde_json::to_vec(&head).ok()?;
    packed.push(b'\n');
    packed.extend_from_slice(&body);
    (packed.len() <= MAX_STORED).then(|| StoredRequest::new(packed))
}

/// The request of a record, to be sent again under the key that it had. What may have been sent
/// before is taken into account wherever its answer is judged.
///
/// `key_age` is the time since the first request that may have left under the key. Credentials are
/// for the caller to put back.
///
/// `None` where no request is kept, or it cannot be read, or is not the one of the record.
#[must_use]
pub fn restore(write: &WriteRecord, key_age: Duration) -> Option<Request<OutcomeBody>> {
    let packed = write.request.as_ref()?.as_bytes();
    let end = packed.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(&packed[..end]).ok()?;
    if head.form != FORM || write.wire_key.is_empty() {
        return None;
    }
    let body = Bytes::copy_from_slice(&packed[end + 1..]);
    let mut request = Request::new(OutcomeBody::from(body));
    *request.method_mut() = Method::from_bytes(head.method.as_bytes()).ok()?;
    *request.uri_mut() = head.uri.parse::<Uri>().ok()?;
    for (name, value) in &head.headers {
        let name = HeaderName::try_from(name).ok()?;
        let value = HeaderValue::try_from(value).ok()?;
        request.headers_mut().append(name, value);
    }
    if route(request.method(), request.uri()) != write.route {
        return None;
    }
    request.extensions_mut().insert(Again {
        key: write.wire_key.as_str().into(),
        age: key_age,
    });
    Some(request)
}

#[derive(Deserialize, Serialize)]
struct Head {
    /// The version of this form.
    form: u8,
    method: String,
    uri: String,
    headers: Vec<(String, String)>,
}

/// Whether a header may say who sends: names differ from provider to provider.
fn is_credential(name: &HeaderName) -> bool {
    let name = name.as_str();
    !name.contains("idempoten") && CREDENTIALS.iter().any(|word| name.contains(word))
}

/// What the names of headers with credentials have in them.
const CREDENTIALS: [&str; 9] = [
    "auth",
    "cookie",
    "credential",
    "key",
    "password",
    "secret",
    "session",
    "signature",
    "token",
];

/// The longest request that is kept, in bytes: head and body, with room for the seal.
pub const MAX_STORED: usize = MAX_REQUEST - 1024;

const FORM: u8 = 1;
