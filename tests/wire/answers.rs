//! Whole answers, and what their status proves.

use http::Request;
use tower_outcome::{Code, Outcome, OutcomeBody, Profile};
use tower_outcome_testkit::{Billing, Reply, Step};

use crate::clients::{over_each, write};
use crate::once;

async fn answered(status: u16, request: impl Fn(&str) -> Request<OutcomeBody>) -> [Code; 2] {
    let mut codes = [Code::HandlerPanicked; 2];
    for (code, (_, stack)) in codes.iter_mut().zip(over_each(&once())) {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::AnswerWith(Reply::new(status))]);
        *code = stack.send(request(&billing.url())).await.code();
        assert_eq!(billing.received().len(), 1);
    }
    codes
}

#[tokio::test]
async fn a_lone_refusal_of_a_write_proves_that_nothing_happened() {
    let refusals = [
        400, 401, 403, 404, 405, 411, 413, 414, 415, 421, 422, 425, 431,
    ];
    for status in refusals {
        assert_eq!(
            answered(status, write).await,
            [Code::Rejected; 2],
            "{status}"
        );
    }
    assert_eq!(answered(429, write).await, [Code::RateLimited; 2]);
}

#[tokio::test]
async fn what_may_follow_a_processed_write_proves_nothing() {
    for status in [402, 408, 409, 410, 412, 418, 423, 424, 426, 428, 451] {
        let codes = answered(status, write).await;
        assert_eq!(codes, [Code::ConflictAmbiguous; 2], "{status}");
    }
    for status in [500, 501, 502, 503, 504, 507, 511] {
        assert_eq!(
            answered(status, write).await,
            [Code::ServerError; 2],
            "{status}"
        );
    }
    assert_eq!(answered(202, write).await, [Code::AcceptedPending; 2]);
    assert_eq!(answered(207, write).await, [Code::Partial; 2]);
}

/// A gateway that speaks gRPC behind itself lets slip what one of its calls ended in.
#[tokio::test]
async fn a_grpc_status_in_an_answer_of_another_kind_says_nothing() {
    for (status, grpc, code) in [
        (500, "0", Code::ServerError),
        (503, "3", Code::ServerError),
        (201, "3", Code::Done),
    ] {
        for (client, stack) in over_each(&once()) {
            let billing = Billing::start_without_keys().await.unwrap();
            let reply = Reply::new(status).with_header("grpc-status", grpc);
            billing.script([Step::CommitThenAnswerWith(reply)]);
            let verdict = stack.send(write(&billing.url())).await;
            assert_eq!(verdict.code(), code, "{client} {status} {grpc}");
        }
    }
}

#[tokio::test]
async fn a_delete_of_what_is_gone_may_have_deleted_it() {
    let delete = |url: &str| {
        Request::delete(format!("{url}/refunds/7"))
            .body(().into())
            .unwrap()
    };
    for status in [404, 410] {
        let codes = answered(status, delete).await;
        assert_eq!(codes, [Code::ConflictAmbiguous; 2], "{status}");
    }
}

#[tokio::test]
async fn a_condition_that_the_request_declared_makes_412_a_proof() {
    let conditional = |url: &str| {
        let mut request = write(url);
        request
            .headers_mut()
            .insert("if-match", "\"1\"".parse().unwrap());
        request
    };
    assert_eq!(
        answered(412, conditional).await,
        [Code::PreconditionFailed; 2]
    );
}

#[tokio::test]
async fn a_gateway_that_gives_up_after_the_commit_is_not_believed() {
    for (client, stack) in over_each(&once()) {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::CommitThenAnswerWith(Reply::new(503))]);
        let verdict = stack.send(write(&billing.url())).await;
        assert_eq!(verdict.code(), Code::ServerError, "{client}");
        assert_eq!(billing.commits(), 1, "{client}");
    }
}

#[tokio::test]
async fn no_redirect_of_a_write_is_followed() {
    let rows = [
        (301, Code::Redirected),
        (302, Code::Redirected),
        (303, Code::Redirected),
        (307, Code::RedirectRefused),
        (308, Code::RedirectRefused),
    ];
    for (status, code) in rows {
        for (client, stack) in over_each(&once()) {
            let target = Billing::start_without_keys().await.unwrap();
            let billing = Billing::start_without_keys().await.unwrap();
            let location = format!("{}/refunds", target.url());
            let redirect = Reply::new(status).with_header("location", location);
            billing.script([Step::AnswerWith(redirect)]);

            let verdict = stack.send(write(&billing.url())).await;
            assert_eq!(verdict.code(), code, "{client} {status}");
            assert_eq!(billing.received().len(), 1, "{client} {status}");
            assert_eq!(target.timeline(), [], "{client} {status}");
        }
    }
}

#[tokio::test]
async fn the_answer_is_handed_on_as_it_came() {
    for (client, stack) in over_each(&once()) {
        let billing = Billing::start_without_keys().await.unwrap();
        let verdict = stack.send(write(&billing.url())).await;
        assert_eq!(verdict.reply().unwrap().status(), 201, "{client}");
        let json = verdict.into_json().unwrap();
        assert_eq!(json["id"], "re_1", "{client}");
    }
}

/// A head of 200 is sent before the work has ended, and the end of the body says how that went.
#[tokio::test]
async fn an_error_behind_the_head_of_a_success_is_no_success_where_the_body_decides() {
    let s3 = Profile::named("aws_s3").unwrap();
    let error = "<Error><Code>InternalError</Code></Error>";
    for (client, stack) in over_each(&once().with_profile(s3)) {
        let billing = Billing::start_without_keys().await.unwrap();
        let reply = Reply::new(200).with_header("content-type", "application/xml");
        let reply = reply.with_body(" ".repeat(100) + error);
        billing.script([Step::AnswerWith(reply)]);
        let verdict = stack.send(write(&billing.url())).await;
        assert_eq!(verdict.outcome(), Outcome::Unknown, "{client}");
    }
}
