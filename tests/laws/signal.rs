//! A retry policy whose second attempt is the test's to start.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use http::{Request, Response};
use tokio::sync::{Semaphore, mpsc};
use tower::retry::Policy;
use tower_outcome::{Call, KeyedRetry, OutcomeBody};

/// Repeats every call once, whatever came back, when the test says so.
#[derive(Clone)]
pub(crate) struct OnSignal {
    first_ended: mpsc::UnboundedSender<Call>,
    go: Arc<Semaphore>,
    repeated: bool,
}

/// The test's end of an [`OnSignal`].
pub(crate) struct Signal {
    first_ended: mpsc::UnboundedReceiver<Call>,
    go: Arc<Semaphore>,
}

pub(crate) fn on_signal() -> (OnSignal, Signal) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let go = Arc::new(Semaphore::new(0));
    let policy = OnSignal {
        first_ended: sender,
        go: Arc::clone(&go),
        repeated: false,
    };
    let first_ended = receiver;
    (policy, Signal { first_ended, go })
}

impl Signal {
    /// Waits until a first attempt has ended.
    pub(crate) async fn first_ended(&mut self) -> Call {
        self.first_ended.recv().await.unwrap()
    }

    /// Starts the second attempt.
    pub(crate) fn go(&self) {
        self.go.add_permits(1);
    }
}

impl<T, E> Policy<Request<OutcomeBody>, Response<T>, E> for OnSignal {
    type Future = Pin<Box<dyn Future<Output = ()> + Send>>;

    fn retry(
        &mut self,
        request: &mut Request<OutcomeBody>,
        _: &mut Result<Response<T>, E>,
    ) -> Option<Self::Future> {
        if std::mem::replace(&mut self.repeated, true) {
            return None;
        }
        let call = request.extensions().get::<Call>().unwrap();
        self.first_ended.send(call.clone()).unwrap();
        let go = Arc::clone(&self.go);
        Some(Box::pin(
            async move { go.acquire().await.unwrap().forget() },
        ))
    }

    fn clone_request(&mut self, request: &Request<OutcomeBody>) -> Option<Request<OutcomeBody>> {
        let mut cloning = KeyedRetry::new(2).with_unsent_retries();
        Policy::<_, Response<T>, E>::clone_request(&mut cloning, request)
    }
}
