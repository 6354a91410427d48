//! A directory that a server may call its own, and the account it runs under.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use super::secret;

/// A directory below `target/servers` that is gone with its handle.
///
/// Servers refuse to run as root. Where we do, the directory and every command belong to another
/// account; if that account may not enter `target/`, the directory lies where temporary files do.
#[derive(Debug)]
pub struct Files {
    account: Option<Account>,
    path: PathBuf,
}

impl Files {
    /// Makes a directory for a server called `name`.
    ///
    /// # Errors
    ///
    /// The directory cannot be made, or there is no account for it.
    pub fn new(name: &str) -> io::Result<Self> {
        let account = Account::find()?;
        let below = [target().join("servers"), env::temp_dir()];
        let mut refused = io::Error::other("no account but root");
        for parent in below {
            let path = parent.join(format!("{name}-{}-{}", std::process::id(), secret()));
            let files = Self { account, path };
            match files.make() {
                Ok(()) => return Ok(files),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A command that runs in the directory, as its owner.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.path);
        if let Some(Account { user, group }) = self.account {
            command.uid(user).gid(group);
        }
        command
    }

    fn make(&self) -> io::Result<()> {
        fs::create_dir_all(&self.path)?;
        if let Some(Account { user, group }) = self.account {
            chown(&self.path, Some(user), Some(group))?;
        }
        // Fails where the account may not pass through a parent directory.
        let entered = self.command("sh").args(["-c", ": > entered"]).status()?;
        if entered.success() {
            Ok(())
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // What is left lies below `target/` or among the temporary files.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Where cargo builds, or would.
fn target() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let root = crates.and_then(Path::parent).unwrap_or(Path::new("."));
    root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// An account that a server may run under.
#[derive(Clone, Copy, Debug)]
struct Account {
    user: u32,
    group: u32,
}

impl Account {
    /// Nobody else, unless we are root.
    fn find() -> io::Result<Option<Self>> {
        if id(&["-u"])? != 0 {
            return Ok(None);
        }
        let accounts = ["postgres", "nobody"].into_iter();
        let found = accounts.map(|name| {
            Ok::<_, io::Error>(Self {
                user: id(&["-u", name])?,
                group: id(&["-g", name])?,
            })
        });
        let found = found.into_iter().find_map(Result::ok);
        found.map(Some).ok_or_else(|| {
            io::Error::other("servers refuse to run as root, and there is no other account")
        })
    }
}

fn id(arguments: &[&str]) -> io::Result<u32> {
    let output = Command::new("id").args(arguments).output()?;
    let number = String::from_utf8_lossy(&output.stdout).trim().parse();
    number.map_err(|_| io::ErrorKind::NotFound.into())
}
