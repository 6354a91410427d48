//! Client stacks are told apart by what they do when something goes wrong.

mod clients;
mod http2;
mod scenarios;
mod verdicts;
