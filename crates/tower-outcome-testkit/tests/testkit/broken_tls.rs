//! Handshakes that fail.

use tower_outcome_testkit::{BrokenTls, TlsFault, What};

use crate::client::{Client, Ending};

/// A record of the type "handshake" that holds four bytes.
const HELLO: &[u8] = &[22, 3, 1, 0, 4, 1, 0, 0, 0];

async fn greeted(fault: TlsFault) -> (BrokenTls, Client) {
    let broken = BrokenTls::start(fault).await.unwrap();
    let mut client = Client::connect(broken.addr()).await;
    client.send(HELLO).await;
    (broken, client)
}

#[tokio::test]
async fn a_handshake_can_be_closed_reset_or_answered_with_nonsense() {
    let endings = [
        (TlsFault::Close, "", Ending::Fin),
        (TlsFault::Garbage, "HTTP/1.1 400 \r\n\r\n", Ending::Fin),
        (TlsFault::Reset, "", Ending::Reset),
    ];
    for (fault, said, ending) in endings {
        let (broken, mut client) = greeted(fault).await;
        assert_eq!(client.ending().await, (said.to_owned(), ending));
        assert_eq!(broken.connections(), 1);
    }
}

#[tokio::test]
async fn a_handshake_can_meet_silence_until_the_client_leaves() {
    let (broken, mut client) = greeted(TlsFault::Silence).await;
    broken.wait_for(|event| event.what == What::Holding).await;
    assert_eq!(client.finish().await.0, "");
    let last = broken.timeline().pop().unwrap();
    assert_eq!(last.what, What::ClientClosed);
}

#[tokio::test]
async fn nothing_is_said_before_the_first_message_is_whole() {
    let broken = BrokenTls::start(TlsFault::Reset).await.unwrap();
    let mut client = Client::connect(broken.addr()).await;
    client.send(&HELLO[..HELLO.len() - 1]).await;
    assert_eq!(client.finish().await, (String::new(), Ending::Fin));
    let happened: Vec<_> = broken.timeline().into_iter().map(|it| it.what).collect();
    assert_eq!(happened, [What::Accepted, What::ClientClosed]);
}

#[tokio::test]
async fn a_client_that_speaks_no_tls_is_noticed() {
    let broken = BrokenTls::start(TlsFault::Silence).await.unwrap();
    let mut client = Client::connect(broken.addr()).await;
    client.send("POST / HTTP/1.1\r\n\r\n").await;
    client.ending().await;
    let last = broken.timeline().pop().unwrap();
    assert_eq!(last.what, What::Malformed);
}
