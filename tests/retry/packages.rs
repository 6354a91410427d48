//! What the policy costs whoever wants nothing else.

use std::collections::BTreeSet;
use std::process::Command;

/// Distinct packages, this one and its core among them; build-only and development ones are none.
#[test]
fn the_policy_alone_needs_sixteen_packages() {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--package",
            "tower-outcome",
            "--no-default-features",
        ])
        .args([
            "--features",
            "retry",
            "--edges",
            "normal",
            "--prefix",
            "none",
        ])
        .args(["--offline", "--format", "{p}"])
        .output()
        .unwrap();
    let tree = String::from_utf8(tree.stdout).unwrap();
    let package = |line: &str| line.trim_end_matches(" (*)").to_owned();
    let packages: BTreeSet<String> = tree.lines().map(package).collect();
    assert!((2..=16).contains(&packages.len()), "{packages:#?}");
}
