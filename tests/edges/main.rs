//! Ways to make a write end in a word that is not true. Each stood for a defect.

#[path = "../support/clients.rs"]
mod clients;
#[path = "../support/ends.rs"]
mod ends;
#[path = "../support/ledger.rs"]
mod ledger;

mod bodies;
mod drains;
mod foreign;
mod grpc;
mod panics;
mod repeats;
mod requests;
mod streams;
mod told;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tower_outcome::Intent;

fn intent() -> Intent {
    Intent::new("acme", "refund", &json!({ "order": "A-1", "amount": 1000 })).unwrap()
}

/// Answers every connection with a head and the start of a body, and holds it.
async fn stalling() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut held = Vec::new();
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 4096];
            let _ = socket.read(&mut buffer).await.unwrap();
            let start = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
            socket.write_all(start).await.unwrap();
            held.push(socket);
        }
    });
    url
}
