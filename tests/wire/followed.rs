//! A client that follows redirects answers for another request than the write that was made.

use tower_outcome::{Code, Outcome, Stack};
use tower_outcome_testkit::{Billing, Refusing, Reply, Step};

use crate::clients::write;

/// What a client may follow: the usual reqwest client, not made for writes.
fn following() -> reqwest::Client {
    reqwest::Client::new()
}

#[tokio::test]
async fn a_refused_redirect_after_the_commit_is_not_failed() {
    let billing = Billing::start().await.unwrap();
    let refusing = Refusing::start().unwrap();
    let elsewhere = format!("{}/done", refusing.url());
    billing.script([moved(&elsewhere)]);

    let verdict = Stack::new()
        .over(following())
        .send(write(&billing.url()))
        .await;
    assert_eq!(verdict.outcome(), Outcome::Unknown, "{}", verdict.code());
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn the_answer_of_a_followed_redirect_is_not_that_of_the_write() {
    for status in [200, 404] {
        let billing = Billing::start().await.unwrap();
        let other = Billing::start().await.unwrap();
        // The other server's read is answered with 200; a write there would take the step.
        let elsewhere = match status {
            200 => format!("{}/done", other.url()),
            _ => format!("{}/refunds?nothing=here", billing.url()),
        };
        billing.script([moved(&elsewhere)]);

        let verdict = Stack::new()
            .over(following())
            .send(write(&billing.url()))
            .await;
        assert_eq!(verdict.code(), Code::Redirected);
        assert_eq!(billing.commits(), 1);
    }
}

#[tokio::test]
async fn a_refusal_proves_nothing_where_the_client_may_follow_redirects() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerWith(Reply::new(422))]);

    let verdict = Stack::new()
        .over(following())
        .send(write(&billing.url()))
        .await;
    assert_eq!(verdict.outcome(), Outcome::Unknown, "{}", verdict.code());
}

#[tokio::test]
async fn a_connection_that_is_never_made_is_failed_even_there() {
    let refusing = Refusing::start().unwrap();
    let verdict = Stack::new()
        .over(following())
        .send(write(&refusing.url()))
        .await;
    assert_eq!(verdict.code(), Code::ConnectFailed);
}

fn moved(location: &str) -> Step {
    Step::CommitThenAnswerWith(Reply::new(303).with_header("location", location))
}
