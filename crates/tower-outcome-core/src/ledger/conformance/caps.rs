//! What is too long is refused or left out, and takes no word with it.

use super::{Bench, claim, done, send, settle};
use crate::Code;
use crate::ledger::cipher::SEAL_ROOM;
use crate::ledger::entry::{MAX_NAME, MAX_REQUEST, MAX_RESULT};
use crate::ledger::{Answer, Claim, Event, Ledger, State, StoredRequest};

pub(super) async fn a_result_over_the_cap_is_left_out<L: Ledger>(bench: &Bench<L>) {
    let longest = MAX_RESULT - room(bench);
    for (number, size, kept) in [(1, longest, true), (2, MAX_RESULT + 1, false)] {
        let bench = bench.at("tenant", number);
        let grant = bench.granted(claim()).await;
        let result = vec![0; size];
        bench.applied(settle(grant.epoch, done(&result))).await;
        let entry = bench.entry().await;
        assert_eq!(
            entry.state,
            State::Done,
            "too large a result is no reason to lose proof"
        );
        assert_eq!(entry.result.as_deref(), kept.then_some(&*result));
        let code = if kept {
            Code::AlreadyDone
        } else {
            Code::ResultOmitted
        };
        let again = bench.apply(Event::Claim(claim())).await;
        let Ok(Answer::Settled { code: answered, .. }) = again else {
            panic!("what is done is answered {again:?}");
        };
        assert_eq!(answered, code);
    }
}

pub(super) async fn a_request_over_the_cap_is_left_out<L: Ledger>(bench: &Bench<L>) {
    let longest = MAX_REQUEST - room(bench);
    for (number, size, kept) in [(1, longest, true), (2, MAX_REQUEST + 1, false)] {
        let bench = bench.at("tenant", number);
        let grant = bench.granted(claim()).await;
        let mut sent = send(grant.epoch, "first");
        if let Event::Send { write, .. } = &mut sent {
            write.request = Some(StoredRequest::new(vec![0xff; size]));
        }
        bench.applied(sent).await;
        let entry = bench.entry().await;
        assert_eq!(entry.state, State::Dispatching);
        assert_eq!(entry.writes[0].request.is_some(), kept);
    }
}

pub(super) async fn a_name_over_the_cap_is_refused<L: Ledger>(bench: &Bench<L>) {
    let longest = "n".repeat(MAX_NAME);
    let longer = "n".repeat(MAX_NAME + 1);
    let with_tool = |tool: &str| Claim {
        tool: tool.into(),
        ..claim()
    };
    let kept = bench.at(&longest, 1);
    kept.granted(with_tool(&longest)).await;
    let entry = kept.entry().await;
    assert_eq!((&*entry.key.scope, &*entry.tool), (&*longest, &*longest));

    let alias = Event::Alias {
        of: bench.at("tenant", 3).key.key,
        shared: false,
    };
    for (scope, event) in [
        (longer.as_str(), Event::Claim(with_tool("refund"))),
        (&longer, alias),
        ("tenant", Event::Claim(with_tool(&longer))),
    ] {
        let refused = bench.at(scope, 2);
        let error = refused.apply(event).await;
        let error = error.expect_err("it is too long");
        assert_eq!(error.code(), Code::InvalidArguments);
        assert_eq!(refused.read().await, None);
    }
}

pub(super) async fn names_and_bytes_of_any_kind_come_back<L: Ledger>(bench: &Bench<L>) {
    let names = [
        "",
        " ",
        "a:b",
        "a",
        "{tenant}",
        "te'n\"a\\nt; --",
        "tenant\n",
        "TENANT",
        "t\u{e9}nant \u{1f4b8}",
        "%s*?[a-z]",
    ];
    let every_byte: Vec<u8> = (0..=u8::MAX).collect();
    for name in names {
        let bench = bench.at(name, 1);
        assert_eq!(bench.read().await, None, "{name:?} is nobody else's");
        let claimed = Claim {
            tool: name.into(),
            ..claim()
        };
        let grant = bench.granted(claimed).await;
        bench.applied(send(grant.epoch, name)).await;
        bench.applied(settle(grant.epoch, done(&every_byte))).await;
        let entry = bench.entry().await;
        assert_eq!((&entry.key, &*entry.tool), (&bench.key, name));
        assert_eq!(entry.writes[0].label, name);
        assert_eq!(entry.result.as_deref(), Some(&*every_byte));
    }
}

/// What a seal may need of the room.
fn room<L: Ledger>(bench: &Bench<L>) -> usize {
    if bench.ledger.encrypts() {
        SEAL_ROOM
    } else {
        0
    }
}
