//! A private Redis or Valkey.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;
use std::{env, io};

use super::{Files, Server, Signal, Supervised, free_port, install, secret};

/// A Redis or Valkey server on a port of this machine that writes every change to its disk before
/// it answers.
#[derive(Debug)]
pub struct Redis {
    program: PathBuf,
    process: Option<Supervised>,
    port: u16,
    password: String,
    settings: Vec<String>,
    files: Files,
}

impl Redis {
    /// Finds the program and starts it.
    ///
    /// It is looked for on the path. Where it is missing and apt-get can be used it is installed.
    ///
    /// # Errors
    ///
    /// What is missing, or the end of the server's log.
    pub fn start() -> Result<Self, String> {
        Self::start_with(&[])
    }

    /// Starts a server with further words on its command line.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start).
    pub fn start_with(settings: &[&str]) -> Result<Self, String> {
        let mut refused = String::new();
        for _ in 0..PORTS {
            let mut server = Self {
                program: installed()?,
                process: None,
                port: free_port().map_err(|error| error.to_string())?,
                password: secret(),
                settings: settings.iter().map(ToString::to_string).collect(),
                files: Files::new("redis").map_err(|error| error.to_string())?,
            };
            match server.start_again() {
                Ok(()) => return Ok(server),
                // Somebody else was quicker to take the port.
                Err(reason) if server.is_crowded_out() => refused = reason,
                Err(reason) => return Err(reason),
            }
        }
        Err(refused)
    }

    /// Kills the server.
    pub fn crash(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.stop(Signal::Kill);
        }
    }

    /// Starts the server again on its files and its port, after a crash.
    ///
    /// # Errors
    ///
    /// The end of the server's log.
    pub fn start_again(&mut self) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.args(["--port", &self.port.to_string()]);
        command.args(["--requirepass", &self.password]);
        command.args(SETTINGS).args(&self.settings);
        let process = Supervised::start(&self.files, &command).map_err(|e| e.to_string())?;
        self.process = Some(process);
        self.wait()
    }

    fn wait(&self) -> Result<(), String> {
        for _ in 0..READY_ATTEMPTS {
            // It listens before it has loaded, and says so; and another server does not know us.
            if self.ping().is_ok_and(|answers| answers == ["+OK", "+PONG"]) {
                return Ok(());
            }
            if self.is_crowded_out() {
                break;
            }
            thread::sleep(READY_PAUSE);
        }
        let log = Supervised::log(&self.files);
        Err(format!("Redis did not start:\n{log}"))
    }

    /// Whether another process listens on the port.
    fn is_crowded_out(&self) -> bool {
        Supervised::log(&self.files).contains("Address already in use")
    }

    /// The answers to our password and a ping.
    fn ping(&self) -> io::Result<Vec<String>> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        write!(stream, "AUTH {}\r\nPING\r\n", self.password)?;
        BufReader::new(stream).lines().take(2).collect()
    }
}

impl Server for Redis {
    const VARIABLE: &str = "TOWER_OUTCOME_REDIS_URL";

    fn url(&self) -> String {
        let Self { password, port, .. } = self;
        format!("redis://:{password}@127.0.0.1:{port}/0")
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // Before the files go. While it starts it hears nothing that it could be asked in order.
        self.crash();
    }
}

/// The program.
fn installed() -> Result<PathBuf, String> {
    if let Some(found) = find() {
        return Ok(found);
    }
    install("Redis", "redis-server");
    find().ok_or_else(|| {
        "Redis is not installed: no `redis-server` or `valkey-server` on the path. Debian and \
         Ubuntu have it in `redis-server`, Fedora in `valkey`, Homebrew in `redis`"
            .to_owned()
    })
}

fn find() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut directories = env::split_paths(&path);
    directories.find_map(|directory| {
        let programs = PROGRAMS.iter().map(|program| directory.join(program));
        programs.into_iter().find(|program| program.is_file())
    })
}

const PROGRAMS: &[&str] = &["redis-server", "valkey-server"];

const SETTINGS: &[&str] = &[
    "--bind",
    "127.0.0.1",
    "--appendonly",
    "yes",
    "--appendfsync",
    "always",
    "--save",
    "",
];

/// How many ports are tried.
const PORTS: u32 = 5;

const READY_ATTEMPTS: u32 = 600;

const READY_PAUSE: Duration = Duration::from_millis(20);
