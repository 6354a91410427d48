//! Which rules a store breaks: all of them are tried, and named.

use std::any::Any;
use std::fmt::Write as _;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// The rules that were found broken.
#[derive(Default)]
pub(super) struct Verdict {
    broken: Vec<(&'static str, String)>,
}

impl Verdict {
    /// Tries one rule, which panics where it is broken.
    pub(super) async fn hold(&mut self, rule: &'static str, tried: impl Future<Output = ()>) {
        let mut tried = pin!(tried);
        let kept = poll_fn(|context| {
            // It is not polled again after it has panicked.
            match catch_unwind(AssertUnwindSafe(|| tried.as_mut().poll(context))) {
                Ok(polled) => polled.map(Ok),
                Err(panic) => Poll::Ready(Err(panic)),
            }
        });
        if let Err(panic) = kept.await {
            self.broken.push((rule, message(&*panic)));
        }
    }

    /// Panics if there are any.
    pub(super) fn pronounce(self) {
        let mut text = String::new();
        for (rule, message) in &self.broken {
            let _ = write!(text, "\n- {rule}: {message}");
        }
        assert!(self.broken.is_empty(), "the ledger breaks rules:{text}");
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it panicked").to_owned()
}
