//! What the attempts of one write share.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::{Method, Uri};

use super::evidence;
use super::finding::{Ended, Finding, Kind};

/// A request that is about to be sent.
pub(super) struct Sent<'a> {
    pub(super) method: &'a Method,
    pub(super) uri: &'a Uri,
    /// Hash of the key.
    pub(super) key: Option<u64>,
    /// Exact size of the body, in bytes.
    pub(super) size: Option<u64>,
}

/// What the attempts of one write share.
pub(super) struct Write {
    method: Method,
    host: Box<str>,
    port: Option<u16>,
    path: Box<str>,
    /// Hash of the whole URI: its query may hold secrets.
    target: u64,
    size: Option<u64>,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    /// Two requests were taken for one write because they look alike.
    guessed: bool,
    /// One for each audit layer that the write passes, outermost first.
    levels: Vec<Level>,
}

/// The attempts that passed one audit layer.
#[derive(Clone, Copy, Default)]
struct Level {
    sent: u32,
    under_way: u32,
    /// One that has ended may have changed something.
    tainted: bool,
    /// That of the latest.
    key: Option<u64>,
    last: Option<Ended>,
}

impl Write {
    pub(super) fn new(sent: &Sent<'_>) -> Self {
        Self {
            method: sent.method.clone(),
            host: sent.uri.host().unwrap_or_default().into(),
            port: sent.uri.port_u16(),
            path: sent.uri.path().into(),
            target: hash(sent.uri),
            size: sent.size,
            progress: Mutex::default(),
        }
    }

    pub(super) fn can_be_recognised(&self) -> bool {
        self.size.is_some()
    }

    /// Whether `sent` looks like this write, for want of a better sign.
    pub(super) fn resembles(&self, sent: &Sent<'_>) -> bool {
        self.size == sent.size && self.method == *sent.method && self.target == hash(sent.uri)
    }

    /// Whether `sent`, which carries this write's mark, goes where the write went. Signatures in the
    /// query may differ between attempts.
    pub(super) fn goes_to(&self, sent: &Sent<'_>) -> bool {
        self.method == *sent.method
            && *self.host == *sent.uri.host().unwrap_or_default()
            && self.port == sent.uri.port_u16()
            && *self.path == *sent.uri.path()
    }

    pub(super) fn guessed(&self) {
        self.progress().guessed = true;
    }

    /// Counts an attempt at `depth`.
    pub(super) fn begin(&self, depth: usize, key: Option<u64>) -> Option<Finding> {
        let mut progress = self.progress();
        if depth >= progress.levels.len() {
            progress.levels.resize(depth + 1, Level::default());
        }
        // Keys may be set between two layers: the lowest one sees what is sent.
        let is_lowest = depth + 1 == progress.levels.len();
        let level = &mut progress.levels[depth];
        level.sent += 1;
        let earlier = std::mem::replace(&mut level.key, key);
        let after = level.last.take();
        let in_doubt = level.tainted || level.under_way > 0;
        level.under_way += 1;
        if level.sent == 1 || !is_lowest || !in_doubt {
            return None;
        }
        let kind = match (earlier, key) {
            (Some(earlier), Some(key)) if earlier == key => return None,
            (Some(_), Some(_)) => Kind::KeyChanged,
            _ => Kind::Resent,
        };
        let attempt = level.sent;
        Some(self.finding(kind, !progress.guessed, attempt, after))
    }

    /// The write's mark came back on a request to another place, after a redirect.
    pub(super) fn follow(&self, depth: usize) -> Option<Finding> {
        let mut progress = self.progress();
        let certain = !progress.guessed;
        let level = progress.levels.get_mut(depth)?;
        let after = level.last.take_if(|ended| is_redirect(*ended))?;
        Some(self.finding(Kind::Redirected, certain, level.sent + 1, Some(after)))
    }

    /// Notes the end of an attempt at `depth`; `refused` is proof that it changed nothing. The second
    /// of the pair tells whether the whole write ended without success and in doubt.
    pub(super) fn end(&self, depth: usize, ended: Ended, refused: bool) -> (Option<Finding>, bool) {
        let mut progress = self.progress();
        if let Some(level) = progress.levels.get_mut(depth) {
            level.under_way = level.under_way.saturating_sub(1);
            level.tainted |= !refused;
            level.last = Some(ended);
        }
        let Some(lowest) = progress.levels.last().filter(|_| depth == 0) else {
            return (None, false);
        };
        let in_doubt = lowest.tainted || lowest.under_way > 0;
        let below = lowest.last.filter(|_| progress.levels.len() > 1);
        let followed = below.filter(|ended| is_redirect(*ended));
        let certain = !progress.guessed;
        let finding = |kind, certain, after| self.finding(kind, certain, lowest.sent, after);
        let finding = match (ended, followed) {
            (Ended::Answered(status), _) if evidence::redirects(status) => {
                Some(finding(Kind::Redirected, false, Some(ended)))
            }
            (Ended::Answered(_), Some(after)) => {
                Some(finding(Kind::Redirected, certain, Some(after)))
            }
            (Ended::Answered(_), None) => None,
            (Ended::Failed, Some(after)) => Some(finding(Kind::Redirected, false, Some(after))),
            (Ended::Failed, None) => in_doubt.then(|| finding(Kind::Unanswered, true, None)),
            (Ended::Abandoned, _) => in_doubt.then(|| finding(Kind::Abandoned, true, None)),
        };
        let succeeded = matches!(ended, Ended::Answered(status) if status.is_success());
        (finding, in_doubt && !succeeded)
    }

    fn finding(&self, kind: Kind, certain: bool, attempt: u32, after: Option<Ended>) -> Finding {
        Finding {
            kind,
            certain,
            method: self.method.clone(),
            host: self.host.clone(),
            port: self.port,
            path: self.path.clone(),
            attempt,
            after,
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compares without keeping what is compared.
pub(super) fn hash<T: Hash>(value: T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn is_redirect(ended: Ended) -> bool {
    matches!(ended, Ended::Answered(status) if evidence::redirects(status))
}
