//! Several reconcilers on one ledger.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;
use tower_outcome::Code;
use tower_outcome_core::forward_ledger;
use tower_outcome_core::ledger::{EntryKey, Ledger};
use tower_outcome_sqlite::SqliteLedger;
use tower_outcome_testkit::Billing;
use tower_outcome_tools::{Reconciler, Report, Resender};

use crate::looks::Counting;
use crate::support::{Blind, Clock, LOST, client, http, intent, is, profile, request, requests};

/// A SQLite ledger that says that it encrypts.
struct Encrypting(SqliteLedger);

impl Ledger for Encrypting {
    forward_ledger!(self => self.0; apply read unresolved due page counts purge changed);

    fn encrypts(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn replicas_share_the_work_and_double_none_of_it() {
    let directory =
        std::env::temp_dir().join(format!("tower-outcome-replicas-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("ledger.sqlite");
    let clock = Clock::new();
    let open = || {
        Arc::new(Encrypting(
            SqliteLedger::open_with_clock(&path, clock.read()).unwrap(),
        ))
    };
    let (here, there) = (open(), open());
    let billing = Billing::start().await.unwrap();
    billing.script(vec![LOST; 20]);
    let profile = profile("retention_s = 86400\nstored_failures = 'replay'");
    let client = client(&here, &profile);
    let mut keys = Vec::new();
    for order in 0..20 {
        let arguments = json!({ "order": order });
        is(
            &client.send(request(&billing, &arguments)).await,
            Code::ResponseLost,
        );
        keys.push(EntryKey::of(&intent(&arguments)));
    }

    let asked = Counting::default();
    let look = |ledger: &Arc<Encrypting>| {
        Reconciler::new(Arc::clone(ledger), asked.clone()).with_clock(clock.read())
    };
    let (one, other) = (look(&here), look(&there));
    let (one, other) = tokio::join!(one.pass(), other.pass());
    let mut open = [one.unwrap().open, other.unwrap().open].concat();
    open.sort();
    keys.sort();
    assert_eq!(open, keys);
    assert_eq!(asked.0.load(Ordering::SeqCst), 20);

    clock.advance(std::time::Duration::from_hours(1));
    let resend = |ledger: &Arc<Encrypting>| {
        let resender = Resender::new(profile.clone(), requests(), http());
        let reconciler = Reconciler::new(Arc::clone(ledger), Blind).with_clock(clock.read());
        reconciler.with_resender(resender)
    };
    let (one, other) = (resend(&here), resend(&there));
    let (one, other) = tokio::join!(one.pass(), other.pass());
    let (one, other): (Report, Report) = (one.unwrap(), other.unwrap());
    let mut again = [one.resent, other.resent].concat();
    let mut confirmed = [one.confirmed, other.confirmed].concat();
    again.sort();
    confirmed.sort();
    assert_eq!((again, confirmed), (keys.clone(), keys));
    assert_eq!(billing.commits(), 20);
    assert_eq!(billing.received().len(), 40);
    std::fs::remove_dir_all(&directory).unwrap();
}
