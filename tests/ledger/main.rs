//! An encrypted ledger, from the call that is lost to the answer that is replayed.

mod damage;
mod faults;
mod resends;
mod support;

#[path = "../laws/trace.rs"]
mod trace;
