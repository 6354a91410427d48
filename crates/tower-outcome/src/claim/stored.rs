//! An answer as the ledger keeps it: status, content type, body, and the status of a gRPC call.
//! Nothing else of its head and its trailers is kept.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::{ReplyBody, transport};

#[derive(Deserialize, Serialize)]
struct Head<'a> {
    /// The version of this form.
    form: u8,
    status: u16,
    #[serde(borrow)]
    content_type: Option<Cow<'a, str>>,
    /// Without it a gRPC client takes the answer for one that broke off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grpc_status: Option<u32>,
}

/// The answer in one line of JSON for the head, and the body as it is.
pub(super) fn pack<B>(answer: &Response<ReplyBody<B>>) -> Option<Box<[u8]>> {
    let body = answer.body().bytes()?;
    let content_type = answer.headers().get(CONTENT_TYPE);
    let trailers = answer.body().trailers();
    let head = Head {
        form: FORM,
        status: answer.status().as_u16(),
        content_type: content_type.and_then(|value| value.to_str().ok().map(Cow::Borrowed)),
        grpc_status: transport::grpc_status(answer.headers())
            .or_else(|| trailers.and_then(transport::grpc_status)),
    };
    // On the stack first, so that what is kept is as long as its box.
    let mut small = [0; SMALL_HEAD];
    let mut rest = &mut small[..];
    let large;
    let head = if serde_json::to_writer(&mut rest, &head).is_ok() {
        let length = SMALL_HEAD - rest.len();
        &small[..length]
    } else {
        large = serde_json::to_vec(&head).ok()?;
        &large
    };
    Some([head, b"\n", body].concat().into_boxed_slice())
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

/// What most heads fit into, in bytes.
const SMALL_HEAD: usize = 128;
