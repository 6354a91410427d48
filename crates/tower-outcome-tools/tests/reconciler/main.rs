//! What became of calls that ended in doubt, found out by the reconciler.

mod cancels;
mod kept;
mod looks;
mod races;
mod replicas;
mod resends;
mod support;
