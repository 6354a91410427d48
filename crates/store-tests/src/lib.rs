//! What the tests of all stores share beside the conformance suite: the one write that they make,
//! damage to its row, and the races of processes and of sessions.

pub mod damage;
pub mod orders;
pub mod processes;
pub mod sessions;
