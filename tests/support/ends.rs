//! Waits that end: what never comes fails the test that waits for it, by its name.

use std::time::Duration;

/// Waits for what has to come.
pub(crate) trait Ends: Future + Sized {
    /// What comes; not for ever, where it never does.
    async fn ends(self) -> Self::Output {
        let ended = tokio::time::timeout(PATIENCE, self).await;
        ended.unwrap_or_else(|_| panic!("what the test waits for never came"))
    }
}

impl<F: Future> Ends for F {}

const PATIENCE: Duration = Duration::from_secs(20);
