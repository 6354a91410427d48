//! Whatever the order of the layers below `OutcomeLayer`, no word is false and nothing is written
//! twice.

use crate::whole::{Fault, Layer, check};

#[tokio::test]
async fn an_answer_that_is_lost_is_never_called_a_failure() {
    check(Fault::Close, &permutations()).await;
}

#[tokio::test]
async fn an_error_that_hides_a_change_is_never_called_a_failure() {
    check(Fault::GatewayError, &permutations()).await;
}

#[tokio::test]
async fn a_server_that_is_silent_is_never_called_a_failure() {
    check(Fault::Silence, &permutations()).await;
}

#[tokio::test]
async fn a_server_that_is_away_is_never_called_a_success() {
    check(Fault::Refuse, &permutations()).await;
}

fn permutations() -> Vec<Vec<Layer>> {
    let mut orders = vec![Vec::new()];
    for layer in [
        Layer::Retry,
        Layer::Key,
        Layer::Claim,
        Layer::Shield,
        Layer::Deadline,
    ] {
        orders = orders
            .into_iter()
            .flat_map(|order| {
                (0..=order.len()).map(move |place| {
                    let mut order = order.clone();
                    order.insert(place, layer);
                    order
                })
            })
            .collect();
    }
    orders
}
