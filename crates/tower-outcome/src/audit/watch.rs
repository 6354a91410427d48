//! One attempt at a write, from its start to its end.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::{Extensions, StatusCode};

use super::finding::Ended;
use super::write::{Sent, Write};
use super::{Shared, evidence};
use crate::profile::is_read;

/// One request on its way. Of a write it has to be told the end: dropped, it reports that the write
/// was abandoned.
#[must_use = "dropping it reports that the write was abandoned"]
pub struct Watch(Option<Open>);

struct Open {
    shared: Arc<Shared>,
    attempt: Arc<Attempt>,
}

/// Lies in the request's extensions.
#[derive(Clone)]
struct Mark(Arc<Attempt>);

struct Attempt {
    write: Arc<Write>,
    /// How many audit layers the write passed before.
    depth: usize,
    ended: AtomicBool,
}

/// Starts to watch a request, and marks it if it is a write.
pub(super) fn start(shared: &Arc<Shared>, sent: &Sent<'_>, extensions: &mut Extensions) -> Watch {
    let mark = extensions.get::<Mark>();
    let known = mark.map(|Mark(attempt)| (Arc::clone(&attempt.write), attempt.next_depth()));
    let elsewhere = known
        .as_ref()
        .is_some_and(|(write, _)| !write.goes_to(sent));
    let followed = known
        .as_ref()
        .filter(|_| elsewhere)
        .and_then(|(write, depth)| write.follow(*depth));
    let is_followed = followed.is_some();
    if let Some(finding) = followed {
        shared.log.report(finding);
    }
    if is_read(sent.method) {
        return Watch(None);
    }
    // Somebody may make a request of their own out of another's extensions: that is another write.
    let known = known.filter(|_| is_followed || !elsewhere);
    let (write, depth) = known.unwrap_or_else(|| (recognised(shared, sent), 0));
    if depth == 0 {
        shared.recent.forget(&write);
    }
    if let Some(finding) = write.begin(depth, sent.key).filter(|_| !is_followed) {
        shared.log.report(finding);
    }
    let attempt = Arc::new(Attempt {
        write,
        depth,
        ended: AtomicBool::new(false),
    });
    extensions.insert(Mark(Arc::clone(&attempt)));
    Watch(Some(Open {
        shared: Arc::clone(shared),
        attempt,
    }))
}

/// The write that `sent` is likely to be again, or a new one.
fn recognised(shared: &Shared, sent: &Sent<'_>) -> Arc<Write> {
    match shared.recent.take(sent) {
        Some(write) => {
            write.guessed();
            write
        }
        None => Arc::new(Write::new(sent)),
    }
}

impl Watch {
    /// The request was answered.
    pub fn answered(mut self, status: StatusCode) {
        self.end(Ended::Answered(status), evidence::refuses(status));
    }

    /// The request ended in an error. One that says that no connection could be made is no finding.
    pub fn failed(mut self, error: &(dyn Error + 'static)) {
        self.end(Ended::Failed, evidence::never_left(error));
    }

    /// The same, for an error of any type.
    pub(super) fn failed_with(mut self, error: &dyn Any) {
        self.end(Ended::Failed, evidence::is_unsent(error));
    }

    fn end(&mut self, ended: Ended, refused: bool) {
        let Some(Open { shared, attempt }) = self.0.take() else {
            return;
        };
        attempt.ended.store(true, Ordering::Release);
        let (finding, in_doubt) = attempt.write.end(attempt.depth, ended, refused);
        if in_doubt {
            shared.recent.push(&attempt.write);
        }
        if let Some(finding) = finding {
            shared.log.report(finding);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end(Ended::Abandoned, false);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

impl Attempt {
    /// Where a request with this mark stands: below the attempt that is under way, or beside one
    /// that has ended, where the attempts of a write share their extensions.
    fn next_depth(&self) -> usize {
        self.depth + usize::from(!self.ended.load(Ordering::Acquire))
    }
}
