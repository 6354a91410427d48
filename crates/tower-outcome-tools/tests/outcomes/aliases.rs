//! Keys that lead to an entry, as people meet them.

use serde_json::{Value, json};
use tower_outcome_core::IdempotencyKey;
use tower_outcome_core::ledger::{EntryKey, Event, Ledger as _, Timestamp};
use tower_outcome_sqlite::SqliteLedger;

use crate::support::{Shell, fails, text};

/// Beside yesterday's entry an alias of it, one whose entry is still to come, and one that leads
/// nowhere because several entries have it.
struct Aliased {
    shell: Shell,
    of_yesterday: String,
    of_none: String,
    shared: String,
}

impl Aliased {
    async fn new(name: &str) -> Self {
        Self::made(name, Timestamp::now()).await
    }

    async fn made(name: &str, at: Timestamp) -> Self {
        let shell = Shell::new(name).await;
        let ledger = SqliteLedger::open_with_clock(shell.path(), move || at).unwrap();
        let to_come = IdempotencyKey::from_bytes([0x77; 32]);
        let home = shell.yesterday.key;
        let mut named = Vec::new();
        for (byte, leads_to) in [
            (0xaa, &[home][..]),
            (0xbb, &[to_come]),
            (0xcc, &[home, to_come]),
        ] {
            let key = IdempotencyKey::from_bytes([byte; 32]);
            named.push(key.short());
            let at = EntryKey {
                scope: "acme".into(),
                key,
            };
            for (shared, of) in [false, true].into_iter().zip(leads_to.iter().copied()) {
                let alias = Event::Alias { of, shared };
                ledger.apply(&at, alias).await.unwrap();
            }
        }
        let [of_yesterday, of_none, shared] = named.try_into().unwrap();
        Self {
            shell,
            of_yesterday,
            of_none,
            shared,
        }
    }

    fn yesterday(&self) -> String {
        self.shell.yesterday.key.short()
    }
}

fn keys(page: &Value) -> Vec<String> {
    let entries = page["entries"].as_array().unwrap().iter();
    let keys = entries.map(|entry| entry["key"].as_str().unwrap()[..8].to_owned());
    keys.collect()
}

const WORD: [&str; 4] = ["--by", "ada", "--reason", "no such refund"];

#[tokio::test]
async fn aliases_are_listed_with_where_they_lead() {
    let aliased = Aliased::new("alias-list").await;
    let Aliased {
        shell,
        of_yesterday,
        of_none,
        shared,
    } = &aliased;
    let page = shell.json(&["list", "--state", "alias"]);
    let mut listed = keys(&page);
    listed.sort();
    assert_eq!(listed, [&**of_yesterday, of_none, shared]);
    for entry in page["entries"].as_array().unwrap() {
        let leads = entry["alias_of"].as_str().unwrap();
        let expected = match entry["key"].as_str().unwrap() {
            key if key.starts_with(of_none) => "77777777".to_owned(),
            _ => aliased.yesterday(),
        };
        assert!(leads.len() == 64 && leads.starts_with(&expected), "{entry}");
        let conflict = entry["key"].as_str().unwrap().starts_with(shared);
        assert_eq!(entry["code"] == "key_conflict_unresolved", conflict);
    }

    let table = text(&shell.run(&["list"]).stdout);
    let row = |key: &str| {
        let mut lines = table.lines();
        let line = lines.find(|line| line.starts_with(key));
        line.unwrap_or_else(|| panic!("{key}: {table}"))
    };
    let home = aliased.yesterday();
    let cells = |key: &str| row(key).split("  ").filter(|it| !it.is_empty()).count();
    // An alias has no tool: nothing moves into another column.
    assert_eq!([cells(of_yesterday), cells(&home)], [7, 7], "{table}");
    assert!(row(of_yesterday).contains(&format!("alias of {home}")));
    assert!(row(of_none).contains("alias of 77777777"));
    assert!(row(shared).contains("key_conflict_unresolved"));
    assert!(row(&home).contains("unknown  "));
    let doubtful = keys(&shell.json(&["list", "--state", "unknown"]));
    assert!(!doubtful.contains(of_yesterday), "{doubtful:?}");
}

