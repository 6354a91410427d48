//! What the project's tests and examples share with its commands: private servers.

pub mod servers;
