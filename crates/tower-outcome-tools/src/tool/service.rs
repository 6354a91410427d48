//! Handlers that are tower services, with arguments and results of types of their own.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_outcome_core::BoxError;
use tower_service::Service;

use super::arguments::decode;
use super::{Kind, NothingSent, Tool};

impl Tool {
    /// As [`Tool::read`], with a tower service as the handler.
    ///
    /// See [`Tool::write_service`].
    #[must_use]
    pub fn read_service<S, A>(name: impl Into<Box<str>>, service: S) -> Self
    where
        S: Service<A, Response: Serialize, Error: Into<BoxError>, Future: Send>,
        S: Clone + Send + 'static,
        A: DeserializeOwned + Send + 'static,
    {
        Self::of_service(name.into(), Kind::Read, service)
    }

    /// As [`Tool::write`], with a tower service as the handler: an async function in a `service_fn`,
    /// or one with layers around it. Its request and its response are types of its own.
    ///
    /// Arguments that are no `A` end the call in `failed/invalid_arguments` before anything else is
    /// done, with the JSON pointer and the kind of what is wrong, never its value. Each call gets a
    /// clone of the service and waits until that one is ready, under the call's deadline; one that
    /// never gets ready has sent nothing. A response that is no JSON is kept out of the result.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// use serde::{Deserialize, Serialize};
    /// use serde_json::json;
    /// use tower::{BoxError, service_fn};
    /// use tower_outcome::{Code, MemoryLedger};
    /// use tower_outcome_tools::{Executor, Tool, ToolCall};
    ///
    /// #[derive(Deserialize)]
    /// struct Refund { order: u64 }
    /// #[derive(Serialize)]
    /// struct Refunded { id: String }
    ///
    /// async fn refund(refund: Refund) -> Result<Refunded, BoxError> {
    ///     Ok(Refunded { id: format!("re_{}", refund.order) }) // after a write
    /// }
    ///
    /// let executor = Executor::new(MemoryLedger::default())
    ///     .with_tool(Tool::write_service("refund", service_fn(refund)));
    /// let call = ToolCall::new("acme/customer-7", "refund", json!({ "order": "seven" }));
    /// let envelope = executor.run(call).await;
    /// assert_eq!(envelope.code(), Code::InvalidArguments);
    /// assert!(envelope.message().contains("/order: is a string where u64 is expected"));
    /// # }
    /// ```
    #[must_use]
    pub fn write_service<S, A>(name: impl Into<Box<str>>, service: S) -> Self
    where
        S: Service<A, Response: Serialize, Error: Into<BoxError>, Future: Send>,
        S: Clone + Send + 'static,
        A: DeserializeOwned + Send + 'static,
    {
        Self::of_service(name.into(), Kind::Write, service)
    }

    /// As [`Tool::opaque_write`], with a tower service as the handler.
    ///
    /// See [`Tool::write_service`]. An error of the service's readiness is [`NothingSent`].
    #[must_use]
    pub fn opaque_write_service<S, A>(name: impl Into<Box<str>>, service: S) -> Self
    where
        S: Service<A, Response: Serialize, Error: Into<BoxError>, Future: Send>,
        S: Clone + Send + 'static,
        A: DeserializeOwned + Send + 'static,
    {
        Self::of_service(name.into(), Kind::Opaque, service)
    }

    fn of_service<S, A>(name: Box<str>, kind: Kind, service: S) -> Self
    where
        S: Service<A, Response: Serialize, Error: Into<BoxError>, Future: Send>,
        S: Clone + Send + 'static,
        A: DeserializeOwned + Send + 'static,
    {
        // Only cloned under the lock, so that services need not be `Sync`.
        let service = Mutex::new(service);
        let mut tool = Self::new(name, kind, move |arguments| {
            let lock = service.lock();
            let service = lock.unwrap_or_else(PoisonError::into_inner).clone();
            serve(service, kind, arguments)
        });
        tool.check = Some(Arc::new(|arguments| decode::<A>(arguments).map(drop)));
        tool
    }
}

async fn serve<S, A>(mut service: S, kind: Kind, arguments: Value) -> Result<Value, BoxError>
where
    S: Service<A, Response: Serialize, Error: Into<BoxError>>,
    A: DeserializeOwned,
{
    let request = decode(&arguments)?;
    let ready = poll_fn(|cx| service.poll_ready(cx)).await;
    ready.map_err(|_| NothingSent::because("The tool was not ready."))?;
    let response = service.call(request).await.map_err(Into::into)?;
    match serde_json::to_value(response) {
        // What was written stays written.
        Err(error) if kind != Kind::Read => {
            tracing::warn!(%error, "a tool's response is no JSON");
            Ok(Value::Null)
        }
        value => Ok(value?),
    }
}
