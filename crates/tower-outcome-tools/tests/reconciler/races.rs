//! Late answers, people and reconcilers at one entry.

use std::sync::Arc;

use serde_json::json;
use tower_outcome::Code;
use tower_outcome_core::Conclusion;
use tower_outcome_core::ledger::{
    Ending, Entry, Event, Ledger as _, LedgerError, State, WriteRecord,
};
use tower_outcome_tools::operator::OperatorError;
use tower_outcome_tools::reconciler::LookUpFuture;
use tower_outcome_tools::{Found, LookUp, Operator};

use crate::support::{Bench, Encrypting, IGNORED, LOST, Says, key};

impl Bench {
    /// What the owner of an entry that was seen takes down in the end.
    async fn late(&self, seen: &Entry, ending: Ending) -> Result<(), LedgerError> {
        let epoch = seen.epoch;
        let event = Event::Settle { epoch, ending };
        self.ledger.apply(&seen.key, event).await.map(drop)
    }

    fn operator(&self) -> Operator {
        Operator::new(Arc::clone(&self.ledger))
    }
}

fn done() -> Ending {
    Ending::Done {
        code: Code::Done,
        result: None,
    }
}

/// Finds what it is told, after the owner's answer has come.
struct Beaten {
    ledger: Arc<Encrypting>,
    late: Ending,
    found: Found,
}

impl LookUp for Beaten {
    fn find<'a>(&'a self, entry: &'a Entry, _: &'a WriteRecord) -> LookUpFuture<'a> {
        Box::pin(async {
            let epoch = entry.epoch;
            let ending = self.late.clone();
            let event = Event::Settle { epoch, ending };
            self.ledger.apply(&entry.key, event).await?;
            Ok(self.found.clone())
        })
    }
}

#[tokio::test]
async fn a_late_answer_that_comes_first_stands() {
    for (late, found, state) in [
        (done(), Found::Done(json!(1)), State::Done),
        (done(), Found::Failed, State::Done),
        (done(), Found::NotFound, State::Done),
        (
            Ending::Failed {
                code: Code::Declined,
            },
            Found::Failed,
            State::Failed,
        ),
        (
            Ending::Failed {
                code: Code::Declined,
            },
            Found::NotFound,
            State::Failed,
        ),
    ] {
        let bench = Bench::scripted([LOST]).await;
        bench.lose().await;
        bench.let_land();
        let ledger = Arc::clone(&bench.ledger);
        let beaten = Beaten {
            ledger,
            late,
            found,
        };
        let reconciler = bench.reconciler(beaten).with_resender(bench.resender());
        let report = reconciler.pass().await.unwrap();
        assert_eq!(bench.state().await, state, "{report:?}");
        assert_eq!((report.failed, report.resent), (vec![], vec![]));
        assert_eq!(bench.billing.commits(), 1);
    }
}

#[tokio::test]
async fn proof_that_comes_late_beats_a_failure_and_doubt_beats_nothing() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    let seen = bench.entry().await;
    bench.let_land();
    let failed = bench.reconciler(Says(Found::Failed)).pass().await.unwrap();
    assert_eq!(failed.failed, [key()]);
    let conclusion = Conclusion::new(Code::ResponseLost);
    let doubt = Ending::Unknown {
        conclusion,
        result: None,
    };
    assert!(bench.late(&seen, doubt).await.unwrap_err().is_fenced());
    assert_eq!(bench.state().await, State::Failed);
    bench.late(&seen, done()).await.unwrap();
    assert_eq!(bench.state().await, State::Done);
}

#[tokio::test]
async fn an_owner_that_thaws_after_a_resend_can_prove_that_it_happened_and_nothing_else() {
    let bench = Bench::scripted([LOST, IGNORED]).await;
    bench.lose().await;
    let seen = bench.entry().await;
    bench.let_land();
    assert_eq!(bench.resend().await.resent, [key()]);
    // Its own request was refused before it froze; the one that was sent again may land.
    let refused = Ending::Failed {
        code: Code::RateLimited,
    };
    assert!(bench.late(&seen, refused).await.unwrap_err().is_fenced());
    let epoch = seen.epoch;
    let code = Code::NotSent;
    let release = bench
        .ledger
        .apply(&seen.key, Event::Release { epoch, code })
        .await;
    assert!(release.unwrap_err().is_fenced());
    assert_eq!(bench.state().await, State::Unknown);
    bench.late(&seen, done()).await.unwrap();
    assert_eq!(bench.state().await, State::Done);
}

#[tokio::test]
async fn nobody_can_say_that_it_failed_while_it_may_be_sent_again() {
    let bench = Bench::scripted([LOST, IGNORED]).await;
    bench.lose().await;
    bench.let_land();
    let shown = bench.operator().show(&key()).await.unwrap();
    assert_eq!(bench.resend().await.resent, [key()]);
    let stale = bench
        .operator()
        .resolve_failed(&shown, "ada", "not there")
        .await;
    assert!(stale.unwrap_err().is_refused());
    let shown = bench.operator().show(&key()).await.unwrap();
    let early: OperatorError = bench
        .operator()
        .resolve_failed(&shown, "ada", "not there")
        .await
        .unwrap_err();
    assert!(early.not_before().is_some(), "{early}");
    bench.let_land();
    bench
        .operator()
        .resolve_failed(&shown, "ada", "not there")
        .await
        .unwrap();
    assert_eq!(bench.state().await, State::Failed);
}

#[tokio::test]
async fn a_persons_word_and_a_late_answer_end_in_the_proof() {
    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    let seen = bench.entry().await;
    bench.let_land();
    let operator = bench.operator();
    operator
        .resolve_failed(&seen, "ada", "not in the dashboard")
        .await
        .unwrap();
    bench.late(&seen, done()).await.unwrap();
    let entry = bench.entry().await;
    assert_eq!(entry.state, State::Done);

    let bench = Bench::scripted([LOST]).await;
    bench.lose().await;
    let seen = bench.entry().await;
    bench.late(&seen, done()).await.unwrap();
    let late = bench
        .operator()
        .resolve_failed(&seen, "ada", "not there")
        .await
        .unwrap_err();
    assert!(late.is_refused() && late.not_before().is_none(), "{late}");
    assert_eq!(bench.state().await, State::Done);
}
