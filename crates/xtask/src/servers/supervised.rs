//! A process that does not outlive the one that started it.

use std::fs::File;
use std::io::{self, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};

use super::Files;

/// A running server process.
///
/// A small shell stands between: it waits for a line or for the end of its input, which also comes
/// when we are killed, and then stops the server. Dropping the handle stops the server in order.
#[derive(Debug)]
pub struct Supervised {
    shell: Child,
    line: Option<ChildStdin>,
}

/// How to stop a server.
#[derive(Clone, Copy, Debug)]
pub enum Signal {
    /// In order.
    Interrupt,
    /// At once, and it is not asked.
    Kill,
    /// At once, as a crash would.
    Quit,
}

impl Supervised {
    /// Starts what `command` says among `files`, with its output in the file `log` there.
    ///
    /// # Errors
    ///
    /// The shell or the log cannot be opened.
    pub fn start(files: &Files, command: &Command) -> io::Result<Self> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(files.path().join(LOG))?;
        let mut shell = files
            .command("sh")
            .args(["-c", SCRIPT, "sh"])
            .arg(command.get_program())
            .args(command.get_args())
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let line = shell.stdin.take();
        Ok(Self { shell, line })
    }

    /// Stops the server and waits until it has ended.
    pub fn stop(&mut self, signal: Signal) {
        if let Some(mut line) = self.line.take() {
            let name: &[u8] = match signal {
                Signal::Interrupt => b"INT\n",
                Signal::Kill => b"KILL\n",
                Signal::Quit => b"QUIT\n",
            };
            // A shell that has ended has no server any more.
            let _ = line.write_all(name);
        }
        let _ = self.shell.wait();
    }

    /// The end of what the server wrote, for a failure's message.
    #[must_use]
    pub fn log(files: &Files) -> String {
        let log = std::fs::read_to_string(files.path().join(LOG)).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.stop(Signal::Interrupt);
    }
}

/// The shell itself ignores the interrupt of a terminal: it still has a server to stop. Where nobody
/// is left to remove the server's files, it does.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
"$@" &
server=$!
read -r signal || abandoned=yes
kill -s "${signal:-INT}" "$server" 2>/dev/null
wait "$server"
[ -z "$abandoned" ] || rm -rf ./*
"#;

const LOG: &str = "log";

const LOG_LINES: usize = 10;
