use tower_outcome_core::ledger::conformance;

use crate::support::Place;

#[tokio::test]
async fn keeps_every_rule_of_a_ledger() {
    conformance::run(async |clock| {
        let settings = Place::new().settings().with_clock(move || clock.now());
        settings.connect().await.unwrap()
    })
    .await;
}
