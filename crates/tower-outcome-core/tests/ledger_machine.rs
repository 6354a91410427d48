//! What no sequence of events can do to an entry.

use std::time::Duration;

use proptest::prelude::*;
use tower_outcome_core::ledger::entry::MAX_RESULT;
use tower_outcome_core::ledger::machine::{expired, step};
use tower_outcome_core::ledger::{
    Answer, Claim, Ending, Entry, EntryKey, Event, Owner, State, Timestamp, WriteRecord,
};
use tower_outcome_core::{Code, Conclusion, Fingerprint, IdempotencyKey};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_sequence_of_events_breaks_a_law(moves in prop::collection::vec(any_move(), 1..40)) {
        let key = key();
        let mut now = Timestamp(1_000_000);
        let mut entry: Option<Entry> = None;
        for (wait, event) in moves {
            now = now.after(wait);
            // Epochs are drawn close to the current one, so that many events are legal.
            let event = at_epoch(event, entry.as_ref().map_or(0, |entry| entry.epoch));
            let Ok((next, answer)) = step(&key, entry.as_ref(), event.clone(), now) else {
                continue;
            };
            let before = entry.as_ref().map(|entry| expired(entry.clone(), now));
            if let Answer::Granted(grant) = &answer {
                let stored = next.as_ref().expect("a granted claim is stored");
                prop_assert_eq!(grant.epoch, stored.epoch);
                prop_assert_eq!(grant.generation, stored.generation);
                prop_assert_eq!(stored.state, State::Claimed);
            }
            let Some(next) = next else { continue };
            keeps_the_laws(before.as_ref(), &event, &answer, &next, now)?;
            entry = Some(next);
        }
    }

    #[test]
    fn time_frees_only_what_was_never_sent(
        moves in prop::collection::vec(any_move(), 1..12),
        wait in 0_u64..200_000,
    ) {
        let key = key();
        let mut now = Timestamp(1_000_000);
        let mut entry: Option<Entry> = None;
        for (wait, event) in moves {
            now = now.after(wait);
            let event = at_epoch(event, entry.as_ref().map_or(0, |entry| entry.epoch));
            if let Ok((Some(next), _)) = step(&key, entry.as_ref(), event, now) {
                entry = Some(next);
            }
        }
        let Some(entry) = entry else { return Ok(()) };
        let later = expired(entry.clone(), now.after(Duration::from_millis(wait)));
        prop_assert_eq!(later.maybe_sent, entry.maybe_sent);
        prop_assert_eq!((later.epoch, later.generation), (entry.epoch, entry.generation));
        if later.state != entry.state {
            let held = matches!(entry.state, State::Claimed | State::Dispatching);
            prop_assert!(held, "{:?} became {:?}", entry.state, later.state);
            let end = if entry.maybe_sent { State::Unknown } else { State::Free };
            prop_assert_eq!(later.state, end);
        }
    }
}

fn keeps_the_laws(
    before: Option<&Entry>,
    event: &Event,
    answer: &Answer,
    next: &Entry,
    now: Timestamp,
) -> Result<(), TestCaseError> {
    let state = before.map_or(State::Free, |entry| entry.state);
    let tainted = before.is_some_and(|entry| entry.maybe_sent);
    let epoch = before.map_or(0, |entry| entry.epoch);
    let generation = before.map_or(0, |entry| entry.generation);
    let granted = matches!(answer, Answer::Granted(_));
    let failed = matches!(
        event,
        Event::Settle {
            ending: Ending::Failed { .. },
            ..
        }
    );
    let done = matches!(event, Event::Find { .. })
        || matches!(
            event,
            Event::Settle {
                ending: Ending::Done { .. },
                ..
            }
        );

    prop_assert!(
        !matches!(state, State::Done | State::Partial),
        "{:?} was changed by {:?}",
        state,
        event
    );
    if tainted && !next.maybe_sent {
        let proof = failed || matches!(event, Event::Release { .. });
        prop_assert!(proof, "{:?} cleared the taint", event);
    }
    if let Some(shown) = event.epoch()
        && !done
    {
        prop_assert_eq!(shown, epoch, "{:?} of another epoch took effect", event);
    }
    prop_assert_eq!(next.epoch, epoch + u64::from(granted));
    prop_assert_eq!(next.generation, generation + u32::from(failed));
    if granted {
        prop_assert!(!tainted, "what may have been sent was granted again");
        prop_assert!(matches!(state, State::Failed | State::Free));
    }
    if matches!(event, Event::Send { .. }) {
        prop_assert!(matches!(state, State::Claimed | State::Dispatching));
        prop_assert!(next.maybe_sent && next.last_send_by > Some(now));
    }
    if matches!(next.state, State::Dispatching | State::Unknown) {
        prop_assert!(next.maybe_sent, "{:?} untainted", next.state);
    }
    if matches!(next.state, State::Free | State::Failed) {
        prop_assert!(!next.maybe_sent, "{:?} tainted", next.state);
    }
    prop_assert_eq!(next.state == State::Done, done);
    prop_assert_eq!(next.updated_at, now);
    prop_assert_eq!(
        next.created_at,
        before.map_or(now, |entry| entry.created_at)
    );
    let size = next.result.as_ref().map_or(0, |result| result.len());
    prop_assert!(size <= MAX_RESULT);
    Ok(())
}

