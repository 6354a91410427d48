//! What a service has to be whose calls end in verdicts: says so in terms of layers where it is not.

use http::Response;

use crate::{ReplyBody, Verdict};

/// An answer of [`OutcomeLayer`](crate::OutcomeLayer).
#[diagnostic::on_unimplemented(
    message = "calls of this service do not end in a verdict, but in `{Self}`",
    note = "`OutcomeLayer` makes the verdicts: it has to be the outermost layer"
)]
pub trait InVerdicts {}

impl<B> InVerdicts for Verdict<Response<ReplyBody<B>>> {}

/// The error of [`OutcomeLayer`](crate::OutcomeLayer): none.
#[diagnostic::on_unimplemented(
    message = "calls of this service may end in `{Self}` instead of a verdict",
    note = "a layer above `OutcomeLayer` makes errors of its own: `OutcomeLayer` has to be the \
            outermost layer"
)]
pub trait WithoutErrors {}

impl WithoutErrors for std::convert::Infallible {}
