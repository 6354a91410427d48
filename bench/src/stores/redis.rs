//! The ledger in Redis, beside bare commands on the same server.

use redis::aio::MultiplexedConnection;
use redis::{Client, RedisError, Script};
use tower_outcome_redis::RedisLedger;
use xtask::servers::{Redis, Server as _};

use super::drive::{Pairs, RESULT, Rate, alternate, fresh, note, rate, runtime};
use crate::measure::Measured;

pub(super) fn measure(measured: &mut Measured) -> Result<(), String> {
    // Without waits for the disk and rewrites of its file, which would be most of what is measured.
    let server = Redis::start_with(&[
        "--appendfsync",
        "everysec",
        "--auto-aof-rewrite-percentage",
        "0",
    ])?;
    let (runtime, url) = (runtime()?, server.url());
    let ledger = runtime.block_on(RedisLedger::connect(&url));
    let pairs = Pairs::of(ledger.map_err(|error| error.to_string())?);
    let client = runtime
        .block_on(connect(&url))
        .map_err(|error| refused(&error))?;
    let bare = Bare::new(client.clone());
    for (name, tasks) in [("redis.1", 1), ("redis.16", 16), ("redis.64", 64)] {
        let ours = || runtime.block_on(pairs.rate(tasks));
        let floor = || runtime.block_on(bare.rate(tasks));
        let rates = alternate(&mut [&mut { ours }, &mut { floor }, &mut { floor }]);
        note(measured, name, [&rates[0], &rates[1], &rates[2]]);
    }
    let share = runtime.block_on(of_the_ceiling(&pairs, client, measured));
    share.map_err(|error| refused(&error))
}

/// How near it comes to what one server could do if it did nothing else.
async fn of_the_ceiling(
    pairs: &Pairs<RedisLedger>,
    mut client: MultiplexedConnection,
    measured: &mut Measured,
) -> Result<(), RedisError> {
    redis::cmd("CONFIG")
        .arg("RESETSTAT")
        .exec_async(&mut client)
        .await?;
    let Rate { pairs, .. } = pairs.rate(64).await;
    let stats: String = redis::cmd("INFO")
        .arg("commandstats")
        .query_async(&mut client)
        .await?;
    // What a script calls is in its own time: a pair is one claim, and one script that ends it.
    let spent = ["set", "evalsha"].map(|command| each(&stats, command).unwrap_or(f64::NAN));
    let spent: f64 = spent.iter().sum();
    measured.note("redis.ceiling", "microseconds a pair", spent);
    measured.note("redis.ceiling", "part of it", pairs * spent / 1e6);
    Ok(())
}

/// What a command takes the server each time, in microseconds.
fn each(stats: &str, command: &str) -> Option<f64> {
    let named = format!("cmdstat_{command}:");
    let line = stats.lines().find_map(|line| line.strip_prefix(&named))?;
    let mut fields = line.split(',');
    let each = fields.find_map(|field| field.strip_prefix("usec_per_call="))?;
    each.parse().ok()
}

/// The same pair without a ledger: a claim that nobody has, and an end of it if it is still ours.
#[derive(Clone)]
struct Bare {
    client: MultiplexedConnection,
    end: std::sync::Arc<Script>,
}

impl Bare {
    fn new(client: MultiplexedConnection) -> Self {
        let end = std::sync::Arc::new(Script::new(END));
        Self { client, end }
    }

    async fn rate(&self, tasks: usize) -> Rate {
        let bare = self.clone();
        rate(tasks, move || {
            let mut bare = bare.clone();
            async move { bare.pair().await.expect("the server answers") }
        })
        .await
    }

    async fn pair(&mut self) -> Result<(), RedisError> {
        let key = fresh();
        let mut claim = redis::cmd("SET");
        claim.arg(&key).arg(ROW).arg("NX").arg("PX").arg(MONTH);
        claim.exec_async(&mut self.client).await?;
        let mut end = self.end.key(&key);
        let end = end.arg(ROW).arg(RESULT).arg(MONTH);
        end.invoke_async(&mut self.client).await
    }
}

async fn connect(url: &str) -> Result<MultiplexedConnection, RedisError> {
    Client::open(url)?.get_multiplexed_async_connection().await
}

fn refused(error: &RedisError) -> String {
    format!("Redis: {error}")
}

/// As long as a row of the ledger.
const ROW: &[u8] = &[b'7'; 200];

const MONTH: u64 = 30 * 24 * 60 * 60 * 1000;

const END: &str = "
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then
        return 0
    end
    redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', ARGV[3])
    return 1";
