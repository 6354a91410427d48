//! Decimal numbers with a fixed count of decimal places, exactly or not at all.

use crate::canonical::Number;

/// `text` with exactly so many decimal places: `"20.5"` with two is `20.50`.
pub(crate) fn parse(text: &str, places: u8) -> Result<String, &'static str> {
    units(text, places).map(|units| point(units, places))
}

/// A JSON number with exactly so many decimal places.
pub(crate) fn scale(number: Number<'_>, places: u8) -> Result<String, &'static str> {
    if !number.is_safe() {
        return Err("lies beyond 2^53-1 and may have been rounded");
    }
    let units = number_units(number, places)?;
    // A double stands for one number of so many places only while their distance is wider than
    // that of two doubles, which holds below 2^52 units.
    let exact = |units: &str| units.parse().is_ok_and(|units: i64| units.abs() < 1 << 52);
    match number {
        Number::Float(_) if !exact(&units) => Err("has more digits than a double keeps"),
        _ => Ok(point(units, places)),
    }
}

/// The digits of a JSON number that identifies something.
pub(crate) fn identify(number: Number<'_>) -> Result<String, &'static str> {
    match number {
        Number::Float(_) if !number.is_safe() => Err("lies beyond 2^53-1 and was rounded"),
        _ => number_units(number, 0),
    }
}

fn number_units(number: Number<'_>, places: u8) -> Result<String, &'static str> {
    match number {
        Number::Float(n) => units(ryu_js::Buffer::new().format(n), places),
        Number::Signed(n) => units(&n.to_string(), places),
        Number::Text(text) => units(text, places),
        Number::Unsigned(n) => units(&n.to_string(), places),
    }
}

/// The whole number of units of `10^-places` that `text` comes to.
fn units(text: &str, places: u8) -> Result<String, &'static str> {
    let (negative, number) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("is no plain decimal number");
    }
    let exponent: i16 = exponent.parse().map_err(|_| "is no plain decimal number")?;
    let mut digits = digits.trim_start_matches('0').to_owned();
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

/// Puts the decimal point into a number of units.
fn point(units: String, places: u8) -> String {
    let places = usize::from(places);
    if places == 0 {
        return units;
    }
    let (sign, digits) = match units.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", units.as_str()),
    };
    let width = places + 1;
    let digits = format!("{digits:0>width$}");
    let (whole, fraction) = digits.split_at(digits.len() - places);
    format!("{sign}{whole}.{fraction}")
}

/// The most digits that a number may have.
const LONGEST: usize = 64;
