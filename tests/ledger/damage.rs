//! Whatever somebody does to what is sealed, no word turns false and nothing is sent that was not.

use tower_outcome::Code;
use tower_outcome_core::ledger::{AesGcmSiv, State};

use crate::support::{Bench, IGNORED, LOST, cipher, key, state};

#[tokio::test]
async fn a_request_that_cannot_be_opened_is_not_sent_again() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose(&bench.ledger(cipher()), 1).await;
    for unknown in [AesGcmSiv::new(9, [9; 32]), AesGcmSiv::new(1, [9; 32])] {
        let ledger = bench.ledger(unknown);
        let report = bench.resend(&ledger).await;
        assert_eq!((report.open, report.resent), (vec![key(1)], vec![]));
        assert_eq!(state(&ledger, 1).await, State::Unknown);
        assert_eq!(bench.refund(&ledger, 1).await.0, Code::StillConfirming);
    }
    assert_eq!(bench.billing.received().len(), 1);
    let report = bench.resend(&bench.ledger(cipher())).await;
    assert_eq!(report.confirmed, [key(1)]);
}

#[tokio::test]
async fn requests_that_were_exchanged_are_not_sent_again() {
    let whole = "UPDATE entries SET writes = (
        SELECT other.writes FROM copy AS other WHERE other.key <> entries.key)";
    let sealed = "UPDATE entries SET writes = json_set(writes, '$[0].request', (
        SELECT other.writes ->> '$[0].request' FROM copy AS other
        WHERE other.key <> entries.key))";
    let key_of_another = "UPDATE entries SET writes = json_set(writes, '$[0].wire_key', 'k-2')";
    let route = "UPDATE entries
        SET writes = json_set(writes, '$[0].route', writes ->> '$[0].route' || 'x')";
    for exchange in [whole, sealed, key_of_another, route] {
        let bench = Bench::scripted([IGNORED, IGNORED]).await;
        let ledger = bench.ledger(cipher());
        bench.lose(&ledger, 1).await;
        bench.lose(&ledger, 2).await;
        bench.damage(exchange);
        let report = bench.resend(&ledger).await;
        assert_eq!(
            (report.open.len(), report.resent),
            (2, vec![]),
            "{exchange}"
        );
        assert_eq!(bench.billing.received().len(), 2, "{exchange}");
        assert_eq!(state(&ledger, 1).await, State::Unknown);
    }
}

#[tokio::test]
async fn a_request_with_one_character_changed_is_not_sent_again() {
    let bench = Bench::scripted([LOST]).await;
    let ledger = bench.ledger(cipher());
    bench.lose(&ledger, 1).await;
    let change = "UPDATE entries SET writes = json_set(writes, '$[0].request',
        substr(writes ->> '$[0].request', 1, 40)
        || CASE substr(writes ->> '$[0].request', 41, 1) WHEN 'A' THEN 'B' ELSE 'A' END
        || substr(writes ->> '$[0].request', 42))";
    bench.damage(change);
    let report = bench.resend(&ledger).await;
    assert_eq!((report.open, report.resent), (vec![key(1)], vec![]));
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_result_that_cannot_be_opened_is_omitted_and_the_write_stays_done() {
    let exchange = "UPDATE entries SET result = (
        SELECT other.result FROM copy AS other WHERE other.key <> entries.key)";
    let cut = "UPDATE entries SET result = substr(result, 1, length(result) - 1)";
    let never_sealed = "UPDATE entries SET result = CAST('{\"id\":\"re_9\"}' AS BLOB)";
    let emptied = "UPDATE entries SET result = x''";
    for damage in [exchange, cut, never_sealed, emptied] {
        let bench = Bench::scripted([]).await;
        let ledger = bench.ledger(cipher());
        for order in [1, 2] {
            assert_eq!(bench.refund(&ledger, order).await.0, Code::Done);
        }
        assert_eq!(bench.refund(&ledger, 1).await.0, Code::AlreadyDone);
        bench.damage(damage);
        for order in [1, 2] {
            let (code, body) = bench.refund(&ledger, order).await;
            assert_eq!((code, &*body), (Code::ResultOmitted, ""), "{damage}");
            assert_eq!(state(&ledger, order).await, State::Done);
        }
        assert_eq!(bench.billing.commits(), 2, "{damage}");
    }
}
