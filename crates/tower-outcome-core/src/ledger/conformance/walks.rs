//! Long lives of entries, drawn at random, as the model lives them.

use std::time::Duration;

use super::mirror::Pair;
use super::{
    Bench, LEASE, REFUSED, SENDS_FOR, claim, done, release, send, settle, unannounced, unknown,
};
use crate::Fingerprint;
use crate::ledger::{Claim, Ending, Event, Ledger, Resolved};

pub(super) async fn a_life_drawn_at_random_is_the_models<L: Ledger>(bench: &Bench<L>) {
    walk(bench, Draw(0x5eed_0001), Draw::forwards).await;
}

pub(super) async fn a_clock_that_is_set_back_or_ahead_changes_no_rule<L: Ledger>(bench: &Bench<L>) {
    walk(bench, Draw(0x5eed_0002), Draw::either_way).await;
}

async fn walk<L: Ledger>(bench: &Bench<L>, mut draw: Draw, wait: fn(&mut Draw) -> Wait) {
    let pair = Pair::new(bench);
    for step in 0..STEPS {
        let scope = draw.one_of(&["tenant", "another tenant"]);
        let key = super::key(scope, draw.below(3));
        match wait(&mut draw) {
            Wait::Ahead(by) => bench.clock.advance(by),
            Wait::Back(by) => bench.clock.set_back(by),
        }
        let epoch = pair.epoch(&key).await;
        pair.apply(&key, draw.event(epoch)).await;
        if step % 20 == 0 {
            pair.compare_lists().await;
        }
    }
    pair.compare_lists().await;
}

/// How the clock moves.
enum Wait {
    Ahead(Duration),
    Back(Duration),
}

/// The same draws in every run (xorshift, Marsaglia 2003).
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from((self.0 >> 33) % u64::from(end)).unwrap_or_default()
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        let length = u32::try_from(all.len()).unwrap_or(u32::MAX);
        all[self.below(length) as usize]
    }

    fn forwards(&mut self) -> Wait {
        Wait::Ahead(self.one_of(&[TICK, TICK, TICK, SENDS_FOR, LEASE, LEASE * 2]))
    }

    fn either_way(&mut self) -> Wait {
        match self.below(4) {
            0 => Wait::Back(self.one_of(&[TICK, SENDS_FOR, LEASE * 100])),
            1 => Wait::Ahead(LEASE * 100),
            _ => self.forwards(),
        }
    }

    /// An event that names the entry's epoch as a rule, and one beside it at times.
    fn event(&mut self, epoch: u64) -> Event {
        let epoch = self.one_of(&[
            epoch,
            epoch,
            epoch,
            epoch,
            epoch + 1,
            epoch.saturating_sub(1),
        ]);
        let result = Some(b"{\"id\":7}".as_slice().into());
        let by = "mia".into();
        let reason = "saw it".into();
        match self.below(20) {
            0..=4 => Event::Claim(claim()),
            5 => Event::Claim(unannounced()),
            6 => Event::Claim(Claim {
                fingerprint: Fingerprint::default().with_part("amount", b"30"),
                ..claim()
            }),
            7..=9 => send(epoch, self.one_of(&["first", "second"])),
            10 => release(epoch),
            11 => settle(epoch, done(b"\0\xff")),
            12 | 13 => settle(epoch, REFUSED),
            14 => settle(epoch, unknown()),
            15 => Event::Look { again_after: LEASE },
            16 => Event::Resend {
                epoch,
                sends_for: SENDS_FOR,
            },
            17 => Event::Resolve {
                epoch,
                verdict: Resolved::Failed,
                by,
                reason,
            },
            18 if self.below(4) > 0 => settle(epoch, unknown()),
            18 => settle(epoch, Ending::Partial { result }),
            _ if self.below(4) > 0 => settle(epoch, REFUSED),
            _ => Event::Resolve {
                epoch,
                verdict: Resolved::Done { result },
                by,
                reason,
            },
        }
    }
}

const STEPS: u32 = 400;

const TICK: Duration = Duration::from_millis(1);
