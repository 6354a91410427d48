//! Calls whose writes something on the way sends on more than once.

use tower_outcome::{Code, Outcome, Profile};
use tower_outcome_testkit::{Relay, ReplayingProxy, Step};
use tower_outcome_tools::Tool;

use crate::support::{Bench, Writer, call, is};

/// A tool that writes through a proxy, as its client's profile says or does not say.
async fn through(bench: &Bench, relay: Relay, profile: Profile) -> (ReplayingProxy, Tool) {
    let proxy = ReplayingProxy::start(bench.billing.addr()).await.unwrap();
    proxy.script([relay]);
    let writer = Writer::new(proxy.url(), profile);
    let tool = Tool::write("refund", move |arguments| {
        let writer = writer.clone();
        async move { Ok(writer.write("/refunds", &arguments).await?) }
    });
    (proxy, tool)
}

fn proxied() -> Profile {
    Profile::idempotency_key().with_replaying_proxy()
}

#[tokio::test]
async fn what_a_proxy_made_of_a_new_call_was_done_by_that_call() {
    for step in [Step::CommitThenClose, Step::CommitThenReset] {
        let bench = Bench::scripted([step]).await;
        let (_proxy, refund) = through(&bench, Relay::AgainIfLost, proxied()).await;
        let executor = bench.executor().with_tool(refund);
        let first = executor.run(call("refund")).await;
        is(&first, Outcome::Ok, Code::DoneReplayed);
        let again = executor.run(call("refund")).await;
        is(&again, Outcome::AlreadyDone, Code::AlreadyDone);
        assert_eq!(
            (bench.billing.received().len(), bench.billing.commits()),
            (2, 1)
        );
    }
}

#[tokio::test]
async fn a_replay_that_nothing_on_the_way_explains_was_done_before() {
    let bench = Bench::scripted([Step::CommitThenClose]).await;
    let (_proxy, refund) = through(&bench, Relay::AgainIfLost, Profile::idempotency_key()).await;
    let envelope = bench.run(refund).await;
    is(&envelope, Outcome::AlreadyDone, Code::AlreadyDone);
}
