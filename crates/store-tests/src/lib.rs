//! What the tests of all stores share beside the conformance suite: the one write that they make, and
//! the races of processes and of sessions.

pub mod orders;
pub mod processes;
pub mod sessions;
