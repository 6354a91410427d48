//! What calls carry goes through a store, and is looked for in all that can be read of it.

use std::error::Error;
use std::fmt::{Debug, Write as _};

use serde_json::json;

use super::{LEASE, SENDS_FOR};
use crate::ledger::{
    Answer, Claim, Ending, EntryKey, Event, Filter, Ledger, LedgerError, Owner, Resolved,
    StoredRequest, WriteRecord,
};
use crate::{Code, Intent};

/// Has calls whose arguments, bodies, requests and results hold [`MARKER`] end in every state of an
/// empty ledger, and returns all that it and its entries, answers and errors show meanwhile.
///
/// Without encryption the stored results and requests hold the marker, too, as they have to.
///
/// # Panics
///
/// Where the store does not answer.
pub async fn carry_secrets<L: Ledger + Debug>(ledger: &L) -> String {
    let mut shown = format!("{ledger:?} {ledger:#?}");
    for (order, ends) in (0..).zip(lives()) {
        let intent = intent(order);
        let key = EntryKey::of(&intent);
        let claim = || Event::Claim(Claim::new(&intent, Owner::from_bytes([7; 16]), LEASE));
        for event in [claim()].into_iter().chain(ends) {
            show(&mut shown, &event);
            let answer = ledger.apply(&key, event).await;
            answer_shown(&mut shown, answer);
        }
        // Replayed, and refused.
        answer_shown(&mut shown, ledger.apply(&key, claim()).await);
        for wrong in [send(9), settle(9, partial()), resolve(9)] {
            answer_shown(&mut shown, ledger.apply(&key, wrong).await);
        }
        let entry = ledger.read(&key).await;
        show(&mut shown, &entry.expect("the store answers a read"));
    }
    let filter = Filter::new(100);
    show(&mut shown, &ledger.page(&filter).await);
    show(&mut shown, &ledger.unresolved(100).await);
    show(&mut shown, &ledger.due(100).await);
    show(&mut shown, &ledger.counts().await);
    show(&mut shown, ledger);
    shown
}

/// Whether some bytes hold [`MARKER`]: as it is, in hex, in base64, or as a list of numbers.
#[must_use]
pub fn holds_marker(bytes: &[u8]) -> bool {
    let lower = bytes.to_ascii_lowercase();
    let within = |bytes: &[u8], part: &str| {
        let part = part.as_bytes();
        bytes.windows(part.len()).any(|window| window == part)
    };
    let hex = crate::key::hex(MARKER.as_bytes());
    let encoded = (0..3).map(|lead| {
        // Three bytes make four characters: the marker may begin at any of the three.
        let text = crate::key::base64url(format!("{}{MARKER}", "x".repeat(lead)).as_bytes());
        let first = (lead * 8).div_ceil(6);
        text[first..text.len() - 2].to_owned()
    });
    let numbers: Vec<String> = MARKER.bytes().map(|byte| byte.to_string()).collect();
    within(&lower, MARKER)
        || within(&lower, &hex)
        || within(&lower, &numbers.join(", "))
        || within(&lower, &numbers.join(","))
        || encoded.into_iter().any(|part| within(bytes, &part))
}

/// Ends in every state, each with what it holds.
fn lives() -> Vec<Vec<Event>> {
    let doubt = || {
        settle(
            1,
            Ending::Unknown {
                conclusion: Code::AcceptedPending.into(),
                result: secret(),
            },
        )
    };
    let done = Ending::Done {
        code: Code::Done,
        result: secret(),
    };
    let failed = Ending::Failed {
        code: Code::Rejected,
    };
    let code = Code::NotSent;
    let look = Event::Look { again_after: LEASE };
    let resend = Event::Resend {
        epoch: 1,
        sends_for: SENDS_FOR,
    };
    vec![
        vec![],
        vec![Event::Release { epoch: 1, code }],
        vec![send(1)],
        vec![send(1), doubt()],
        vec![send(1), doubt(), look, resend],
        vec![send(1), settle(1, done)],
        vec![send(1), settle(1, failed)],
        vec![send(1), settle(1, partial())],
        vec![send(1), doubt(), Event::Find { result: secret() }],
        vec![send(1), doubt(), resolve(1)],
    ]
}

fn intent(order: u32) -> Intent {
    let arguments = json!({ "order": order, "card": MARKER, MARKER: [MARKER] });
    let intent = Intent::new("tenant", "refund", &arguments);
    let intent = intent.expect("the arguments are plain");
    intent.with_part("body", MARKER.as_bytes())
}

fn send(epoch: u64) -> Event {
    Event::Send {
        epoch,
        write: WriteRecord {
            label: "refund".into(),
            route: "POST api.example/refunds".into(),
            wire_key: "6ff0c3a2-0000-8000-8000-000000000001".into(),
            only: true,
            request: Some(StoredRequest::new(MARKER.as_bytes())),
            ..WriteRecord::default()
        },
        lease: LEASE,
        sends_for: SENDS_FOR,
    }
}

const fn settle(epoch: u64, ending: Ending) -> Event {
    Event::Settle { epoch, ending }
}

fn partial() -> Ending {
    Ending::Partial { result: secret() }
}

fn resolve(epoch: u64) -> Event {
    Event::Resolve {
        epoch,
        verdict: Resolved::Done { result: secret() },
        by: "mia".into(),
        reason: "saw it".into(),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every event takes an option")]
fn secret() -> Option<Box<[u8]>> {
    Some(MARKER.as_bytes().into())
}

fn answer_shown(shown: &mut String, answer: Result<Answer, LedgerError>) {
    show(shown, &answer);
    let Err(error) = answer else { return };
    let mut error: &dyn Error = &error;
    loop {
        let _ = write!(shown, "{error} ");
        let Some(source) = error.source() else { return };
        error = source;
    }
}

fn show(shown: &mut String, value: &dyn Debug) {
    let _ = write!(shown, "{value:?} {value:#?} ");
}

/// What nobody may come to read.
pub const MARKER: &str = "canary-4929-1182-7731";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_however_it_is_written() {
        assert!(!holds_marker(b"nothing of it"));
        let listed = format!("{:?}", MARKER.as_bytes());
        let quoted = format!("{{\"card\":\"{MARKER}\"}}");
        for text in [&listed, &quoted, &MARKER.to_uppercase()] {
            assert!(holds_marker(text.as_bytes()), "{text}");
        }
        for lead in 0..7 {
            let bytes = format!("{}{MARKER} and more", "y".repeat(lead));
            let hex = crate::key::hex(bytes.as_bytes());
            let base64 = crate::key::base64url(bytes.as_bytes());
            assert!(holds_marker(hex.as_bytes()) && holds_marker(base64.as_bytes()));
        }
    }
}
