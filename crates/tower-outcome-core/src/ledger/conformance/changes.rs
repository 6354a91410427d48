//! Who waits for an entry to change is told.

use super::{Bench, LEASE, claim, done, release, send, settle, unknown};
use crate::ledger::{Event, Ledger};

pub(super) async fn every_change_is_told<L: Ledger>(bench: &Bench<L>) {
    let look = Event::Look { again_after: LEASE };
    let changes = [
        Event::Claim(claim()),
        release(1),
        Event::Claim(claim()),
        send(2, "first"),
        settle(2, unknown()),
        look,
        Event::Find { result: None },
    ];
    for change in changes {
        let one = bench.ledger.changed(&bench.key);
        let another = bench.ledger.changed(&bench.key);
        // Asked for before it happens, and awaited afterwards: none comes in between.
        let applied = bench.apply(change).await;
        applied.expect("it is allowed");
        one.await;
        another.await;
    }
}

pub(super) async fn who_no_longer_waits_keeps_nobody<L: Ledger>(bench: &Bench<L>) {
    let neighbour = bench.at("tenant", 2);
    drop(bench.ledger.changed(&bench.key));
    let stays = bench.ledger.changed(&bench.key);
    let elsewhere = neighbour.ledger.changed(&neighbour.key);
    drop(elsewhere);
    let epoch = bench.granted(claim()).await.epoch;
    stays.await;
    bench.applied(settle(epoch, done(b"{}"))).await;
}
