use tower_outcome_redis::Settings;
use tower_outcome_store_tests::{processes, sessions};

use crate::support::Place;

#[test]
fn of_several_processes_exactly_one_is_granted_each_claim() {
    let place = Place::new();
    processes::exactly_one_is_granted_each_claim(&[(URL, &place.url), (PREFIX, &place.prefix)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_holds_an_entry_holds_it_alone() {
    let place = Place::new();
    let mut ledgers = Vec::new();
    for _ in 0..8 {
        ledgers.push(place.ledger().await);
    }
    sessions::whoever_holds_an_entry_holds_it_alone(ledgers, place.ledger().await).await;
}

#[tokio::test]
#[ignore = "is started by the test above, with a place and a start signal"]
async fn racer() {
    let told = |name| std::env::var(name).expect("the place is named");
    let settings = Settings::new(&told(URL)).unwrap();
    let ledger = settings.with_prefix(&told(PREFIX)).connect().await.unwrap();
    processes::race(&ledger).await;
}

const URL: &str = "TOWER_OUTCOME_REDIS_TEST_URL";

const PREFIX: &str = "TOWER_OUTCOME_REDIS_TEST_PREFIX";
