//! Each layer alone, over a server whose every answer the test decides, and between other people's
//! layers.

mod audit;
mod between;
mod claim;
mod contract;
mod deadline;
mod key;
mod orders;
mod outcome;
mod retry;
mod shield;
mod support;
mod uncompiled;
mod versions;
mod whole;

#[path = "../laws/trace.rs"]
mod trace;
