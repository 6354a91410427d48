//! What a scenario sees of a connection when the write has ended.

use tower_outcome_testkit::{Scenario, Step, Told};

use crate::raw::{self, Ending, Raw};

async fn greeted(url: &str) -> Raw {
    let addr = url.strip_prefix("http://").unwrap().parse().unwrap();
    Raw::greeted_at(addr, &[]).await.0
}

#[tokio::test]
async fn what_arrives_after_the_write_has_ended_is_counted() {
    for cut in [0, 5, 20] {
        let scenario = Scenario::new("own", [Step::CommitThenClose]);
        let late = async |url: String| {
            let mut client = greeted(&url).await;
            let body = raw::body(1);
            let (start, rest) = body.split_at(cut);
            client.send([&raw::head(1, "k"), start].concat()).await;
            let rest = rest.to_vec();
            tokio::spawn(async move {
                // The server ends the connection before it has all of the request.
                assert_eq!(client.ending().await, (Vec::new(), Ending::Fin));
                client.send(rest).await;
            });
            Told::Failed
        };
        let observation = scenario.run(&late).await.unwrap();
        assert_eq!((observation.commits, observation.requests), (1, 1), "{cut}");
        assert!(observation.is_false_failed());
    }
}

#[tokio::test]
async fn a_repeat_that_is_sent_when_the_answer_comes_late_is_counted() {
    let holds = [Step::CommitThenHold, Step::CommitThenHold];
    let scenario = Scenario::new("own", holds);
    let repeating = async |url: String| {
        let mut client = greeted(&url).await;
        client.send(raw::write(1, "k")).await;
        // What answers a PING behind the write has come to hold that one.
        client.send(raw::frame(raw::PING, 0, 0, &[0; 8])).await;
        assert_eq!(client.frame().await.kind, raw::PING);
        tokio::spawn(async move {
            assert_eq!(client.frame().await.kind, raw::HEADERS);
            client.send(raw::write(3, "k")).await;
        });
        Told::Unknown
    };
    let observation = scenario.run(&repeating).await.unwrap();
    assert_eq!((observation.commits, observation.requests), (2, 2));
}
