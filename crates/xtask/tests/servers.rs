//! Private servers end with those who started them.

use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Command, Stdio};

use xtask::servers::{Files, Postgres, Server as _};

#[test]
fn a_server_ends_with_its_handle() {
    let server = Postgres::start().unwrap();
    let port = port(&server);
    assert!(connects(port));
    drop(server);
    assert!(!connects(port));
}

#[test]
fn a_server_ends_with_the_process_that_started_it_though_that_is_killed() {
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "owner", "--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    let port = lines.find_map(|line| line.unwrap().strip_prefix("port ")?.parse().ok());
    let port = port.expect("the owner started a server");
    assert!(connects(port));
    owner.kill().unwrap();
    owner.wait().unwrap();
    while connects(port) {
        std::thread::yield_now();
    }
}

/// Starts a server and waits for its own end.
#[test]
#[ignore = "is started by the test above, which kills it"]
fn owner() {
    let server = Postgres::start().unwrap();
    println!("\nport {}", port(&server));
    let _ = std::io::stdin().lines().next();
}

#[test]
fn files_end_with_their_handle() {
    let files = Files::new("test").unwrap();
    let path = files.path().to_owned();
    assert!(path.is_dir());
    drop(files);
    assert!(!path.exists());
}

fn port(server: &Postgres) -> u16 {
    let url = server.url();
    url.rsplit([':', '/']).nth(1).unwrap().parse().unwrap()
}

fn connects(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}
