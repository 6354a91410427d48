//! stub
/// stub
#[derive(Debug)]
pub struct MemoryLedger;
/// stub
pub trait Ledger {}
