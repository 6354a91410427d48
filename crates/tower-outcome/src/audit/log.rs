//! Where findings go: a list with a limit, and the log.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::finding::{Ended, Finding};

/// The latest findings.
#[derive(Default)]
pub(super) struct Log {
    pages: Mutex<Pages>,
}

#[derive(Default)]
struct Pages {
    findings: VecDeque<Finding>,
    dropped: u64,
}

impl Log {
    pub(super) fn report(&self, finding: Finding) {
        let status = match finding.after {
            Some(Ended::Answered(status)) => Some(status.as_u16()),
            Some(Ended::Abandoned | Ended::Failed) | None => None,
        };
        tracing::warn!(
            http.request.method = %finding.method,
            http.request.resend_count = finding.attempt.saturating_sub(1),
            http.response.status_code = status,
            server.address = &*finding.host,
            server.port = finding.port,
            url.path = &*finding.path,
            kind = finding.kind.as_str(),
            certain = finding.certain,
            "a write is in doubt",
        );
        let mut pages = self.pages();
        if pages.findings.len() == MAX_FINDINGS {
            pages.findings.pop_front();
            pages.dropped += 1;
        }
        pages.findings.push_back(finding);
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        self.pages().findings.iter().cloned().collect()
    }

    pub(super) fn dropped(&self) -> u64 {
        self.pages().dropped
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many findings are kept. Later ones push older ones out, which are counted.
pub const MAX_FINDINGS: usize = 1024;
