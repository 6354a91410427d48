//! Cases of answers: what does one prove about a write, and may the write be sent again?

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;
use tower_outcome::classify::{self, Answer, GrpcStatus, History, KeyOrigin, Reading, Sent};
use tower_outcome::{Code, Profile};

use super::{Report, text_of};

/// Runs every case of `text`.
pub(crate) fn run(text: &str) -> Result<Report, String> {
    Report::of(text, judge)
}

/// The error says what was expected and what came.
fn judge(case: &Value) -> Result<(), String> {
    let reading = read(case)?;
    let word = reading.code.outcome().as_str();
    let accepted = case["acceptable_outcomes"].as_array();
    let accepted: Vec<&str> = accepted.into_iter().flatten().map(text_of).collect();
    let resend = case["retryable_with_same_key"] == true;
    if accepted.contains(&word) && resend == reading.retryable_with_same_key {
        return Ok(());
    }
    Err(format!(
        "expected {} (resend: {resend}), got {word}/{} (resend: {})",
        accepted.join(" or "),
        reading.code,
        reading.retryable_with_same_key,
    ))
}

fn read(case: &Value) -> Result<Reading, String> {
    let profile = Profile::named(text_of(&case["provider"])).unwrap_or_default();
    let request = &case["request"];
    let method = text_of(&request["method"]).parse::<Method>();
    let method = method.map_err(|_| "`method` is no method")?;
    // APIs that have one address for all operations write the operation behind it.
    let (path, rest) = text_of(&request["path"])
        .split_once(' ')
        .unwrap_or((text_of(&request["path"]), ""));
    let mut sent_headers = headers(&request["headers"])?;
    if let Some(operation) = rest
        .split(' ')
        .next()
        .filter(|operation| !operation.is_empty())
    {
        let target = HeaderValue::try_from(format!("Service.{operation}"));
        sent_headers.insert(
            "x-amz-target",
            target.map_err(|_| "`path` has an odd operation")?,
        );
    }
    let got = Came::of(&case["response"])?;
    if got.before_body {
        sent_headers.insert("expect", HeaderValue::from_static("100-continue"));
    }

    let mut sent = Sent::new(&method, path).with_headers(&sent_headers);
    if request["has_key"] == true {
        sent = sent.with_key(KeyOrigin::Explicit);
    }
    for (name, value) in case["context"].as_object().into_iter().flatten() {
        sent = match (name.as_str(), value.as_u64()) {
            ("key_age_s", Some(age)) => sent.with_key_age(Duration::from_secs(age)),
            ("note", _) => sent,
            // Whatever else there is to say is where the next attempt goes, or as whom.
            _ => sent.moving_on(),
        };
    }
    let history = match text_of(&case["prior_attempts"]) {
        "unknown" => History::LeftInThisCall,
        "failed" | "none" => History::Clean,
        _ => return Err("`prior_attempts` is none of failed, none, unknown".to_owned()),
    };
    if let Some(code) = got.unanswered {
        return Ok(classify::unanswered(&profile, &sent, code, history));
    }
    let mut answer = Answer::new(got.status, &got.headers);
    if let Some(body) = &got.body {
        answer = answer.with_body(body);
    } else {
        answer = answer.with_lost_body();
    }
    if let Some(code) = got.grpc {
        answer = answer.with_grpc(GrpcStatus::new(code, ""));
    }
    Ok(classify::answer(&profile, &sent, &answer, history))
}

/// What a case says came back.
#[derive(Default)]
struct Came {
    unanswered: Option<Code>,
    status: StatusCode,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
    grpc: Option<u32>,
    before_body: bool,
}

impl Came {
    fn of(response: &Value) -> Result<Self, String> {
        if let Some(end) = response["transport_error"].as_str() {
            return Self::by_name(end);
        }
        let mut headers = headers(&response["headers"])?;
        let grpc = match headers.get("grpc-status").map(HeaderValue::to_str) {
            Some(Ok(name)) => Some(grpc_code(name).ok_or("`grpc-status` is no status")?),
            _ => None,
        };
        let body = match &response["body"] {
            Value::Null => Vec::new(),
            Value::String(text) => text.clone().into_bytes(),
            json => {
                let kind = HeaderValue::from_static("application/json");
                headers.entry("content-type").or_insert(kind);
                json.to_string().into_bytes()
            }
        };
        Ok(Self {
            status: status(&response["status"].to_string())?,
            headers,
            body: Some(body),
            grpc,
            ..Self::default()
        })
    }

    /// The ends of a request that a name tells of.
    fn by_name(end: &str) -> Result<Self, String> {
        let starts = |words: &[&str]| words.iter().any(|word| end.starts_with(word));
        if let Some(head) = end.strip_prefix("final_status_") {
            return Ok(Self {
                status: status(head)?,
                body: Some(Vec::new()),
                before_body: head.contains("before_body"),
                ..Self::default()
            });
        }
        if let Some(head) = end.strip_prefix("status_") {
            let mut headers = HeaderMap::new();
            if head.contains("location") {
                headers.insert("location", HeaderValue::from_static("/1"));
            }
            return Ok(Self {
                status: status(head)?,
                headers,
                ..Self::default()
            });
        }
        let refused = end.contains("refused_stream")
            || end.contains("request_rejected")
            || (end.contains("goaway") && end.contains("below"));
        let code = if refused {
            Code::RefusedByProtocol
        } else if starts(&["connect_", "dns_", "proxy_connect_", "tls_handshake_"]) {
            Code::ConnectFailed
        } else if starts(&["pool_"]) || end.ends_with("before_send") {
            Code::NotSent
        } else if end.starts_with("timeout") {
            Code::TimeoutAfterSend
        } else {
            Code::ResponseLost
        };
        Ok(Self {
            unanswered: Some(code),
            ..Self::default()
        })
    }
}

/// The status that `text` begins with.
fn status(text: &str) -> Result<StatusCode, String> {
    let digits = text.get(..3).unwrap_or_default();
    digits
        .parse()
        .map_err(|_| format!("{text:?} begins with no status"))
}

fn headers(value: &Value) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        let name = HeaderName::try_from(name).map_err(|_| format!("{name:?} is no header"))?;
        let value = HeaderValue::try_from(text_of(value));
        headers.append(name, value.map_err(|_| "a header has an odd value")?);
    }
    Ok(headers)
}

/// The number of a status, by its name or as it stands.
fn grpc_code(name: &str) -> Option<u32> {
    let named = GRPC.iter().position(|known| *known == name);
    named
        .and_then(|at| u32::try_from(at).ok())
        .or_else(|| name.parse().ok())
}

/// The statuses of gRPC, each at its number.
const GRPC: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];
