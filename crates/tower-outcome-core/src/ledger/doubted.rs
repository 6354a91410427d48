//! Who may look an entry in doubt up, send it once more or decide it: the part of
//! [`machine`](super::machine) that is about what may have happened.

use std::time::Duration;

use super::entry::{Resolution, Timestamp};
use super::event::{Answer, Grant, Resolved};
use super::machine::{done, failed};
use super::row::Row;
use crate::Code;

/// Lets one of several who want to look it up do so.
pub(super) fn look(row: &mut Row, again_after: Duration, now: Timestamp) -> (bool, Answer) {
    if row.look_at() > now {
        return (false, Answer::InProgress);
    }
    let more = row.more_mut();
    more.looks = more.looks.saturating_add(1);
    more.look_at = now.after(again_after);
    (true, Answer::Applied)
}

/// Lets what is in doubt be sent once more, and fences off whoever sent it before.
pub(super) fn resend(row: &mut Row, send_by: Timestamp) -> (bool, Answer) {
    row.epoch += 1;
    let more = row.more_mut();
    more.last_send_by = more.last_send_by.max(Some(send_by));
    let grant = Grant {
        epoch: row.epoch,
        generation: row.generation,
        maybe_sent: true,
    };
    (true, Answer::Granted(grant))
}

/// Takes a person's word. None where its owner may still send something under it, so that nobody
/// can know that nothing happens.
pub(super) fn resolved(row: &mut Row, verdict: &mut Resolved, word: Resolution) -> Option<bool> {
    let now = word.at;
    let may_still_send = now <= row.last_send_by().unwrap_or(row.lease_until);
    if may_still_send && matches!(verdict, Resolved::Failed) {
        return None;
    }
    row.more_mut().resolution = Some(word);
    match verdict {
        Resolved::Done { result } => done(row, Code::Done, result.take(), now),
        Resolved::Failed => {
            failed(row, Code::NotSent, now);
            Some(true)
        }
    }
}
