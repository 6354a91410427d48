//! Private servers of other people's making, for tests and examples.
//!
//! A server runs as a child of the process that started it, with files of its own that are gone
//! with it. It stops when its handle is dropped and also when that process dies, whatever kills it.
//!
//! A further kind of server is one more type that holds a [`Files`] and a [`Supervised`] and
//! implements [`Server`].

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};

pub use self::files::Files;
pub use self::postgres::Postgres;
pub use self::redis::Redis;
pub use self::supervised::{Signal, Supervised};

mod files;
mod postgres;
mod redis;
mod supervised;

/// A running server, as tests are told of it.
pub trait Server {
    /// The environment variable in which tests look for the server's URL.
    const VARIABLE: &str;

    /// What a client connects to.
    fn url(&self) -> String;
}

/// A port of this machine that nobody listens on.
///
/// # Errors
///
/// The operating system has none to give.
pub fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// Something that others cannot guess, in hex.
fn secret() -> String {
    let random = || RandomState::new().hash_one(());
    format!("{:016x}{:016x}", random(), random())
}

/// Installs what a server needs, where we may and the system is of that kind. Whether it worked is
/// for the next look to tell.
fn install(server: &str, package: &str) {
    for arguments in [&["update"][..], &[INSTALL, &[package]].concat()] {
        let command = arguments.join(" ");
        eprintln!("xtask: {server} is not installed; apt-get {command}");
        let _ = Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(Stdio::null())
            .status();
    }
}

const INSTALL: &[&str] = &["install", "--yes", "--no-install-recommends"];
