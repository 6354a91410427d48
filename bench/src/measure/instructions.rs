//! Instructions, as valgrind's callgrind counts them.
//!
//! Each case is done in a process of its own under valgrind, where only what happens inside
//! [`counted`] counts.
//!
//! The digest is taken out: valgrind hides the instructions for SHA-256 that processors have, so
//! that what it counts there is another implementation than the one that runs.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, hint};

use super::{Case, Measured, Run, TIMES, WARM_UP, real};

/// Counts what each case takes each time.
pub(crate) fn count(cases: &[Case], measured: &mut Measured) -> Result<(), String> {
    let profile = env::temp_dir().join(format!("tower-outcome-bench-{}", std::process::id()));
    let mut counted = cases.iter().map(|case| {
        let Profile { total, digest } = profiled(case.name, &profile)?;
        let each = |count: u64| real(count) / f64::from(TIMES);
        measured.note(case.name, "instructions", each(total - digest));
        measured.note(case.name, "of the digest", each(digest));
        Ok(())
    });
    let counted = counted.try_for_each(|counted| counted);
    // What is left lies among the temporary files.
    let _ = fs::remove_file(&profile);
    counted
}

/// The other side: does a case inside valgrind.
pub(crate) fn run(case: &Case) {
    // The allocator's own counting is no part of what is measured.
    allocation_counter::opt_out(|| {
        let mut run = (case.prepare)();
        run(WARM_UP);
        counted(&mut run, TIMES);
    });
}

/// Known to valgrind by its name.
#[inline(never)]
fn counted(run: &mut Run, times: u32) {
    hint::black_box(&mut *run)(times);
    hint::black_box(());
}

fn profiled(case: &str, profile: &Path) -> Result<Profile, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let ended = Command::new("valgrind")
        .args(["--tool=callgrind", "--compress-strings=no"])
        .arg(format!("--toggle-collect={COUNTED}"))
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(program)
        .args(["inside", case])
        .stdout(Stdio::null())
        .output()
        .map_err(|error| format!("valgrind cannot be started: {error}"))?;
    if !ended.status.success() {
        return Err(String::from_utf8_lossy(&ended.stderr).into_owned());
    }
    let profile = fs::read_to_string(profile).map_err(|error| error.to_string())?;
    match Profile::read(&profile) {
        Profile { total: 0, .. } => Err(format!("valgrind did not find {COUNTED}")),
        profile => Ok(profile),
    }
}

/// What a profile counts.
#[derive(Debug, Default, PartialEq)]
struct Profile {
    total: u64,
    /// Inside the functions that hash.
    digest: u64,
}

impl Profile {
    fn read(text: &str) -> Self {
        let mut profile = Self::default();
        let (mut hashes, mut called) = (false, false);
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("fn=") {
                hashes = name.contains(DIGEST);
            } else if line.starts_with("calls=") {
                // The next line is what the called function took, which has lines of its own.
                called = true;
            } else if line
                .starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first))
            {
                let cost = line.split_once(' ').and_then(|(_, cost)| cost.parse().ok());
                let cost: u64 = cost.unwrap_or_default();
                if !std::mem::take(&mut called) {
                    profile.total += cost;
                    profile.digest += if hashes { cost } else { 0 };
                }
            }
        }
        profile
    }
}

const COUNTED: &str = "*::instructions::counted";

const DIGEST: &str = "sha2::";

#[cfg(test)]
mod tests {
    use super::Profile;

    #[test]
    fn a_profile_counts_every_function_once_and_the_digest_apart() {
        let text = "events: Ir\nfn=main\n10 5\ncalls=1 20\n11 90\n12 1\nfn=sha2::compress\n+2 80\n";
        let read = Profile {
            total: 86,
            digest: 80,
        };
        assert_eq!(Profile::read(text), read);
    }
}
