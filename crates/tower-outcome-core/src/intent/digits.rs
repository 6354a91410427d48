//! Decimal numbers as whole numbers of their smallest unit, exactly or not at all.

use crate::canonical::Number;

/// The digits of `text` in units of `10^-places`: `"20.5"` with two places is `2050`.
pub(crate) fn parse(text: &str, places: u8) -> Result<String, &'static str> {
    let (negative, number) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("is no plain decimal number");
    }
    let exponent: i16 = exponent.parse().map_err(|_| "is no plain decimal number")?;
    digits.drain(..digits.len() - digits.trim_start_matches('0').len());
    if digits.is_empty() {
        return Ok("0".to_owned());
    }
    let fraction = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let mut shift = i64::from(exponent) + i64::from(places) - fraction;
    while shift < 0 {
        if digits.pop() != Some('0') {
            return Err("has more decimal places");
        }
        shift += 1;
    }
    match usize::try_from(shift) {
        Ok(zeros) if digits.len() + zeros <= LONGEST => digits.push_str(&"0".repeat(zeros)),
        _ => return Err("has too many digits"),
    }
    if negative {
        digits.insert(0, '-');
    }
    Ok(digits)
}

/// The digits of a JSON number in units of `10^-places`.
pub(crate) fn scale(number: Number<'_>, places: u8) -> Result<String, &'static str> {
    if !number.is_safe() {
        return Err("lies beyond 2^53-1 and may have been rounded");
    }
    let digits = parse_number(number, places)?;
    // A double stands for one number of so many places only while their distance is wider than
    // that of two doubles, which holds below 2^52 units.
    let exact = |digits: &str| digits.parse().is_ok_and(|units: i64| units.abs() < 1 << 52);
    match number {
        Number::Float(_) if !exact(&digits) => Err("has more digits than a double keeps"),
        _ => Ok(digits),
    }
}

/// The digits of a JSON number that identifies something.
pub(crate) fn identify(number: Number<'_>) -> Result<String, &'static str> {
    match number {
        Number::Float(_) if !number.is_safe() => Err("lies beyond 2^53-1 and was rounded"),
        _ => parse_number(number, 0),
    }
}

fn parse_number(number: Number<'_>, places: u8) -> Result<String, &'static str> {
    match number {
        Number::Float(n) => parse(ryu_js::Buffer::new().format(n), places),
        Number::Signed(n) => parse(&n.to_string(), places),
        Number::Text(text) => parse(text, places),
        Number::Unsigned(n) => parse(&n.to_string(), places),
    }
}

/// The most digits that a number may have.
const LONGEST: usize = 64;
