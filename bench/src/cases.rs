//! What is measured inside one process.

use crate::measure::{Case, Measured};

mod client;
mod idle;
mod keys;
mod lanes;
mod memory;
mod peers;
mod wire;

/// Every case of `groups`, or all.
pub(crate) fn all(groups: &[&str]) -> Vec<Case> {
    let groups = |name: &str| groups.is_empty() || groups.contains(&group(name));
    let all = [
        client::CASES,
        peers::CASES,
        wire::CASES,
        keys::CASES,
        memory::CASES,
        lanes::CASES,
    ];
    let all = all.into_iter().flatten();
    all.filter(|case| groups(case.name))
        .map(|&Case { name, prepare }| Case { name, prepare })
        .collect()
}

/// Counts what is no cost of a call: what stays alive, what is left behind.
pub(crate) fn counts(groups: &[&str], measured: &mut Measured) {
    let wanted = |group: &str| groups.is_empty() || groups.contains(&group);
    if wanted("keys") {
        keys::sizes(measured);
    }
    if wanted("lanes") {
        lanes::counts(measured);
    }
    if wanted("memory") {
        memory::counts(measured);
    }
}

/// Times what is compared with others.
pub(crate) fn times(groups: &[&str], measured: &mut Measured) {
    let wanted = |group: &str| groups.is_empty() || groups.contains(&group);
    if wanted("keys") {
        keys::times(measured);
    }
    if wanted("lanes") {
        lanes::times(measured);
    }
    if wanted("memory") {
        memory::times(measured);
        memory::purges(measured);
    }
}

/// The groups that there are.
pub(crate) const GROUPS: &[&str] = &["client", "keys", "lanes", "memory", "wire"];

fn group(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}
