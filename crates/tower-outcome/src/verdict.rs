//! How a call ended, with the answer if there is one.

#![cfg(feature = "client")]

use std::fmt;

use http::Response;
use serde_json::Value;
use tower_outcome_core::{Code, Conclusion, Envelope, IdempotencyKey, Outcome};

use crate::{Error, ReplyBody};

/// How a call ended.
#[derive(Clone)]
#[must_use = "the word says whether anything happened"]
pub struct Verdict<T> {
    conclusion: Conclusion,
    detail: Option<Box<str>>,
    key: Option<IdempotencyKey>,
    reply: Option<T>,
}

impl<T> Verdict<T> {
    pub(crate) fn answered(conclusion: Conclusion, key: Option<IdempotencyKey>, reply: T) -> Self {
        Self {
            conclusion,
            detail: None,
            key,
            reply: Some(reply),
        }
    }

    pub(crate) fn unanswered(
        conclusion: Conclusion,
        key: Option<IdempotencyKey>,
        error: &Error,
    ) -> Self {
        Self {
            conclusion,
            detail: error.detail().map(Into::into),
            key,
            reply: None,
        }
    }

    pub(crate) const fn unreported(conclusion: Conclusion, key: Option<IdempotencyKey>) -> Self {
        Self {
            conclusion,
            detail: None,
            key,
            reply: None,
        }
    }

    pub(crate) fn map<U>(self, map: impl FnOnce(T) -> U) -> Verdict<U> {
        Verdict {
            conclusion: self.conclusion,
            detail: self.detail,
            key: self.key,
            reply: self.reply.map(map),
        }
    }

    /// The word.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.conclusion.outcome()
    }

    /// Why the call ended in its word.
    #[must_use]
    pub fn code(&self) -> Code {
        self.conclusion.code()
    }

    /// The word, its code, and how much they speak for.
    #[must_use]
    pub fn conclusion(&self) -> Conclusion {
        self.conclusion
    }

    /// What a model or a person is told.
    #[must_use]
    pub fn message(&self) -> &'static str {
        self.conclusion.message()
    }

    /// The intent's key, if the call had one.
    #[must_use]
    pub fn key(&self) -> Option<&IdempotencyKey> {
        self.key.as_ref()
    }

    /// The answer, also of a call that did not end in `ok`.
    #[must_use]
    pub fn reply(&self) -> Option<&T> {
        self.reply.as_ref()
    }

    /// The answer, also of a call that did not end in `ok`.
    #[must_use]
    pub fn into_reply(self) -> Option<T> {
        self.reply
    }
}

impl<T> fmt::Debug for Verdict<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verdict")
            .field("conclusion", &self.conclusion)
            .field("detail", &self.detail)
            .field("key", &self.key)
            .field("answered", &self.reply.is_some())
            .finish()
    }
}

impl<B> Verdict<Response<ReplyBody<B>>> {
    /// The verdict as the JSON that a tool call ends in.
    #[must_use]
    pub fn into_envelope(self) -> Envelope {
        let mut envelope = Envelope::new(self.conclusion);
        if let Some(reply) = &self.reply {
            envelope = envelope.with_data(json(reply));
        }
        if let Some(key) = &self.key {
            envelope = envelope.with_key(key);
        }
        match &self.detail {
            Some(detail) => envelope.with_detail(detail),
            None => envelope,
        }
    }

    /// The answer's JSON if the change is done; text that is no JSON comes as a string.
    ///
    /// # Errors
    ///
    /// [`Error`] with the call's word for every call that did not end in `ok` or `already_done`.
    pub fn into_json(self) -> Result<Value, Error> {
        if !self.outcome().is_done() {
            let error = Error::new(self.conclusion);
            return Err(match self.detail {
                Some(detail) => error.with_detail(detail),
                None => error,
            });
        }
        Ok(self.reply.as_ref().map_or(Value::Null, json))
    }
}

fn json<B>(reply: &Response<ReplyBody<B>>) -> Value {
    let Some(bytes) = reply.body().bytes() else {
        return Value::Null;
    };
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| String::from_utf8_lossy(bytes).into_owned().into())
}
