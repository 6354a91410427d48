//! A private `PostgreSQL`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;
use std::{env, fs};

use super::{Files, Server, Signal, Supervised, free_port, install, secret};

/// A `PostgreSQL` server on a port of this machine, as durable as one of earnest use.
#[derive(Debug)]
pub struct Postgres {
    binaries: PathBuf,
    process: Option<Supervised>,
    port: u16,
    password: String,
    files: Files,
}

impl Postgres {
    /// Finds the programs, makes a database cluster and starts it.
    ///
    /// Programs are looked for where Debian has them and on the path. Where they are missing and
    /// apt-get can be used they are installed.
    ///
    /// # Errors
    ///
    /// What is missing, or the end of the server's log.
    pub fn start() -> Result<Self, String> {
        let binaries = installed()?;
        let files = Files::new("postgres").map_err(|error| error.to_string())?;
        let password = secret();
        let server = Self {
            binaries,
            process: None,
            port: free_port().map_err(|error| error.to_string())?,
            password,
            files,
        };
        server.init()?;
        let mut server = server;
        server.start_again()?;
        Ok(server)
    }

    /// Stops the server as a crash would: no checkpoint, every connection cut.
    pub fn crash(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.stop(Signal::Quit);
        }
    }

    /// Starts the server again on its files and its port, after a crash.
    ///
    /// # Errors
    ///
    /// The end of the server's log.
    pub fn start_again(&mut self) -> Result<(), String> {
        let mut command = Command::new(self.binaries.join("postgres"));
        command.arg("-D").arg(self.data());
        command.args(["-p", &self.port.to_string()]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        let process = Supervised::start(&self.files, &command).map_err(|e| e.to_string())?;
        self.process = Some(process);
        self.wait()
    }

    fn init(&self) -> Result<(), String> {
        let password = self.files.path().join("password");
        fs::write(&password, &self.password).map_err(|error| error.to_string())?;
        let made = self
            .files
            .command(self.binaries.join("initdb"))
            .arg("-D")
            .arg(self.data())
            .arg(format!("--pwfile={}", password.display()))
            .args(["-U", USER, "-A", "scram-sha-256"])
            .args(["-E", "UTF8", "--locale=C", "--no-sync"])
            .output()
            .map_err(|error| error.to_string())?;
        if made.status.success() {
            return Ok(());
        }
        let reason = String::from_utf8_lossy(&made.stderr);
        Err(format!("initdb failed: {}", reason.trim()))
    }

    fn wait(&self) -> Result<(), String> {
        for _ in 0..READY_ATTEMPTS {
            let asked = Command::new(self.binaries.join("pg_isready"))
                .args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()])
                .status()
                .map_err(|error| error.to_string())?;
            if asked.success() {
                return Ok(());
            }
            thread::sleep(READY_PAUSE);
        }
        let log = Supervised::log(&self.files);
        Err(format!("PostgreSQL did not start:\n{log}"))
    }

    fn data(&self) -> PathBuf {
        self.files.path().join("data")
    }
}

impl Server for Postgres {
    const VARIABLE: &str = "TOWER_OUTCOME_POSTGRES_URL";

    fn url(&self) -> String {
        let Self { password, port, .. } = self;
        format!("postgres://{USER}:{password}@127.0.0.1:{port}/postgres")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Before the files go.
        drop(self.process.take());
    }
}

/// The directory of the programs.
fn installed() -> Result<PathBuf, String> {
    if let Some(found) = find() {
        return Ok(found);
    }
    install("PostgreSQL", "postgresql");
    find().ok_or_else(|| {
        "PostgreSQL is not installed: no `initdb` in /usr/lib/postgresql/*/bin or on the path. \
         Debian and Ubuntu have it in `postgresql`, Fedora in `postgresql-server` and \
         `postgresql-contrib`, Homebrew in `postgresql`"
            .to_owned()
    })
}

fn find() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut versions: Vec<PathBuf> = versions.flatten().map(|entry| entry.path()).collect();
    versions.sort_by_key(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.and_then(|name| name.parse::<u32>().ok())
    });
    let debian = versions.into_iter().rev().map(|path| path.join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = env::split_paths(&path).collect();
    let complete = |path: &Path| PROGRAMS.iter().all(|it| path.join(it).is_file());
    debian.chain(path).find(|path| complete(path))
}

const PROGRAMS: &[&str] = &["initdb", "pg_isready", "postgres"];

const SETTINGS: &[&str] = &[
    "fsync=on",
    "listen_addresses=127.0.0.1",
    "max_connections=200",
    "unix_socket_directories=",
];

const USER: &str = "tower";

const READY_ATTEMPTS: u32 = 600;

const READY_PAUSE: Duration = Duration::from_millis(50);
