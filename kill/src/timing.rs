//! How long things take. No verdict depends on any of it: it only steers where a blow lands.

use std::time::Duration;

/// For how long the owner of a claim counts as alive.
pub(crate) const LEASE: Duration = Duration::from_millis(300);

/// For how long a call waits for an identical one: longer than any lease may last.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// For how long a call may take that is not to be cut short.
pub(crate) const DEADLINE: Duration = Duration::from_secs(15);

/// For how long a write runs on after its call.
pub(crate) const HARD_LIMIT: Duration = Duration::from_secs(30);

/// The service commits what it has received within this time, or never.
pub(crate) const LONGEST_LIFE: Duration = Duration::from_millis(450);

/// For how long a process stays frozen at most: it may hold a lock that others wait for.
pub(crate) const LONGEST_FREEZE: Duration = Duration::from_secs(2);

/// Whoever takes longer is stuck.
pub(crate) const STUCK: Duration = Duration::from_mins(1);
