use std::time::Duration;

use serde_json::json;
use tower_outcome_core::ledger::{Claim, EntryKey, Event, Filter, Ledger, Owner, Timestamp};
use tower_outcome_core::{Code, Intent};

use crate::support::{Place, claim, granted, in_doubt, key, others_are_listed, send};

#[tokio::test]
async fn no_byte_of_an_argument_is_in_a_row() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let arguments = json!({ "iban": CANARY, CANARY: [CANARY] });
    let intent = Intent::new("acme", "refund", &arguments)
        .unwrap()
        .with_part("body", CANARY.as_bytes());
    let key = EntryKey::of(&intent);
    let claim = Claim::new(&intent, Owner::random(), Duration::from_secs(30));
    ledger.apply(&key, Event::Claim(claim)).await.unwrap();
    ledger.apply(&key, send(1)).await.unwrap();

    let client = place.client().await;
    let rows = client
        .query_one("SELECT entries::text FROM entries", &[])
        .await
        .unwrap();
    let row: String = rows.get(0);
    assert!(!row.contains(CANARY) && !row.contains(&hex(CANARY)));
    // What is looked for can be found at all.
    assert!(row.contains("refund"));
}

#[tokio::test]
async fn people_read_keys_in_hex_and_times_as_such() {
    let place = Place::new();
    let settings = place.settings().with_clock(|| Timestamp(1_750_000_000_123));
    let ledger = settings.connect().await.unwrap();
    let grant = granted(&ledger, 7).await;
    let code = Code::ConnectFailed;
    let epoch = grant.epoch;
    ledger
        .apply(&key(7), Event::Release { epoch, code })
        .await
        .unwrap();

    let client = place.client().await;
    let shown = "
        SELECT key, state, code, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')
        FROM outcomes WHERE scope = 'acme'";
    let row = client.query_one(shown, &[]).await.unwrap();
    let shown: Vec<String> = (0..4).map(|column| row.get(column)).collect();
    assert!(shown[0].len() == 64 && shown[0].starts_with(&key(7).key.short()));
    assert_eq!(
        shown[1..],
        ["free", "connect_failed", "2025-06-15 15:06:40.123"]
    );
}

#[tokio::test]
async fn a_lease_without_an_end_is_kept_and_shown() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let Event::Claim(claim) = claim(7) else {
        panic!("a claim");
    };
    let lease = Duration::MAX;
    let endless = Event::Claim(Claim { lease, ..claim });
    ledger.apply(&key(7), endless).await.unwrap();
    let entry = ledger.read(&key(7)).await.unwrap().unwrap();
    assert_eq!(entry.lease_until, Timestamp(i64::MAX.unsigned_abs()));
    let client = place.client().await;
    let shown = "SELECT lease_until = 'infinity' FROM outcomes";
    let row = client.query_one(shown, &[]).await.unwrap();
    assert!(row.get::<_, bool>(0));
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_an_error_of_its_own_key_alone() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let code = Code::NotSent;
    let epoch = granted(&ledger, 1).await.epoch;
    ledger
        .apply(&key(1), Event::Release { epoch, code })
        .await
        .unwrap();
    let client = place.client().await;
    for damage in [
        "state = 'paid'",
        "epoch = -1",
        "writes = '{'",
        "code = 'fine'",
        "owner = '\\x00'",
        "landing = ''",
    ] {
        let harm = format!("UPDATE entries SET {damage}");
        client.batch_execute(&harm).await.unwrap();
        let (harmed, unharmed) = (key(1), key(2));
        let (damaged, read) = tokio::join!(ledger.read(&harmed), ledger.read(&unharmed));
        let error = damaged.unwrap_err();
        assert_eq!(error.code(), Code::StoreUnavailable, "{damage}");
        let column = damage.split(' ').next().unwrap();
        assert!(format!("{error:?}").contains(column), "{error:?}");
        assert_eq!(read.unwrap(), None);
        let heal = "UPDATE entries SET state = 'free', epoch = 1, writes = '[]', code = NULL,
            owner = decode(repeat('00', 16), 'hex'), landing = 'in_flight'";
        client.batch_execute(heal).await.unwrap();
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_named_and_hides_no_other() {
    let place = Place::new();
    let ledger = place.ledger().await;
    for order in 1..=4 {
        in_doubt(&ledger, order).await;
    }
    let client = place.client().await;
    for damage in [
        "epoch = -1",
        "writes = '{'",
        "code = 'fine'",
        "landing = ''",
    ] {
        for (harmed, time) in [(1, 1), (3, 3)] {
            let harm = format!(
                "UPDATE entries SET {damage}, look_at = {time}, updated_at = {time} WHERE key = $1"
            );
            let bytes = key(harmed).key.as_bytes().to_vec();
            client.execute(&harm, &[&bytes]).await.unwrap();
        }
        others_are_listed(&ledger, [1, 3].map(key), [2, 4]).await;
        let counts = ledger.counts().await.unwrap();
        assert_eq!(
            (counts.total(), counts.unreadable),
            (4, 0),
            "by their state"
        );
        let again = ledger.apply(&key(3), claim(3)).await;
        assert_eq!(again.unwrap_err().code(), Code::StoreUnavailable);
        let heal =
            "UPDATE entries SET epoch = 1, writes = '[]', code = NULL, landing = 'in_flight'";
        client.batch_execute(heal).await.unwrap();
    }
    let later = "UPDATE entries SET state = 'later' WHERE look_at < 9";
    client.batch_execute(later).await.unwrap();
    let counts = ledger.counts().await.unwrap();
    assert_eq!((counts.total(), counts.unreadable), (4, 2));
    assert_eq!(
        ledger.page(&Filter::new(9)).await.unwrap().unreadable.len(),
        2
    );
}

#[tokio::test]
async fn a_text_that_the_database_cannot_hold_fails_alone() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let mut odd = key(1);
    odd.scope = "a\0b".into();
    let fine = key(2);
    let (refused, granted) =
        tokio::join!(ledger.apply(&odd, claim(1)), ledger.apply(&fine, claim(2)),);
    assert_eq!(refused.unwrap_err().code(), Code::StoreUnavailable);
    granted.unwrap();
}

