//! A raw socket sees byte for byte what each step says.

mod answers;
mod broken_tls;
mod client;
mod early;
mod faults;
mod keys;
mod look_ups;
mod ports;
mod proxy;
mod reading;
mod timeline;
