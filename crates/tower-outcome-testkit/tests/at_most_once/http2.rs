//! The scenarios over HTTP/2.

use tower_outcome_testkit::{Scenario, Told, at_most_once};

use crate::clients::{never_guessing, post, speaking_http2};

#[tokio::test]
async fn over_http_2_a_client_that_never_repeats_and_never_guesses_is_sound_in_every_scenario() {
    let client = speaking_http2();
    let report = at_most_once(async |url| never_guessing(&post(&client, &url).await));
    let report = report.await.unwrap();
    assert!(report.is_sound(), "{report}");
    assert_eq!(report.observations().len(), Scenario::all().len());

    let commits = |name| {
        let mut all = report.observations().iter();
        let observation = all.find(|it| it.scenario == name).unwrap();
        (observation.told, observation.commits, observation.requests)
    };
    for (name, told, made, requests) in [
        ("answers", Told::Done, 1, 1),
        ("accepts once the write has ended", Told::Unknown, 1, 1),
        ("accepts, then closes", Told::Unknown, 0, 0),
        ("reads the head, then is silent", Told::Unknown, 0, 1),
        (
            "reads all, answers 100, then is silent",
            Told::Unknown,
            0,
            1,
        ),
        ("commits, then is silent", Told::Unknown, 1, 1),
        ("commits, answers 103, then is silent", Told::Unknown, 1, 1),
        (
            "commits, answers once the write has ended",
            Told::Unknown,
            1,
            1,
        ),
        ("answers 503 to the head, then commits", Told::Unknown, 1, 1),
        ("commits, answers 103, then 201", Told::Done, 1, 1),
        ("answers 408 on the idle connection", Told::Done, 1, 1),
        ("commits after reuse, then closes", Told::Unknown, 1, 1),
    ] {
        assert_eq!(
            commits(name),
            (Some(told), made, requests),
            "{name}\n{report}"
        );
    }
}
