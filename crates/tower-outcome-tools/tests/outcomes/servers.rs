//! The ledgers that are on a server.

use std::sync::Arc;

use serde_json::{Value, json};
use tower_outcome_core::IdempotencyKey;
use tower_outcome_core::ledger::{EntryKey, Event, Ledger};
use xtask::servers::{Postgres, Redis, Server};

use crate::support::{doubt, fails, json_of, run, yesterday};

/// A ledger of its own on a test server, and how the command is told which.
struct Place {
    url: String,
    name: String,
    options: [String; 2],
}

impl Place {
    fn on<S: Server>(option: &str, test: &str) -> Self {
        let url = std::env::var(S::VARIABLE).unwrap_or_else(|_| {
            panic!(
                "{} is not set: these tests need a server, which `cargo xtask test` starts for them",
                S::VARIABLE
            )
        });
        let name = format!("outcomes_{test}_{}", std::process::id());
        Self {
            url,
            options: [option.to_owned(), name.clone()],
            name,
        }
    }

    async fn postgres(&self) -> impl Ledger {
        let settings = tower_outcome_postgres::Settings::new(&self.url).unwrap();
        let settings = settings.with_schema(&self.name).with_clock(yesterday);
        settings.connect().await.unwrap()
    }

    async fn redis(&self) -> impl Ledger {
        let settings = tower_outcome_redis::Settings::new(&self.url).unwrap();
        let settings = settings.with_prefix(&self.name).with_clock(yesterday);
        settings.connect().await.unwrap()
    }

    fn run(&self, arguments: &[&str]) -> std::process::Output {
        let options = self.options.each_ref().map(String::as_str);
        run(&self.url, &[arguments, &options].concat())
    }

    fn json(&self, arguments: &[&str]) -> Value {
        json_of(&self.run(&[arguments, &["--json"]].concat()))
    }

    /// Everything that the command does, on a ledger with one entry and an alias of it.
    async fn works(&self, ledger: impl Ledger) {
        let alias = EntryKey {
            scope: "acme".into(),
            key: IdempotencyKey::from_bytes([0xaa; 32]),
        };
        let ledger = Arc::new(ledger);
        let home = doubt(Arc::clone(&ledger), 1).await;
        let (of, shared) = (home.key, false);
        let aliased = ledger.apply(&alias, Event::Alias { of, shared }).await;
        aliased.unwrap();

        let listed = |state| {
            let page = self.json(&["list", "--state", state]);
            let entries = page["entries"].as_array().unwrap().clone();
            assert_eq!(entries.len(), 1, "{page}");
            entries[0]["key"].as_str().unwrap()[..8].to_owned()
        };
        assert_eq!(listed("unknown"), home.key.short());
        assert_eq!(listed("alias"), alias.key.short());
        let shown = self.json(&["show", &alias.key.short()]);
        assert!(
            shown["key"]
                .as_str()
                .unwrap()
                .starts_with(&home.key.short())
        );
        let counted = &self.json(&["stats"])["states"];
        assert_eq!(
            (&counted["alias"], &counted["unknown"]),
            (&json!(1), &json!(1))
        );
        let word = ["failed", "--by", "ada", "--reason", "not there"];
        let short = alias.key.short();
        let resolve = [&["resolve", &short][..], &word].concat();
        assert_eq!(self.json(&resolve)["state"], "failed");
        fails(&self.run(&resolve), 4, "not in doubt");
        assert_eq!(self.json(&["purge"]), json!({ "purged": 0 }));
        assert_eq!(listed("failed"), home.key.short());
    }
}

#[tokio::test]
async fn everything_is_done_in_postgres() {
    let place = Place::on::<Postgres>("--schema", "all");
    place.works(place.postgres().await).await;
}

#[tokio::test]
async fn everything_is_done_in_redis() {
    let place = Place::on::<Redis>("--prefix", "all");
    place.works(place.redis().await).await;
}

/// One question of the ledger looks at so many entries and no more.
#[tokio::test]
async fn what_lies_far_behind_is_listed_all_the_same() {
    let place = Place::on::<Redis>("--prefix", "far");
    let ledger = Arc::new(place.redis().await);
    let home = doubt(Arc::clone(&ledger), 1).await;
    for number in 0..1000_u32 {
        let mut bytes = [0; 32];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        let key = IdempotencyKey::from_bytes(bytes);
        let scope = "acme".into();
        let (of, shared) = (home.key, false);
        let alias = Event::Alias { of, shared };
        ledger.apply(&EntryKey { scope, key }, alias).await.unwrap();
    }
    let page = place.json(&["list", "--state", "unknown", "--limit", "1"]);
    let entries = page["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{page}");
    let key = entries[0]["key"].as_str().unwrap();
    assert!(key.starts_with(&home.key.short()), "{key}");
}

#[tokio::test]
async fn a_schema_that_nobody_has_made_is_no_empty_ledger() {
    let place = Place::on::<Postgres>("--schema", "none");
    for _ in 0..2 {
        fails(&place.run(&["stats"]), 1, "no ledger");
    }
}
