//! Whether a server can keep a ledger, and how well it keeps what it has.

use std::collections::HashMap;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use tower_outcome_core::ledger::Timestamp;

use crate::fault::{Refusal, TOO_OLD};

/// What a crash of the server can take back of what it has acknowledged.
///
/// Speaks of the server alone. A failover to a replica can take back more, whatever stands here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Persistence {
    /// `appendfsync everysec`: about a second's writes.
    EverySecond,
    /// `appendfsync always`: nothing.
    EveryWrite,
    /// No append-only file: everything since the last snapshot, if there is one.
    Snapshots,
    /// `appendfsync no`: whatever the operating system has not written yet.
    System,
    /// There is an append-only file, and the server does not tell how it is written.
    Untold,
}

/// Looks at a server that was just connected to: what it keeps, and its time.
pub(crate) async fn check(
    connection: &mut MultiplexedConnection,
) -> Result<(Persistence, Timestamp), Refusal> {
    let (info, time): (String, (u64, u64)) = redis::pipe()
        .cmd("INFO")
        .cmd("TIME")
        .query_async(connection)
        .await
        .map_err(|error| Refusal::from(&error))?;
    let (info, time) = (Info(&info), self::time(time));
    info.suits()?;
    if info.field("aof_enabled") != Some("1") {
        return Ok((Persistence::Snapshots, time));
    }
    // Hosted servers often keep their configuration to themselves.
    let flush = redis::cmd("CONFIG")
        .arg("GET")
        .arg("appendfsync")
        .query_async(connection)
        .await;
    let flush: HashMap<String, String> = flush.unwrap_or_default();
    let persistence = match flush.get("appendfsync").map(String::as_str) {
        Some("always") => Persistence::EveryWrite,
        Some("everysec") => Persistence::EverySecond,
        Some("no") => Persistence::System,
        _ => Persistence::Untold,
    };
    Ok((persistence, time))
}

/// What the server's `TIME` says.
pub(crate) fn time((seconds, microseconds): (u64, u64)) -> Timestamp {
    Timestamp(0)
        .after(Duration::from_secs(seconds))
        .after(Duration::from_micros(microseconds))
}

/// The answer to `INFO`.
struct Info<'a>(&'a str);

impl Info<'_> {
    fn field(&self, name: &str) -> Option<&str> {
        let mut lines = self.0.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
    }

    fn suits(&self) -> Result<(), Refusal> {
        let version = self.field("redis_version").unwrap_or_default();
        let major = version.split('.').next().and_then(|it| it.parse().ok());
        if major.is_none_or(|major: u32| major < 7) {
            return Err(Refusal::new(TOO_OLD));
        }
        match self.field("redis_mode") {
            Some("cluster") => {
                return Err(Refusal::new(
                    "the ledger's server is a node of a cluster; the ledger needs one that stands \
                     alone or has replicas",
                ));
            }
            Some("sentinel") => {
                return Err(Refusal::new(
                    "the ledger's server is a sentinel, which keeps nothing; the ledger needs the \
                     server that it watches",
                ));
            }
            _ => {}
        }
        if self.field("role") == Some("slave") {
            return Err(Refusal::new(
                "the ledger's server is a replica; the ledger needs its primary",
            ));
        }
        if self.field("loading") == Some("1") {
            return Err(Refusal::new("the ledger's server is still loading"));
        }
        match self.field("maxmemory_policy") {
            Some("noeviction") => Ok(()),
            policy => Err(Refusal::new(format!(
                "the ledger's server may throw entries away when its memory is full \
                 (maxmemory-policy is {}); the ledger needs noeviction",
                policy.unwrap_or("not told")
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIT: &str = "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\n\
        redis_mode:standalone\r\nmaxmemory_policy:noeviction\r\nloading:0\r\nrole:master\r\n";

    #[test]
    fn what_cannot_keep_a_ledger_is_refused() {
        assert!(Info(FIT).suits().is_ok());
        for (fit, unfit) in [
            ("redis_version:7.2.4", "redis_version:6.2.14"),
            ("redis_version:7.2.4", "version:8"),
            ("redis_mode:standalone", "redis_mode:cluster"),
            ("redis_mode:standalone", "redis_mode:sentinel"),
            (
                "maxmemory_policy:noeviction",
                "maxmemory_policy:allkeys-lru",
            ),
            (
                "maxmemory_policy:noeviction",
                "maxmemory_policy:volatile-ttl",
            ),
            ("maxmemory_policy:noeviction", ""),
            ("loading:0", "loading:1"),
            ("role:master", "role:slave"),
        ] {
            let info = FIT.replace(fit, unfit);
            assert!(Info(&info).suits().is_err(), "{unfit}");
        }
    }
}
