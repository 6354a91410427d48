//! How a scenario is carried out and counted.

use std::collections::HashSet;
use std::future::pending;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tower_outcome_testkit::{End, Observation, Report, Scenario, Server, Step, Told};

use crate::clients::{careful, honest, post};

const HEAD: &str = "POST / HTTP/1.1\r\nhost: billing\r\ncontent-length: 2\r\n\r\n";

async fn connect(url: &str) -> TcpStream {
    let addr = url.strip_prefix("http://").unwrap();
    TcpStream::connect(addr).await.unwrap()
}

/// Makes a write that no client library bends, and sees this much.
fn seen(it: &Observation) -> (Option<Told>, usize, usize) {
    (it.told, it.commits, it.requests)
}

#[tokio::test]
async fn what_arrives_after_the_write_has_ended_is_counted() {
    let scenario = Scenario::new("own", [Step::CommitThenClose]);
    let late = async |url: String| {
        let mut stream = connect(&url).await;
        stream.write_all(HEAD.as_bytes()).await.unwrap();
        tokio::spawn(async move {
            // The server ends the connection before it has all of the request.
            assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
            stream.write_all(b"{}").await.unwrap();
        });
        Told::Failed
    };
    let observation = scenario.run(&late).await.unwrap();
    assert_eq!(seen(&observation), (Some(Told::Failed), 1, 1));
    assert!(observation.is_false_failed());
}

#[tokio::test]
async fn a_repeat_that_is_sent_when_the_answer_comes_late_is_counted() {
    let scenario = Scenario::new("own", [Step::CommitThenHold]);
    let repeating = async |url: String| {
        let mut stream = connect(&url).await;
        let request = format!("{HEAD}{{}}");
        stream.write_all(request.as_bytes()).await.unwrap();
        tokio::spawn(async move {
            assert!(stream.read(&mut [0; 1024]).await.unwrap() > 0);
            stream.write_all(request.as_bytes()).await.unwrap();
        });
        Told::Unknown
    };
    let observation = scenario.run(&repeating).await.unwrap();
    assert_eq!(seen(&observation), (Some(Told::Unknown), 2, 2));
}

#[tokio::test]
async fn a_write_over_a_reused_connection_is_counted_without_the_one_before_it() {
    let script = [Step::Answer, Step::CommitThenReset];
    let scenario = Scenario::new("own", script).after_another_write();
    let client = careful();
    let observation = scenario
        .run(&async |url: String| honest(&post(&client, &url).await))
        .await
        .unwrap();
    assert_eq!(seen(&observation), (Some(Told::Unknown), 1, 1));
}

#[tokio::test]
async fn a_write_that_a_server_takes_in_late_is_counted() {
    let late = |it: &Scenario| it.server() == Server::AcceptsLate;
    let scenario = Scenario::all().into_iter().find(late).unwrap();
    let hasty = async |url: String| {
        let mut stream = connect(&url).await;
        let request = format!("{HEAD}{{}}");
        stream.write_all(request.as_bytes()).await.unwrap();
        Told::Failed
    };
    let observation = scenario.run(&hasty).await.unwrap();
    assert_eq!(seen(&observation), (Some(Told::Failed), 1, 1));
}

#[tokio::test]
async fn a_refusing_server_is_never_reached() {
    let refuses = |it: &Scenario| it.server() == Server::Refuses;
    let scenario = Scenario::all().into_iter().find(refuses).unwrap();
    let client = careful();
    let observation = scenario
        .run(&async |url: String| honest(&post(&client, &url).await))
        .await
        .unwrap();
    assert_eq!(seen(&observation), (Some(Told::Failed), 0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_never_ends_is_given_up_and_fails_the_report() {
    let scenario = Scenario::new("own", [Step::Answer]);
    let endless = async |_| pending().await;
    let observation = scenario.run(&endless).await.unwrap();
    assert_eq!(observation.told, None);
    let report: Report = [observation].into_iter().collect();
    assert_eq!(report.unfinished().count(), 1);
    assert!(!report.is_sound());
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_the_client_keeps_for_good_is_given_up() {
    let scenario = Scenario::new(
        "own",
        [Step::StopAfter {
            bytes: 1,
            end: End::Hold,
        }],
    );
    let keeping = async |url: String| {
        let mut stream = connect(&url).await;
        stream.write_all(HEAD.as_bytes()).await.unwrap();
        tokio::spawn(async move {
            let _kept = stream;
            pending::<()>().await;
        });
        Told::Unknown
    };
    let observation = scenario.run(&keeping).await.unwrap();
    assert_eq!(seen(&observation), (Some(Told::Unknown), 0, 0));
}

#[test]
fn every_scenario_has_a_name_of_its_own_and_the_first_has_no_fault() {
    let all = Scenario::all();
    let names: HashSet<_> = all.iter().map(Scenario::name).collect();
    assert_eq!(names.len(), all.len());
    assert_eq!(all[0].name(), Scenario::FAULTLESS);
    assert!(matches!(all[0].script(), [Step::Answer]));
}

#[tokio::test]
async fn a_report_says_line_by_line_what_happened() {
    let client = careful();
    let mut report = Vec::new();
    for scenario in [
        Scenario::new(Scenario::FAULTLESS, [Step::Answer]),
        Scenario::new("commits, then closes", [Step::CommitThenClose]),
    ] {
        let wrong = async |url: String| match post(&client, &url).await {
            Ok(_) => Told::Done,
            Err(_) => Told::Failed,
        };
        report.push(scenario.run(&wrong).await.unwrap());
    }
    let report: Report = report.into_iter().collect();
    let expected = "\
the server                                    commits  requests  told
answers                                             1         1  done
commits, then closes                                1         1  failed   TOLD FAILED, TOOK EFFECT
1 of 2 scenarios went wrong";
    assert_eq!(report.to_string(), expected);
}
