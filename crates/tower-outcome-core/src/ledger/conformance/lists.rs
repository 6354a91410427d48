//! What is listed and counted.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Bench, LEASE, REFUSED, claim, done, release, send, settle, unannounced, unknown};
use crate::ledger::{Claim, Counts, Cursor, Ending, Entry, EntryKey, Event, Filter, Ledger, State};

pub(super) async fn what_waits_longest_is_due_first<L: Ledger>(bench: &Bench<L>) {
    // Neither of them: alive, ended, and free once its lease has ended.
    bench.at("tenant", 1).granted(claim()).await;
    let ended = bench.at("tenant", 2);
    ended.granted(claim()).await;
    ended.applied(settle(1, done(b"{}"))).await;

    let later = bench.at("tenant", 3);
    later.granted(claim()).await;
    later.applied(send(1, "first")).await;
    later.applied(settle(1, unknown())).await;
    let looked_at = Event::Look { again_after: TICK };
    later.applied(looked_at).await;
    let first = bench.at("another tenant", 4);
    first.granted(claim()).await;
    first.applied(settle(1, unknown())).await;
    assert_eq!(due(bench, 10).await, [first.entry().await]);

    bench.clock.advance(TICK);
    let last = bench.at("tenant", 5);
    last.granted(unannounced()).await;
    assert_eq!(
        due(bench, 10).await,
        [first.entry().await, later.entry().await]
    );
    bench.clock.advance(LEASE);
    let all = [first.entry().await, later.entry().await, last.entry().await];
    assert_eq!(due(bench, 10).await, all);
    assert_eq!(due(bench, 2).await, all[..2]);
    assert_eq!(due(bench, 0).await, []);

    first.applied(Event::Look { again_after: LEASE }).await;
    later.applied(Event::Find { result: None }).await;
    assert_eq!(due(bench, 10).await, all[2..]);
    // It is in doubt all the same.
    let listed = bench.ledger.unresolved(10).await;
    assert_eq!(listed.map(|it| it.entries.len()).ok(), Some(2));
}

pub(super) async fn pages_list_everything_that_stays<L: Ledger>(bench: &Bench<L>) {
    let everything = fill(bench).await;
    for limit in [1, 3, 7, 1_000] {
        let filter = Filter::new(limit);
        assert_eq!(pages(bench, filter).await, everything, "by {limit}");
    }
    // Others come in between.
    let mut filter = Filter::new(3);
    let mut seen = BTreeMap::new();
    let mut number = 1_000;
    loop {
        number += 1;
        bench.clock.advance(TICK);
        bench.at("a newcomer", number).granted(claim()).await;
        let page = bench.ledger.page(&filter).await;
        let page = page.expect("the store lists a page");
        seen.extend(page.entries.into_iter().map(|it| (it.key.clone(), it)));
        let Some(next) = page.next else { break };
        filter.after = Some(read_back(&next));
    }
    seen.retain(|key, _| &*key.scope != "a newcomer");
    assert_eq!(seen, everything);
}

pub(super) async fn a_filter_admits_what_it_says<L: Ledger>(bench: &Bench<L>) {
    let everything = fill(bench).await;
    let now = bench.clock.now();
    let any = || Filter::new(4);
    let mut filters: Vec<Filter> = State::ALL
        .iter()
        .map(|state| Filter {
            state: Some(*state),
            ..any()
        })
        .collect();
    filters.extend(["tenant", "another tenant", "nobody"].map(|scope| Filter {
        scope: Some(scope.into()),
        ..any()
    }));
    filters.extend(["refund", "payout"].map(|tool| Filter {
        tool: Some(tool.into()),
        state: Some(State::Unknown),
        ..any()
    }));
    filters.extend([0, 1, 5, 1_000_000].map(|age| Filter {
        older_than: Some(TICK * age),
        ..any()
    }));
    for filter in filters {
        let admitted: BTreeMap<_, _> = everything
            .iter()
            .filter(|(_, entry)| filter.admits(entry, now))
            .map(|(key, entry)| (key.clone(), entry.clone()))
            .collect();
        let shown = format!("{filter:?}");
        assert_eq!(pages(bench, filter).await, admitted, "{shown}");
    }
}

pub(super) async fn a_place_that_was_made_up_is_refused<L: Ledger>(bench: &Bench<L>) {
    for text in ["", "made up", "7.zz.tenant", "\u{1f4b8}"] {
        let after = Some(Cursor::new(text));
        let filter = Filter {
            after,
            ..Filter::new(10)
        };
        let refused = bench.ledger.page(&filter).await;
        assert!(refused.is_err(), "{text:?} is taken for a place");
    }
}

pub(super) async fn counts_are_those_of_the_entries<L: Ledger>(bench: &Bench<L>) {
    let none = bench.ledger.counts().await;
    assert_eq!(none.ok(), Some(Counts::default()));
    fill(bench).await;
    for _ in 0..2 {
        let entries = pages(bench, Filter::new(100)).await;
        let mut expected = Counts::default();
        for entry in entries.values() {
            expected.add_entry(entry, bench.clock.now());
        }
        assert_eq!(bench.ledger.counts().await.ok(), Some(expected));
        assert_eq!(expected.total(), entries.len() as u64);
        // And once every lease has ended.
        bench.clock.advance(LEASE);
    }
}

/// Entries in every state, of two tenants and two tools, each of a moment of its own.
async fn fill<L: Ledger>(bench: &Bench<L>) -> BTreeMap<EntryKey, Entry> {
    let ends = [
        vec![],
        vec![send(1, "first")],
        vec![settle(1, done(b"{}"))],
        vec![settle(1, REFUSED)],
        vec![release(1)],
        vec![settle(1, Ending::Partial { result: None })],
        vec![send(1, "first"), settle(1, unknown())],
    ];
    let mut filled = BTreeMap::new();
    for (number, (scope, tool)) in (0..).zip([
        ("tenant", "refund"),
        ("another tenant", "payout"),
        ("tenant", "payout"),
    ]) {
        for (place, end) in (0..).zip(&ends) {
            bench.clock.advance(TICK);
            let bench = bench.at(scope, 10 * place + number);
            let tool = tool.into();
            bench.granted(Claim { tool, ..claim() }).await;
            for event in end {
                bench.applied(event.clone()).await;
            }
            filled.insert(bench.key.clone(), bench.entry().await);
        }
    }
    filled
}

/// All that the pages of a filter hold. A store may show an entry on more than one.
async fn pages<L: Ledger>(bench: &Bench<L>, mut filter: Filter) -> BTreeMap<EntryKey, Entry> {
    let mut listed = BTreeMap::new();
    loop {
        let page = bench.ledger.page(&filter).await;
        let page = page.expect("the store lists a page");
        listed.extend(page.entries.into_iter().map(|it| (it.key.clone(), it)));
        match page.next {
            Some(next) => filter.after = Some(read_back(&next)),
            None => return listed,
        }
    }
}

/// People write places down.
fn read_back(place: &Cursor) -> Cursor {
    let written = place.to_string().parse();
    written.expect("any text is taken")
}

async fn due<L: Ledger>(bench: &Bench<L>, limit: usize) -> Vec<Entry> {
    let listed = bench.ledger.due(limit).await;
    listed.expect("the store lists what is due").entries
}

const TICK: Duration = Duration::from_millis(1);
