//! A raw socket sees byte for byte what each step says.

mod answers;
mod client;
mod faults;
mod keys;
mod look_ups;
mod ports;
mod reading;
mod timeline;
