//! Look-ups at the service confirm what ended in doubt.

use serde_json::Value;
use tower_outcome::{BoxError, Code, Outcome, Profile};
use tower_outcome_core::ledger::{Entry, State, WriteRecord};
use tower_outcome_testkit::{LookUp as By, Reply, Step};
use tower_outcome_tools::reconciler::LookUpFuture;
use tower_outcome_tools::{Found, LookUp, Reconciler, Report, Tool};

use crate::support::{Bench, Writer, is};

/// Asks the service by the one token or the other.
struct Refunds {
    url: String,
    by: By,
}

impl LookUp for Refunds {
    fn find<'a>(&'a self, _: &'a Entry, write: &'a WriteRecord) -> LookUpFuture<'a> {
        Box::pin(async move {
            let path = write.route.rsplit_once('/').ok_or("no path")?.1;
            let token = match self.by {
                By::Reference => format!("reference={}", write.reference.as_deref().ok_or("none")?),
                _ => format!("key={}", write.wire_key),
            };
            let url = format!("{}/{path}?{token}", self.url);
            let text = reqwest::get(url)
                .await?
                .text()
                .await
                .map_err(BoxError::from)?;
            let mut answer: Value = serde_json::from_str(&text)?;
            Ok(match answer["found"].get_mut(0) {
                Some(found) => Found::Done(found.take()),
                None => Found::NotFound,
            })
        })
    }
}

async fn pass(bench: &Bench, by: By) -> Report {
    bench.billing.look_up_by(by);
    let url = bench.billing.url();
    let ledger = std::sync::Arc::clone(&bench.ledger);
    Reconciler::new(ledger, Refunds { url, by })
        .pass()
        .await
        .unwrap()
}

const LOST: Step = Step::CommitThenClose;

#[tokio::test]
async fn a_write_is_confirmed_by_its_key() {
    let bench = Bench::scripted([LOST]).await;
    is(
        &bench.run(bench.refund().with_single_write()).await,
        Outcome::Unknown,
        Code::ResponseLost,
    );
    let report = pass(&bench, By::Key).await;
    assert_eq!((report.confirmed.len(), report.open.len()), (1, 0));
    let again = bench.run(bench.refund().with_single_write()).await;
    is(&again, Outcome::AlreadyDone, Code::AlreadyDone);
    assert_eq!(again.data()["id"], "re_1");
    assert_eq!(bench.billing.commits(), 1);
    assert_eq!(pass(&bench, By::Key).await, Report::default());
}

#[tokio::test]
async fn a_write_is_confirmed_by_its_reference() {
    let bench = Bench::scripted([LOST]).await;
    let profile = Profile::idempotency_key().with_reference("reference");
    let writer = Writer::new(bench.billing.url(), profile);
    let tool = Tool::write("refund", move |arguments| {
        let writer = writer.clone();
        async move { Ok(writer.write("/refunds", &arguments).await?) }
    });
    let tool = tool.with_single_write();
    is(&bench.run(tool).await, Outcome::Unknown, Code::ResponseLost);
    let report = pass(&bench, By::Reference).await;
    assert_eq!((report.confirmed.len(), report.open.len()), (1, 0));
    assert_eq!(bench.state("refund").await, State::Done);
}

#[tokio::test]
async fn what_is_not_found_stays_in_doubt() {
    let bench = Bench::scripted([Step::AnswerWith(Reply::new(500))]).await;
    is(
        &bench.run(bench.refund().with_single_write()).await,
        Outcome::Unknown,
        Code::ServerError,
    );
    let report = pass(&bench, By::Key).await;
    assert_eq!((report.confirmed.len(), report.open.len()), (0, 1));
    is(
        &bench.run(bench.refund().with_single_write()).await,
        Outcome::Unknown,
        Code::StillConfirming,
    );
}

#[tokio::test]
async fn a_look_up_that_fails_leaves_the_doubt() {
    let bench = Bench::scripted([LOST]).await;
    bench.run(bench.refund().with_single_write()).await;
    let report = pass(&bench, By::Reference).await; // the writes carry none
    assert_eq!((report.confirmed.len(), report.open.len()), (0, 1));
}

#[tokio::test]
async fn a_call_of_several_writes_is_not_finished_by_finding_them() {
    let bench = Bench::scripted([LOST, LOST]).await;
    let tool = bench.tool("pair", |writer, arguments| async move {
        let a = writer.write("/a", &arguments).await;
        let b = writer.write("/b", &arguments).await;
        a.and(b).map_err(Into::into)
    });
    assert_eq!(bench.run(tool).await.outcome(), Outcome::Unknown);
    let report = pass(&bench, By::Key).await;
    assert_eq!((report.confirmed.len(), report.open.len()), (0, 1));
    assert_eq!(report.candidates[0].found.len(), 2, "for people");
    assert_eq!(bench.state("pair").await, State::Unknown);
}

#[tokio::test]
async fn an_opaque_tool_has_no_token_to_be_found_by() {
    struct Believer;
    impl LookUp for Believer {
        fn find<'a>(&'a self, _: &'a Entry, _: &'a WriteRecord) -> LookUpFuture<'a> {
            Box::pin(async { Ok(Found::Done(Value::Null)) })
        }
    }
    let bench = Bench::start().await;
    let tool = Tool::opaque_write("print", |_| async { Err("broken pipe".into()) });
    is(&bench.run(tool).await, Outcome::Unknown, Code::ResponseLost);
    let reconciler = Reconciler::new(std::sync::Arc::clone(&bench.ledger), Believer);
    let report = reconciler.pass().await.unwrap();
    assert_eq!((report.confirmed.len(), report.open.len()), (0, 1));
}
