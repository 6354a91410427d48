//! Real clients of HTTP/2, and a raw one, meet what each step says.

mod answers;
mod client;
mod cuts;
mod early;
mod endings;
mod frames;
mod grpc;
mod raw;
mod scenarios;
mod streams;
mod wire;
