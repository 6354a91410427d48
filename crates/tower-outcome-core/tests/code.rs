//! The table of codes, row by row, and the envelope that carries one.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tower_outcome_core::{
    Code, Conclusion, Envelope, IdempotencyKey, Landing, Level, Outcome, Retry,
};

#[test]
fn the_table_is_the_published_one() {
    let rows = |outcome: Outcome, level: Level| -> BTreeSet<&str> {
        let codes = Code::ALL.iter();
        codes
            .filter(|code| code.outcome() == outcome && code.level() == level)
            .map(|code| code.as_str())
            .collect()
    };
    for (outcome, level, texts) in PUBLISHED {
        let published = texts.split_whitespace().collect();
        assert_eq!(rows(*outcome, *level), published, "{outcome} {level:?}");
    }
    let published = PUBLISHED.iter().flat_map(|row| row.2.split_whitespace());
    assert_eq!(published.count(), Code::ALL.len());
}

#[test]
fn the_advice_on_repeating_is_the_published_one() {
    for (retry, texts) in ADVICE {
        let codes = Code::ALL.iter().filter(|code| code.retry() == *retry);
        let found: BTreeSet<&str> = codes.map(|code| code.as_str()).collect();
        assert_eq!(found, texts.split_whitespace().collect(), "{retry:?}");
    }
}

#[test]
fn every_code_has_a_text_of_its_own() {
    let texts: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(texts.len(), Code::ALL.len());
    for text in texts {
        let snake = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        assert!(text.bytes().all(snake), "{text}");
    }
}

#[test]
fn every_message_is_two_sentences() {
    for code in Code::ALL {
        let message = code.message();
        let sentences: Vec<&str> = message.split_inclusive(['.', '!', '?']).collect();
        assert_eq!(sentences.len(), 2, "{code}: {message}");
        for sentence in sentences {
            let sentence = sentence.trim_start();
            assert!(
                sentence.starts_with(char::is_uppercase),
                "{code}: {sentence}"
            );
            assert!(sentence.ends_with('.'), "{code}: {sentence}");
        }
    }
}

#[test]
fn only_a_failed_intent_may_be_repeated_as_it_is() {
    for code in Code::ALL {
        if code.retry() == Retry::Yes {
            assert_eq!(code.outcome(), Outcome::Failed, "{code}");
            assert_eq!(code.level(), Level::Intent, "{code}");
        }
        if code.outcome() == Outcome::Unknown {
            assert_eq!(code.retry(), Retry::No, "{code}");
        }
        if code.outcome().is_done() {
            assert_eq!(code.retry(), Retry::No, "{code}");
        }
    }
}

#[test]
fn only_what_may_be_repeated_invites_a_repeat() {
    for code in Code::ALL {
        let (wide, narrow) = (
            Conclusion::new(*code),
            Conclusion::new(*code).for_this_call(),
        );
        for conclusion in [wide, narrow] {
            let invites = invites_a_repeat(conclusion.message());
            let allowed = conclusion.retry() == Retry::Yes;
            assert_eq!(invites, allowed, "{code}: {}", conclusion.message());
        }
    }
}

#[test]
fn every_doubt_says_not_to_repeat_it() {
    for code in Code::ALL {
        if code.outcome() == Outcome::Unknown {
            let message = code.message();
            let forbids =
                message.contains("Do not repeat it") || message.contains("Do not call this again");
            assert!(forbids, "{code}: {message}");
        }
    }
}

#[test]
fn only_failed_says_that_nothing_was_changed() {
    for code in Code::ALL {
        if code.message().contains("Nothing was changed") {
            assert_eq!(code.outcome(), Outcome::Failed, "{code}");
        }
        if code.message().contains("is done;") {
            assert_eq!(code.outcome(), Outcome::Ok, "{code}");
        }
    }
}

#[test]
fn a_failed_of_this_call_only_is_narrower_than_one_of_the_intent() {
    for code in Code::ALL {
        let wide = Conclusion::new(*code);
        let narrow = wide.for_this_call();
        assert_eq!(narrow.code(), *code);
        assert_eq!(narrow.outcome(), wide.outcome());
        // A read changes nothing, and is nobody's earlier call.
        if code.outcome() != Outcome::Failed || *code == Code::ReadFailed {
            assert_eq!(narrow, wide, "{code}: there is nothing to narrow");
            continue;
        }
        assert_eq!(narrow.level(), Level::Call, "{code}");
        let retry = match wide.retry() {
            Retry::Yes => Retry::Later,
            other => other,
        };
        assert_eq!(narrow.retry(), retry, "{code}");
        let of_the_input = matches!(code, Code::InvalidArguments | Code::KeyConflict);
        let doubts = "Whether an earlier identical call did is not known here.";
        assert_eq!(narrow.message().ends_with(doubts), !of_the_input, "{code}");
    }
}

#[test]
fn only_what_was_not_sent_says_that_this_call_sent_nothing() {
    let sent = [
        Code::Declined,
        Code::KeyExpired,
        Code::PreconditionFailed,
        Code::RateLimited,
        Code::RedirectRefused,
        Code::RefusedByProtocol,
        Code::Rejected,
    ];
    for code in sent {
        let message = Conclusion::new(code).for_this_call().message();
        assert!(
            message.starts_with("The service turned this call down"),
            "{code}: {message}"
        );
    }
    let message = Conclusion::new(Code::ConnectFailed)
        .for_this_call()
        .message();
    assert!(message.starts_with("This call sent nothing"), "{message}");
}

