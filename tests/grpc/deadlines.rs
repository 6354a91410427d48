//! Calls whose time runs out while the server holds the answer.

use std::time::Duration;

use tower_outcome::{Code, MemoryLedger, Outcome};

use crate::billing::Billing;
use crate::ends::Ends as _;
use crate::refunds::Refunds;
use crate::{keyed_write, once, ours, write};

#[tokio::test(start_paused = true)]
async fn silence_behind_the_request_is_unknown_and_the_late_answer_settles_it() {
    for make in [write, keyed_write] {
        let (billing, channel) = Billing::in_memory();
        let held = billing.hold();
        let mut refunds = Refunds::new(&once().with_deadline(DEADLINE), channel);

        let (request, watch) = make();
        let status = refunds.refund(request).await.unwrap_err();
        assert_eq!(ours(&status).code(), Code::TimeoutAfterSend);
        assert_eq!(watch.verdict().unwrap().outcome(), Outcome::Unknown);
        assert_eq!(billing.commits(), 1);

        drop(held);
        let settled = watch.call().unwrap().settled().ends().await;
        assert_eq!(settled.code(), Code::Done);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_whose_end_is_late_is_read_to_its_end_all_the_same() {
    let (billing, channel) = Billing::in_memory();
    let feed = billing.stream();
    feed.send(Ok("re_1".into())).unwrap();
    let stack = once().with_deadline(Duration::from_millis(500));
    let mut refunds = Refunds::new(&stack, channel);

    let (request, watch) = keyed_write();
    let status = refunds.refund(request).await.unwrap_err();
    assert_eq!(ours(&status).code(), Code::TimeoutAfterSend);

    tokio::time::advance(Duration::from_secs(5)).await;
    drop(feed);
    let settled = watch.call().unwrap().settled().ends().await;
    assert_eq!(settled.code(), Code::Done);
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_is_what_the_same_call_gets_next() {
    let (billing, channel) = Billing::in_memory();
    let held = billing.hold();
    let stack = once()
        .with_deadline(DEADLINE)
        .with_ledger(MemoryLedger::default());
    let mut refunds = Refunds::new(&stack, channel);

    let (request, watch) = keyed_write();
    refunds.refund(request).await.unwrap_err();
    drop(held);
    watch.call().unwrap().settled().ends().await;

    let (request, watch) = keyed_write();
    assert_eq!(refunds.refund(request).await.unwrap().get_ref(), "re_1");
    assert_eq!(watch.verdict().unwrap().code(), Code::AlreadyDone);
    assert_eq!(billing.received().len(), 1);
}

/// A caller who goes away takes nothing back.
#[tokio::test]
async fn a_dropped_call_goes_on_and_is_settled() {
    let (billing, channel) = Billing::on_loopback().await;
    let held = billing.hold();
    let mut refunds = Refunds::new(&once(), channel);

    let (request, watch) = keyed_write();
    tokio::select! {
        _ = refunds.refund(request) => panic!("the answer is held back"),
        () = billing.wait_commits(1) => {}
    }
    drop(held);
    assert_eq!(
        watch.call().unwrap().settled().ends().await.code(),
        Code::Done
    );
}

const DEADLINE: Duration = Duration::from_secs(2);
