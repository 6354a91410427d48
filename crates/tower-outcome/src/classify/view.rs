//! A request and its answer as rules see them: parsed once, and only if a rule asks.

use std::cell::OnceCell;

use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;

use super::{Answer, GrpcStatus, Sent};
use crate::profile::Pattern;
use crate::transport;

/// A request and its answer.
pub(crate) struct View<'a> {
    sent: &'a Sent<'a>,
    answer: &'a Answer<'a>,
    json: OnceCell<Option<Value>>,
    text: OnceCell<String>,
}

impl<'a> View<'a> {
    pub(super) const fn new(sent: &'a Sent<'a>, answer: &'a Answer<'a>) -> Self {
        Self {
            sent,
            answer,
            json: OnceCell::new(),
            text: OnceCell::new(),
        }
    }

    pub(crate) const fn status(&self) -> StatusCode {
        self.answer.status
    }

    pub(crate) const fn headers(&self) -> &HeaderMap {
        self.answer.headers
    }

    /// The request's path, without its query.
    pub(crate) fn path(&self) -> &str {
        let (path, _) = self
            .sent
            .path
            .split_once('?')
            .unwrap_or((self.sent.path, ""));
        path
    }

    /// The body, if it is at hand and JSON.
    pub(crate) fn json(&self) -> Option<&Value> {
        let parse = || serde_json::from_slice(self.answer.body?).ok();
        self.json.get_or_init(parse).as_ref()
    }

    pub(crate) fn scalar_at(&self, at: &Pattern) -> Option<String> {
        at.find(self.json()?)
            .into_iter()
            .find_map(crate::profile::scalar)
    }

    /// Whether `text` stands somewhere in the body, or in the message of a gRPC status, in any case.
    pub(crate) fn says(&self, text: &str) -> bool {
        let lower = || match &self.answer.grpc {
            Some(status) => status.said(),
            None => {
                let body = String::from_utf8_lossy(self.answer.body.unwrap_or_default());
                body.to_lowercase()
            }
        };
        self.text.get_or_init(lower).contains(&text.to_lowercase())
    }

    /// Whether the body is a page for people and not the answer of an API.
    pub(super) fn is_page(&self) -> bool {
        match self.headers().get(http::header::CONTENT_TYPE) {
            Some(kind) => {
                let kind = kind.as_bytes().to_ascii_lowercase();
                kind.starts_with(b"text/html") || kind.starts_with(b"application/xhtml")
            }
            None => {
                let start = self.answer.body.unwrap_or_default().trim_ascii_start();
                let start = start[..start.len().min(14)].to_ascii_lowercase();
                start.starts_with(b"<html") || start.starts_with(b"<!doctype html")
            }
        }
    }

    pub(super) const fn body_lost(&self) -> bool {
        self.answer.body_lost
    }

    /// Whether there is a body of which nothing is known.
    pub(super) const fn is_unread(&self) -> bool {
        let told = self.answer.body.is_some() || self.answer.grpc.is_some();
        !told && !self.is_without_content()
    }

    /// Whether the status promises that there is no body (RFC 9110 section 15.3.5).
    pub(super) const fn is_without_content(&self) -> bool {
        matches!(self.answer.status.as_u16(), 204 | 205)
    }

    pub(super) const fn grpc(&self) -> Option<GrpcStatus<'a>> {
        self.answer.grpc
    }

    pub(super) fn is_grpc(&self) -> bool {
        transport::is_grpc(self.headers())
    }

    pub(super) fn method(&self) -> &Method {
        self.sent.method
    }

    pub(super) const fn is_conditional(&self) -> bool {
        self.sent.conditional
    }

    /// Whether the request asked to be heard before it sent its body (RFC 9110 section 10.1.1).
    pub(super) fn expects_continue(&self) -> bool {
        let headers = self.sent.headers;
        headers.is_some_and(|headers| headers.contains_key(http::header::EXPECT))
    }
}