#[tokio::test]
async fn an_alias_shows_the_entry_that_it_leads_to() {
    let aliased = Aliased::new("alias-show").await;
    let shell = &aliased.shell;
    let shown = shell.json(&["show", &aliased.of_yesterday]);
    assert!(
        shown["key"]
            .as_str()
            .unwrap()
            .starts_with(&aliased.yesterday())
    );
    assert_eq!(
        (&shown["state"], &shown["alias_of"]),
        (&json!("unknown"), &Value::Null)
    );
    let told = text(&shell.run(&["show", &aliased.of_yesterday]).stdout);
    assert!(told.contains("state: unknown"), "{told}");
    // By the whole key as well, which is read at once.
    let whole = "aa".repeat(32);
    let read = shell.json(&["show", &whole, "--scope", "acme"]);
    assert_eq!(read, shown);
}

#[tokio::test]
async fn an_alias_that_leads_to_no_entry_is_shown_itself_and_has_nothing_to_resolve() {
    let aliased = Aliased::new("alias-nowhere").await;
    let shell = &aliased.shell;
    for (key, code) in [
        (&aliased.of_none, Value::Null),
        (&aliased.shared, json!("key_conflict_unresolved")),
    ] {
        let shown = shell.json(&["show", key]);
        assert_eq!((&shown["state"], &shown["code"]), (&json!("alias"), &code));
        let told = text(&shell.run(&["show", key]).stdout);
        assert!(told.contains("alias_of: "), "{told}");
        for verdict in ["done", "failed"] {
            let resolve = [&["resolve", key, verdict][..], &WORD].concat();
            fails(&shell.run(&resolve), 4, "alias");
        }
        assert_eq!(shell.json(&["show", key]), shown);
    }
}

#[tokio::test]
async fn a_word_given_under_an_alias_is_taken_for_its_entry() {
    let aliased = Aliased::new("alias-resolve").await;
    let shell = &aliased.shell;
    let resolve = ["resolve", &aliased.of_yesterday, "failed"];
    let resolved = shell.json(&[&resolve[..], &WORD].concat());
    assert!(
        resolved["key"]
            .as_str()
            .unwrap()
            .starts_with(&aliased.yesterday())
    );
    assert_eq!(
        (&resolved["state"], &resolved["resolution"]["by"]),
        (&json!("failed"), &json!("ada"))
    );
    let alias = shell.json(&["list", "--state", "alias"]);
    assert_eq!(alias["entries"].as_array().unwrap().len(), 3, "{alias}");
    fails(
        &shell.run(&[&resolve[..], &WORD].concat()),
        4,
        "not in doubt",
    );
}

#[tokio::test]
async fn aliases_are_counted_as_such() {
    let aliased = Aliased::new("alias-stats").await;
    let stats = aliased.shell.json(&["stats"]);
    assert_eq!(
        (&stats["states"]["alias"], &stats["total"]),
        (&json!(3), &json!(5))
    );
    let told = text(&aliased.shell.run(&["stats"]).stdout);
    assert!(told.contains("  alias: 3\n"), "{told}");
}

#[tokio::test]
async fn a_purge_leaves_aliases_whose_entry_is_there() {
    let day = 24 * 60 * 60 * 1000;
    for (days, purged) in [(399, 0), (401, 1)] {
        let at = Timestamp(Timestamp::now().0 - days * day);
        let aliased = Aliased::made(&format!("alias-purge-{days}"), at).await;
        let shell = &aliased.shell;
        assert_eq!(shell.json(&["purge"]), json!({ "purged": purged }));
        let left = keys(&shell.json(&["list", "--state", "alias"]));
        assert_eq!(left.contains(&aliased.of_none), purged == 0, "{left:?}");
        for kept in [&aliased.of_yesterday, &aliased.shared] {
            assert!(left.contains(kept), "{left:?}");
        }
    }
}