#[test]
fn only_a_doubt_can_still_land() {
    for code in Code::ALL {
        let open = Conclusion::new(*code);
        let doubt = code.outcome() == Outcome::Unknown;
        assert_eq!(open.landing(), doubt.then_some(Landing::InFlight), "{code}");
        let settled = open.settled();
        assert_eq!(
            settled.landing(),
            doubt.then_some(Landing::Settled),
            "{code}"
        );
        assert_eq!(
            settled.retry(),
            open.retry(),
            "a settled doubt is a doubt: {code}"
        );
    }
}

#[test]
fn words_and_codes_survive_json_and_text() {
    for code in Code::ALL {
        assert_eq!(code.to_string(), code.as_str());
        assert_eq!(code.as_str().parse::<Code>().as_ref(), Ok(code));
        let value = serde_json::to_value(code).unwrap();
        assert_eq!(value, json!(code.as_str()));
        assert_eq!(serde_json::from_value::<Code>(value).unwrap(), *code);
        let outcome = code.outcome();
        let value = serde_json::to_value(outcome).unwrap();
        assert_eq!(value, json!(outcome.as_str()));
        assert_eq!(serde_json::from_value::<Outcome>(value).unwrap(), outcome);
    }
    assert!("no_such_code".parse::<Code>().is_err());
    assert!(serde_json::from_value::<Code>(json!("Done")).is_err());
    assert!(serde_json::from_str::<Outcome>("\"maybe\"").is_err());
    for (retry, text) in [
        (Retry::Later, "later"),
        (Retry::No, "no"),
        (Retry::Yes, "yes"),
    ] {
        assert_eq!(serde_json::to_value(retry).unwrap(), json!(text));
        assert_eq!(serde_json::from_value::<Retry>(json!(text)).unwrap(), retry);
    }
}

#[test]
fn an_envelope_survives_json() {
    for code in Code::ALL {
        for conclusion in [
            Conclusion::new(*code),
            Conclusion::new(*code).for_this_call(),
            Conclusion::new(*code).settled(),
        ] {
            let envelope = full(conclusion);
            let read: Envelope = serde_json::from_str(&envelope.to_json()).unwrap();
            assert_eq!(read, envelope);
            assert_eq!(read.outcome(), code.outcome());
            assert_eq!(read.code(), *code);
            assert_eq!(read.retry(), conclusion.retry());
            assert_eq!(read.landing(), conclusion.landing());
        }
    }
}

#[test]
fn the_members_of_an_envelope_keep_their_names_and_order() {
    assert_eq!(
        full(Conclusion::new(Code::ResponseLost)).to_json(),
        concat!(
            r#"{"outcome":"unknown","code":"response_lost","#,
            r#""message":"The request was sent and its answer was lost, so it is not known "#,
            r#"whether this happened. Do not repeat it; tell the user it is being confirmed. "#,
            r#"More.","data":{"id":7},"retry":"no","landing":"in_flight","key":"01020304","#,
            r#""deduplicated_until":1750000000}"#,
        )
    );
    assert_eq!(
        Envelope::new(Code::Done).to_json(),
        concat!(
            r#"{"outcome":"ok","code":"done","#,
            r#""message":"This is done; the result is in data. Report it.","#,
            r#""data":null,"retry":"no"}"#,
        )
    );
}

#[test]
fn an_envelope_shows_no_more_of_the_key_than_finds_its_row() {
    let envelope = full(Conclusion::new(Code::Done));
    assert_eq!(envelope.key(), Some("01020304"));
    assert_eq!(envelope.deduplicated_until(), Some(1_750_000_000));
    assert_eq!(envelope.data(), &json!({ "id": 7 }));
    assert_eq!(Envelope::new(Code::Done).data(), &Value::Null);
}

fn full(conclusion: Conclusion) -> Envelope {
    let mut key = [0xee; 32];
    key[..4].copy_from_slice(&[1, 2, 3, 4]);
    Envelope::new(conclusion)
        .with_data(json!({ "id": 7 }))
        .with_detail("More.")
        .with_key(&IdempotencyKey::from_bytes(key))
        .with_deduplicated_until(1_750_000_000)
}

fn invites_a_repeat(message: &str) -> bool {
    let message = message.to_lowercase();
    INVITATIONS.iter().any(|phrase| message.contains(phrase))
}

const INVITATIONS: &[&str] = &[
    "try again",
    "made again",
    "may be repeated",
    "call again",
    "send it again",
    "retry",
    "retried",
];

const PUBLISHED: &[(Outcome, Level, &str)] = &[
    (
        Outcome::Ok,
        Level::Intent,
        "done done_replayed done_body_lost",
    ),
    (
        Outcome::AlreadyDone,
        Level::Intent,
        "already_done result_omitted",
    ),
    (Outcome::Skipped, Level::Intent, "already_in_progress"),
    (
        Outcome::Failed,
        Level::Intent,
        "timeout_before_send connect_failed not_sent refused_by_protocol rejected declined
         precondition_failed rate_limited redirect_refused key_conflict handler_error read_failed
         invalid_arguments key_expired",
    ),
    (
        Outcome::Failed,
        Level::Call,
        "store_unavailable store_full overloaded cancelled_before_send shutting_down",
    ),
    (
        Outcome::Unknown,
        Level::Intent,
        "timeout_after_send response_lost server_error conflict_ambiguous rejected_after_unknown
         accepted_pending partial redirected key_conflict_unresolved still_confirming
         handler_panicked",
    ),
];

/// Every other code says `no`.
const ADVICE: &[(Retry, &str)] = &[
    (
        Retry::Later,
        "already_in_progress cancelled_before_send overloaded rate_limited shutting_down store_full
         store_unavailable",
    ),
    (
        Retry::Yes,
        "connect_failed handler_error not_sent read_failed refused_by_protocol timeout_before_send",
    ),
];
