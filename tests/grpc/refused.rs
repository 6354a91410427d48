//! A server that says, in words of the protocol, that it did not look at a request.

use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use http::HeaderMap;
use tokio::sync::mpsc;
use tonic::transport::Channel;
use tower_outcome::{Code, KeyedRetry, Outcome, Stack};

use crate::billing::over;
use crate::refunds::Refunds;
use crate::{once, ours, write};

/// A server that refuses its first stream and answers all others, and what it did to each.
fn server() -> (mpsc::UnboundedReceiver<&'static str>, Channel) {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (tell, told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut connection = h2::server::handshake(theirs).await.unwrap();
        let mut first = true;
        while let Some(Ok((_request, mut respond))) = connection.accept().await {
            if std::mem::take(&mut first) {
                respond.send_reset(Reason::REFUSED_STREAM);
                tell.send("refused").unwrap();
                continue;
            }
            let head = http::Response::builder().header("content-type", "application/grpc");
            let mut body = respond
                .send_response(head.body(()).unwrap(), false)
                .unwrap();
            body.send_data(Bytes::from_static(b"\0\0\0\0\x04re_1"), false)
                .unwrap();
            let mut trailers = HeaderMap::new();
            trailers.insert("grpc-status", "0".parse().unwrap());
            body.send_trailers(trailers).unwrap();
            tell.send("answered").unwrap();
        }
    });
    (told, over(ours))
}

#[tokio::test]
async fn a_refused_stream_failed() {
    let (mut told, channel) = server();
    let mut refunds = Refunds::new(&once(), channel);

    let (request, watch) = write();
    let status = refunds.refund(request).await.unwrap_err();
    assert_eq!(ours(&status).code(), Code::RefusedByProtocol);
    assert_eq!(watch.verdict().unwrap().outcome(), Outcome::Failed);
    assert_eq!(told.recv().await, Some("refused"));
}

/// Nothing of the first attempt happened, so that even a write without a key may be made again.
#[tokio::test]
async fn a_refused_stream_is_repeated_where_unsent_retries_are_wanted() {
    let (mut told, channel) = server();
    let retry = KeyedRetry::new(3).with_first_delay(Duration::ZERO);
    let stack = Stack::new().with_retry(retry.with_unsent_retries());
    let mut refunds = Refunds::new(&stack, channel);

    let (request, watch) = write();
    assert_eq!(refunds.refund(request).await.unwrap().get_ref(), "re_1");
    assert_eq!(watch.verdict().unwrap().code(), Code::Done);
    assert_eq!(told.recv().await, Some("refused"));
    assert_eq!(told.recv().await, Some("answered"));
    assert_eq!(watch.call().unwrap().attempts(), 2);
}
