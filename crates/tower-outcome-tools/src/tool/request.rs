//! A tool whose call is one request.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use serde_json::Value;
use tower_outcome::client::IntoRequest;
use tower_outcome::{Client, OutcomeBody, ReplyBody, Verdict};
use tower_outcome_core::BoxError;
use tower_service::Service;

use super::Tool;

impl Tool {
    /// As [`Tool::write`], for a call that is one request: `request` makes it of the arguments,
    /// `client` sends it, and a JSON answer is the result.
    ///
    /// Nothing can get between the call and its request, so that the client need not ask for a
    /// context. Promises a [single write](Self::with_single_write). Arguments of which no request can be made
    /// end the call in `failed/handler_error`, since nothing was sent. A request that only reads
    /// belongs into a [`Tool::read`].
    ///
    /// ```
    /// use tower_outcome::{BoxError, ForWrites as _, MemoryLedger, Stack};
    /// use tower_outcome_tools::{Executor, Tool};
    ///
    /// # fn f() -> Result<(), BoxError> {
    /// let http = reqwest::Client::builder().for_writes().build()?;
    /// let billing = Stack::new().over(http.clone());
    /// let refund = Tool::write_request("refund", billing, move |order| {
    ///     http.post("http://billing/refunds").body(order.to_string()).build()
    /// });
    /// let executor = Executor::new(MemoryLedger::default()).with_tool(refund.key("/order"));
    /// # let _ = executor; Ok(()) }
    /// # f().unwrap();
    /// ```
    #[must_use]
    pub fn write_request<S, B, F, R, E>(
        name: impl Into<Box<str>>,
        client: Client<S>,
        request: F,
    ) -> Self
    where
        S: Service<
                Request<OutcomeBody>,
                Response = Verdict<Response<ReplyBody<B>>>,
                Error = Infallible,
            > + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
        B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
        F: Fn(&Value) -> Result<R, E> + Send + Sync + 'static,
        R: IntoRequest,
        E: Into<BoxError>,
    {
        let client = client.boxed();
        let handler = move |arguments: Value| {
            let client = client.clone();
            let request = request(&arguments).map(IntoRequest::into_request);
            let request = request.map_err(Into::into);
            async move { Ok(client.send(request?).await.into_json()?) }
        };
        Self::write(name, handler).with_single_write()
    }
}
