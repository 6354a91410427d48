//! An answer as the ledger keeps it: status, content type, body, and the status of a gRPC call.
//! Nothing else of its head and its trailers is kept.

use std::borrow::Cow;
use std::io::Write as _;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::{ReplyBody, transport};

#[derive(Deserialize)]
struct Head<'a> {
    /// The version of this form.
    form: u8,
    status: u16,
    #[serde(borrow)]
    content_type: Option<Cow<'a, str>>,
    /// Without it a gRPC client takes the answer for one that broke off.
    #[serde(default)]
    grpc_status: Option<u32>,
}

/// The answer in one line of JSON for the head, and the body as it is.
pub(super) fn pack<B>(answer: &Response<ReplyBody<B>>) -> Option<Box<[u8]>> {
    let body = answer.body().bytes()?;
    let trailers = answer.body().trailers();
    let status = answer.status();
    let content_type = answer.headers().get(CONTENT_TYPE);
    let (quote, content_type) = match content_type.and_then(|it| it.to_str().ok()) {
        Some(kind) if is_plain(kind) => ("\"", Cow::Borrowed(kind)),
        Some(kind) => ("", serde_json::to_string(kind).ok()?.into()),
        None => ("", "null".into()),
    };
    let mut digits = [0; MOST_DIGITS];
    let grpc_status = transport::grpc_status(answer.headers())
        .or_else(|| trailers.and_then(transport::grpc_status))
        .map(|number| [b",\"grpc_status\":", decimal(number, &mut digits)]);
    let [named, grpc_status] = grpc_status.unwrap_or_default();
    // At once, so that what is kept is as long as its box.
    let parts: [&[u8]; 10] = [
        START,
        status.as_str().as_bytes(),
        b",\"content_type\":",
        quote.as_bytes(),
        content_type.as_bytes(),
        quote.as_bytes(),
        named,
        grpc_status,
        b"}\n",
        body,
    ];
    let mut packed = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    for part in parts {
        packed.extend_from_slice(part);
    }
    Some(packed.into_boxed_slice())
}

/// Whether visible characters stand in JSON as they are.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|it| !matches!(it, b'"' | b'\\' | b'\t'))
}

fn decimal(number: u32, room: &mut [u8; MOST_DIGITS]) -> &[u8] {
    let mut rest = &mut room[..];
    // There is room for any.
    let _ = write!(rest, "{number}");
    let length = MOST_DIGITS - rest.len();
    &room[..length]
}

/// The answer again. What cannot be read any more is an empty one: that it was done still stands.
pub(super) fn unpack<B>(packed: Option<&[u8]>) -> Response<ReplyBody<B>> {
    packed
        .and_then(|it| parse(it).or_else(|| found(it)))
        .unwrap_or_else(|| {
            let mut empty = Response::new(ReplyBody::lost());
            *empty.status_mut() = StatusCode::NO_CONTENT;
            empty
        })
}

fn parse<B>(packed: &[u8]) -> Option<Response<ReplyBody<B>>> {
    let end = packed.iter().position(|byte| *byte == b'\n')?;
    let head: Head<'_> = serde_json::from_slice(&packed[..end]).ok()?;
    if head.form != FORM {
        return None;
    }
    let body = Bytes::copy_from_slice(&packed[end + 1..]);
    let trailers = head.grpc_status.map(|status| {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", status.into());
        trailers
    });
    let mut answer = Response::new(ReplyBody::whole(body).with_trailers(trailers));
    *answer.status_mut() = StatusCode::from_u16(head.status).ok()?;
    if let Some(content_type) = head.content_type {
        let content_type = HeaderValue::try_from(&*content_type).ok()?;
        answer.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    Some(answer)
}

/// What a look-up has found is JSON without a head.
fn found<B>(json: &[u8]) -> Option<Response<ReplyBody<B>>> {
    serde_json::from_slice::<IgnoredAny>(json).ok()?;
    let mut answer = Response::new(ReplyBody::whole(Bytes::copy_from_slice(json)));
    let kind = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    Some(answer)
}

const FORM: u8 = 1;

/// The form, and what stands before the status.
const START: &[u8] = b"{\"form\":1,\"status\":";

/// Those of any number of 32 bits.
const MOST_DIGITS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_comes_out_as_it_went_in() {
        for kind in [None, Some("application/grpc"), Some("a/b; c=\"\\\"d\te\"")] {
            for status in [None, Some(0), Some(u32::MAX)] {
                let mut answer = Response::new(ReplyBody::<()>::whole("{}\n".into()));
                *answer.status_mut() = StatusCode::CREATED;
                let headers = answer.headers_mut();
                if let Some(kind) = kind {
                    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
                }
                if let Some(status) = status {
                    headers.insert("grpc-status", status.into());
                }
                let packed = pack(&answer).expect("it is whole");
                let again = parse::<()>(&packed).expect("it is ours");
                assert_eq!(again.status(), StatusCode::CREATED);
                assert_eq!(again.body().bytes(), answer.body().bytes());
                let found = again.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
                assert_eq!(found, kind.map(str::as_bytes));
                assert_eq!(
                    again.body().trailers().and_then(transport::grpc_status),
                    status
                );
            }
        }
    }
}