#[tokio::test]
async fn the_schema_explains_every_column() {
    let place = Place::new();
    drop(place.ledger().await);
    let client = place.client().await;
    let unexplained = "
        SELECT attname::text FROM pg_attribute
        WHERE attrelid = 'entries'::regclass AND attnum > 0 AND NOT attisdropped
            AND col_description(attrelid, attnum) IS NULL";
    let rows = client.query(unexplained, &[]).await.unwrap();
    assert!(rows.is_empty(), "{rows:?}");
}

#[tokio::test]
async fn every_look_goes_by_an_index_however_young_the_table_is() {
    let place = Place::new();
    drop(place.ledger().await);
    let client = place.client().await;
    client
        .batch_execute("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan")
        .await
        .unwrap();
    let exchange = EXCHANGE.replace("\"ledger\"", &place.schema);
    let prepare = format!("PREPARE exchange AS {exchange}");
    client.batch_execute(&prepare).await.unwrap();
    let nulls = ["NULL"; 22].join(", ");
    for (index, query) in [
        (
            "using entries_pkey on",
            format!("EXECUTE exchange ({nulls})"),
        ),
        (
            "unresolved",
            oldest("maybe_sent AND state IN ('claimed', 'dispatching', 'unknown')"),
        ),
        (
            "due",
            "SELECT * FROM entries
            WHERE maybe_sent AND state IN ('claimed', 'dispatching', 'unknown')
                AND look_at BETWEEN 0 AND 9
            ORDER BY look_at LIMIT 9"
                .to_owned(),
        ),
        (
            "by_age",
            "SELECT * FROM entries
            WHERE (created_at, scope COLLATE \"C\", key) > (9, 'acme' COLLATE \"C\", '')
            ORDER BY created_at, scope COLLATE \"C\", key LIMIT 9"
                .to_owned(),
        ),
        (
            "results",
            oldest("result IS NOT NULL AND state IN ('done', 'partial')"),
        ),
        ("ended", oldest(ENDED)),
        (
            "strange",
            format!("SELECT * FROM entries WHERE {STRANGE} AND state NOT IN ('done', 'failed')"),
        ),
    ] {
        let explain = format!("EXPLAIN {query}");
        let rows = client.query(&explain, &[]).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let plan = plan.join("\n");
        assert!(plan.contains(index) && !plan.contains("Seq Scan"), "{plan}");
    }
}

fn oldest(condition: &str) -> String {
    format!("SELECT * FROM entries WHERE {condition} ORDER BY updated_at LIMIT 9")
}

fn hex(text: &str) -> String {
    let digits = text.bytes().map(|byte| format!("{byte:02x}"));
    digits.collect::<Vec<_>>().concat()
}

const CANARY: &str = "canary-4929-1182-7731";

const EXCHANGE: &str = include_str!("../../src/rows.sql");

/// As it is asked for.
const STRANGE: &str =
    "(state NOT IN ('alias', 'claimed', 'dispatching', 'done', 'failed', 'free', \
    'partial', 'unknown')
        OR length(key) <> 32 OR created_at < 0 OR updated_at < 0 OR look_at < 0)";

const ENDED: &str =
    "result IS NULL AND (state IN ('done', 'failed', 'free', 'partial') OR NOT maybe_sent)";

/// In a large ledger everything is counted for minutes, and compiling takes longer than what it is
/// for.
#[tokio::test]
async fn a_count_is_given_all_the_time_that_it_takes_and_nothing_is_compiled() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let client = place.client().await;
    let noting = NOTING.replace("ledger.", &format!("{}.", place.schema));
    client.batch_execute(&noting).await.unwrap();
    ledger.counts().await.unwrap();
    ledger.due(1).await.unwrap();
    let seen = client.query("SELECT compiles, most FROM seen", &[]);
    let seen = seen.await.unwrap();
    let mut seen: Vec<(String, String)> = seen.iter().map(|row| (row.get(0), row.get(1))).collect();
    // A list of what is due is of two looks.
    seen.dedup();
    let off = |most: &str| ("off".to_owned(), most.to_owned());
    assert_eq!(seen, [off("0"), off("10s")]);
}

/// Has every look at the table take down the settings that it is made with.
const NOTING: &str = "
    ALTER TABLE entries RENAME TO stored;
    CREATE TABLE seen (compiles text, most text);
    CREATE FUNCTION note() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO ledger.seen VALUES (current_setting('jit'), current_setting('statement_timeout'));
        RETURN true;
    END $$;
    CREATE VIEW entries AS SELECT * FROM stored WHERE (SELECT ledger.note());";
