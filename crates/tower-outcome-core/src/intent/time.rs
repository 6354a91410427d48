//! Dates and points in time in the profile of RFC 3339, each in one spelling.

/// A calendar date that exists.
pub(crate) fn date(text: &str) -> Result<String, &'static str> {
    let mut rest = text.as_bytes();
    match (days(&mut rest), rest) {
        (Some(_), []) => Ok(text.to_owned()),
        _ => Err("is no calendar date such as 2026-03-01"),
    }
}

/// A point in time, moved to UTC, without the zeros that end its fraction.
pub(crate) fn instant(text: &str) -> Result<String, &'static str> {
    read_instant(text.as_bytes()).ok_or("is no time with an offset such as 2026-03-01T10:00:00Z")
}

fn read_instant(mut rest: &[u8]) -> Option<String> {
    let day = days(&mut rest)?;
    take(&mut rest, b"Tt")?;
    let hour = number(&mut rest, 2, 23)?;
    take(&mut rest, b":")?;
    let minute = number(&mut rest, 2, 59)?;
    take(&mut rest, b":")?;
    let second = number(&mut rest, 2, 60)?;
    let fraction = fraction(&mut rest)?;
    let offset = offset(&mut rest)?;
    if !rest.is_empty() {
        return None;
    }
    let minutes = (day * 24 + hour) * 60 + minute - offset;
    let (day, minute) = (minutes.div_euclid(DAY), minutes.rem_euclid(DAY));
    // A leap second ends a day of UTC.
    if second == 60 && minute != DAY - 1 {
        return None;
    }
    let (year, month, day) = civil(day)?;
    let (hour, minute) = (minute / 60, minute % 60);
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"
    ))
}

/// A point in time as it is written here, from milliseconds since the Unix epoch.
pub(crate) fn of_unix(millis: u64) -> Option<String> {
    let seconds = i64::try_from(millis / 1000).ok()?;
    let (day, second) = (seconds / (DAY * 60), seconds % (DAY * 60));
    let (year, month, day) = civil(day + UNIX_EPOCH)?;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let millis = millis % 1000;
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
    ))
}

/// The date at the head of `rest`, in days since 0000-03-01.
fn days(rest: &mut &[u8]) -> Option<i64> {
    let year = number(rest, 4, 9999)?;
    take(rest, b"-")?;
    let month = number(rest, 2, 12)?;
    take(rest, b"-")?;
    let day = number(rest, 2, 31)?;
    // Counted from March, the leap day ends the year and months follow one formula.
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days =
        365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (153 * m + 2) / 5 + day
            - 1;
    (civil(days)? == (year, month, day)).then_some(days)
}

/// The date that lies `days` after 0000-03-01, if its year has four digits.
fn civil(days: i64) -> Option<(i64, i64, i64)> {
    let (era, day) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let y = (day - day / 1460 + day / 36524 - day / (ERA - 1)) / 365;
    let day = day - (365 * y + y / 4 - y / 100);
    let m = (5 * day + 2) / 153;
    let day = day - (153 * m + 2) / 5 + 1;
    let (month, year) = if m < 10 {
        (m + 3, era * 400 + y)
    } else {
        (m - 9, era * 400 + y + 1)
    };
    (0..=9999).contains(&year).then_some((year, month, day))
}

fn fraction(rest: &mut &[u8]) -> Option<String> {
    if take(rest, b".").is_none() {
        return Some(String::new());
    }
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, after) = rest.split_at_checked(length).filter(|_| length > 0)?;
    *rest = after;
    let digits = std::str::from_utf8(digits).ok()?.trim_end_matches('0');
    Some(match digits {
        "" => String::new(),
        digits => format!(".{digits}"),
    })
}

/// The offset in minutes east of UTC.
fn offset(rest: &mut &[u8]) -> Option<i64> {
    let sign = take(rest, b"Zz+-")?;
    if let b'Z' | b'z' = sign {
        return Some(0);
    }
    let hours = number(rest, 2, 23)?;
    take(rest, b":")?;
    let minutes = hours * 60 + number(rest, 2, 59)?;
    Some(if sign == b'-' { -minutes } else { minutes })
}

/// The number of exactly `length` digits at the head of `rest`, if it is not above `highest`.
fn number(rest: &mut &[u8], length: usize, highest: i64) -> Option<i64> {
    let (digits, after) = rest.split_at_checked(length)?;
    let mut number = 0;
    for digit in digits {
        number = number * 10 + i64::from(char::from(*digit).to_digit(10)?);
    }
    *rest = after;
    (number <= highest).then_some(number)
}

/// The byte at the head of `rest`, if it is one of `expected`.
fn take(rest: &mut &[u8], expected: &[u8]) -> Option<u8> {
    let (&first, after) = rest.split_first()?;
    *rest = expected.contains(&first).then_some(after)?;
    Some(first)
}

/// 1970-01-01 in days since 0000-03-01.
const UNIX_EPOCH: i64 = 719_468;

/// Minutes of a day.
const DAY: i64 = 24 * 60;

/// Days of the 400 years after which the calendar repeats.
const ERA: i64 = 146_097;
