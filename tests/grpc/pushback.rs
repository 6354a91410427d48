//! A server may ask for another pace (gRFC A6, "Pushback").

use std::time::Duration;

use tokio::time::Instant;
use tonic::Status;
use tonic::metadata::MetadataMap;
use tower_outcome::{Code, KeyedRetry, Profile, Stack};

use crate::billing::{Billing, Step};
use crate::keyed_write;
use crate::refunds::Refunds;

fn pushing_back(how: &'static str) -> Status {
    let mut metadata = MetadataMap::new();
    metadata.insert("grpc-retry-pushback-ms", how.parse().unwrap());
    Status::with_metadata(tonic::Code::Unavailable, "busy", metadata)
}

fn stack() -> Stack {
    Stack::new()
        .with_deadline(Duration::from_mins(1))
        .with_retry(KeyedRetry::new(3).with_first_delay(Duration::ZERO))
        .with_profile(Profile::idempotency_key())
}

#[tokio::test(start_paused = true)]
async fn the_pace_that_the_server_asks_for_is_kept() {
    for step in [Step::Fail, Step::MessageThenFail] {
        let (billing, channel) = Billing::in_memory();
        billing.script([step(pushing_back("7000"))]);
        let mut refunds = Refunds::new(&stack(), channel);

        let start = Instant::now();
        let (request, watch) = keyed_write();
        assert_eq!(refunds.refund(request).await.unwrap().get_ref(), "re_1");
        assert_eq!(start.elapsed().as_secs(), 7);
        assert_eq!(watch.verdict().unwrap().code(), Code::Done);
        assert_eq!(billing.received().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pace_of_nothing_is_a_retry_at_once() {
    let (billing, channel) = Billing::in_memory();
    billing.script([Step::Fail(pushing_back("0")), Step::Fail(pushing_back("0"))]);
    let mut refunds = Refunds::new(&stack(), channel);

    let start = Instant::now();
    let (request, _) = keyed_write();
    assert_eq!(refunds.refund(request).await.unwrap().get_ref(), "re_1");
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(billing.received().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_negative_or_unreadable_pace_stops_the_retry() {
    for how in ["-1", "soon", ""] {
        let (billing, channel) = Billing::in_memory();
        billing.script([Step::Fail(pushing_back(how))]);
        let mut refunds = Refunds::new(&stack(), channel);

        let (request, watch) = keyed_write();
        let status = refunds.refund(request).await.unwrap_err();
        assert_eq!(status.message(), "busy");
        assert_eq!(watch.verdict().unwrap().code(), Code::ServerError, "{how}");
        assert_eq!(billing.received().len(), 1, "{how}");
    }
}