/// Turns the distance that was drawn (0 is the current epoch) into an epoch.
fn at_epoch(mut event: Event, current: u64) -> Event {
    match &mut event {
        Event::Release { epoch, .. }
        | Event::Resend { epoch, .. }
        | Event::Resolve { epoch, .. }
        | Event::Send { epoch, .. }
        | Event::Settle { epoch, .. } => {
            *epoch = match *epoch {
                behind @ 1..=3 => current.saturating_sub(behind),
                4 => current + 1,
                _ => current,
            };
        }
        Event::Alias { .. }
        | Event::Claim(_)
        | Event::Find { .. }
        | Event::Home { .. }
        | Event::Look { .. } => {}
    }
    event
}

fn any_move() -> impl Strategy<Value = (Duration, Event)> {
    let wait = prop_oneof![Just(0_u64), 0_u64..2_000, 0_u64..60_000];
    (wait.prop_map(Duration::from_millis), any_event())
}

fn any_event() -> impl Strategy<Value = Event> {
    let epoch = || prop_oneof![6 => Just(0_u64), 1 => 1_u64..=4];
    let lease = || (0_u64..20_000).prop_map(Duration::from_millis);
    let claim = (any::<[u8; 16]>(), lease(), any::<bool>(), 0_u8..3);
    prop_oneof![
        3 => claim.prop_map(|(owner, lease, announces_sends, part)| Event::Claim(Claim {
            tool: "refund".into(),
            owner: Owner::from_bytes(owner),
            lease,
            fingerprint: Fingerprint::default().with_part("amount", &[part]),
            announces_sends,
        })),
        1 => any_result().prop_map(|result| Event::Find { result }),
        2 => epoch().prop_map(|epoch| Event::Release { epoch, code: Code::NotSent }),
        4 => (epoch(), lease(), 1_u64..9_000, 0_u8..3).prop_map(|(epoch, lease, ms, label)| {
            Event::Send {
                epoch,
                write: WriteRecord {
                    label: format!("step {label}"),
                    route: "POST api.example/refunds".into(),
                    wire_key: "k-1".into(),
                    only: true,
                    ..WriteRecord::default()
                },
                lease,
                sends_for: Duration::from_millis(ms),
            }
        }),
        4 => (epoch(), any_ending()).prop_map(|(epoch, ending)| Event::Settle { epoch, ending }),
    ]
}

fn any_ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        1 => any_result().prop_map(|result| Ending::Done { code: Code::Done, result }),
        3 => Just(Ending::Failed { code: Code::Rejected }),
        1 => any_result().prop_map(|result| Ending::Partial { result }),
        3 => (any_result(), any::<bool>()).prop_map(|(result, settled)| {
            let open = Conclusion::new(Code::ResponseLost);
            let conclusion = if settled { open.settled() } else { open };
            Ending::Unknown { conclusion, result }
        }),
    ]
}

fn any_result() -> impl Strategy<Value = Option<Box<[u8]>>> {
    let size = prop_oneof![
        Just(0_usize),
        Just(2),
        Just(MAX_RESULT),
        Just(MAX_RESULT + 1)
    ];
    prop::option::of(size.prop_map(|size| vec![b'x'; size].into_boxed_slice()))
}

fn key() -> EntryKey {
    EntryKey {
        scope: "acme".into(),
        key: IdempotencyKey::from_bytes([1; 32]),
    }
}
