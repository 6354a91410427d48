//! Ports that refuse, ports that are silent, and services that come and go.

use std::io::ErrorKind;
use std::time::Duration;

use tokio::net::TcpStream;
use tower_outcome_testkit::{Billing, Refusing, Unreachable, What};

use crate::client::{CREATED, Client, Ending, until, write};

/// Long enough for a connect over loopback, which takes microseconds.
const A_WHILE: Duration = Duration::from_millis(100);

#[tokio::test]
async fn a_refusing_port_refuses_until_it_is_opened() {
    let refusing = Refusing::start().unwrap();
    let (addr, url) = (refusing.addr(), refusing.url());
    for _ in 0..2 {
        let refused = TcpStream::connect(addr).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    }

    let billing = refusing.open().unwrap();
    assert_eq!(billing.url(), url);
    let mut client = Client::connect(addr).await;
    client.send(write("k")).await;
    assert_eq!(client.answer().await, CREATED);
    client.send(write("k")).await;
    assert!(client.answer().await.contains("idempotent-replayed: true"));
}

#[tokio::test]
async fn a_refusing_port_cannot_be_taken() {
    let refusing = Refusing::start().unwrap();
    let taken = std::net::TcpListener::bind(refusing.addr());
    assert!(refusing.open().is_ok() != taken.is_ok());
}

#[tokio::test]
async fn a_stopped_service_refuses_and_remembers() {
    let billing = Billing::start().await.unwrap();
    let mut kept = Client::sending(&billing, write("k")).await;
    kept.answer().await;

    let refusing = billing.stop().await.unwrap();
    assert_eq!(kept.ending().await, (String::new(), Ending::Fin));
    let refused = TcpStream::connect(refusing.addr()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);

    let billing = refusing.open().unwrap();
    let mut client = Client::sending(&billing, write("k")).await;
    assert!(client.answer().await.contains("idempotent-replayed: true"));
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_dropped_service_closes_its_connections() {
    let billing = Billing::start().await.unwrap();
    let addr = billing.addr();
    let mut idle = Client::connect(addr).await;
    until(&billing, What::Accepted).await;

    drop(billing);
    assert_eq!(idle.ending().await, (String::new(), Ending::Fin));
    let refused = TcpStream::connect(addr).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn a_connect_to_an_unreachable_address_hangs() {
    let unreachable = Unreachable::start().await.unwrap();
    for _ in 0..3 {
        let connect = TcpStream::connect(unreachable.addr());
        assert!(tokio::time::timeout(A_WHILE, connect).await.is_err());
    }
}

#[tokio::test]
async fn a_connect_to_a_service_does_not_hang() {
    let billing = Billing::start().await.unwrap();
    let connect = TcpStream::connect(billing.addr());
    assert!(tokio::time::timeout(A_WHILE, connect).await.is_ok());
}
