use tower_outcome_store_tests::damage::{DISPLACED, displaced_rows_are_named_and_stay};

use crate::support::{Place, key};

#[tokio::test]
async fn a_row_that_no_order_finds_is_named_and_stays() {
    for damage in DISPLACED {
        let place = Place::new();
        let ledger = place.ledger().await;
        let client = place.client().await;
        displaced_rows_are_named_and_stay(&ledger, damage, async |order, damage| {
            let harm = format!("UPDATE entries SET {damage} WHERE key = $1");
            let bytes = key(order).key.as_bytes().to_vec();
            assert_eq!(client.execute(&harm, &[&bytes]).await.unwrap(), 1);
        })
        .await;
    }
}
