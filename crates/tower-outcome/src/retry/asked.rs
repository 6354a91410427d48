//! What a provider asks of further attempts.

use std::time::{Duration, SystemTime};

use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderName};

/// What a gRPC server asks of further attempts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pushback {
    /// Another pace: exactly this wait.
    After(Duration),
    /// No further attempt.
    Never,
}

/// What a gRPC server asks, if it does: milliseconds as a signed 32-bit integer without leading
/// zeros. What cannot be read means no further attempt (gRFC A6, "Pushback").
pub(crate) fn pushback(fields: &HeaderMap) -> Option<Pushback> {
    let text = fields.get(&PUSHBACK)?.to_str().ok();
    let milliseconds = text.and_then(|text| {
        let number: i32 = text.parse().ok()?;
        let milliseconds = u64::try_from(number).ok()?;
        (number.to_string() == text).then_some(milliseconds)
    });
    Some(milliseconds.map_or(Pushback::Never, |it| {
        Pushback::After(Duration::from_millis(it).min(MAX_RETRY_AFTER))
    }))
}

/// How long the provider asks to wait (RFC 9110 section 10.2.3). A moment is counted from the
/// answer's own `Date`, if it has one: two clocks seldom agree. What cannot be read asks nothing.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let seconds = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number holds are a long time still.
        Duration::from_secs(text.parse().unwrap_or(u64::MAX))
    } else {
        let moment = httpdate::parse_http_date(text).ok()?;
        let date = headers.get(DATE).and_then(|date| date.to_str().ok());
        let now = date.and_then(|date| httpdate::parse_http_date(date).ok());
        let now = now.unwrap_or_else(SystemTime::now);
        moment.duration_since(now).unwrap_or_default()
    };
    Some(seconds.min(MAX_RETRY_AFTER))
}

static PUSHBACK: HeaderName = HeaderName::from_static("grpc-retry-pushback-ms");

/// The longest wait that a provider is granted.
pub const MAX_RETRY_AFTER: Duration = Duration::from_mins(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_read_or_clamped_or_ignored() {
        let date = "Wed, 21 Oct 2015 07:28:00 GMT";
        for (text, seconds) in [
            ("120", Some(120)),
            (" 120 ", Some(120)),
            ("0", Some(0)),
            ("3600", Some(300)),
            ("9223372037", Some(300)),
            ("99999999999999999999", Some(300)),
            ("Wed, 21 Oct 2015 07:28:07 GMT", Some(7)),
            ("Wednesday, 21-Oct-15 07:28:07 GMT", Some(7)),
            ("Wed Oct 21 07:28:07 2015", Some(7)),
            ("Wed, 21 Oct 2015 07:27:00 GMT", Some(0)),
            ("Wed, 21 Oct 2099 07:28:00 GMT", Some(300)),
            ("-3", None),
            ("+3", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(DATE, date.parse().unwrap());
            headers.append(RETRY_AFTER, text.parse().unwrap());
            headers.append(RETRY_AFTER, "1".parse().unwrap());
            let wait = seconds.map(Duration::from_secs);
            assert_eq!(retry_after(&headers), wait, "{text}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, date.parse().unwrap());
        assert_eq!(
            retry_after(&headers),
            Some(Duration::ZERO),
            "long ago by any clock"
        );
    }

    #[test]
    fn a_pushback_is_a_plain_number_or_means_never() {
        for (text, milliseconds) in [
            ("5000", Some(5000)),
            ("0", Some(0)),
            ("2147483647", Some(300_000)),
        ]
        .into_iter()
        .chain(["-1", "abc", "", "007", "2147483648", "+5"].map(|text| (text, None)))
        {
            let mut fields = HeaderMap::new();
            assert_eq!(pushback(&fields), None);
            fields.insert("grpc-retry-pushback-ms", text.parse().unwrap());
            let wait = milliseconds.map(Duration::from_millis);
            let asked = wait.map_or(Pushback::Never, Pushback::After);
            assert_eq!(pushback(&fields), Some(asked), "{text}");
        }
    }
}
