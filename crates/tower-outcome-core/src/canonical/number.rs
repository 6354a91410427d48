//! Numbers as RFC 8785 section 3.2.2.3 prints them, and which of them are too big to be exact.

/// A number as its source holds it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number<'a> {
    Float(f64),
    Signed(i64),
    /// A token of JSON text, already checked against the grammar.
    Text(&'a str),
    Unsigned(u64),
}

impl Number<'_> {
    /// Appends the ECMAScript form.
    ///
    /// An `exact` writer refuses what a double would round to a neighbour.
    pub(crate) fn write(self, out: &mut Vec<u8>, exact: bool) -> Result<(), &'static str> {
        match self {
            Self::Text(text) if is_short_integer(text) => {
                out.extend_from_slice(text.as_bytes());
                return Ok(());
            }
            Self::Signed(n) if n.unsigned_abs() <= MAX_SAFE => {
                if n < 0 {
                    out.push(b'-');
                }
                write_digits(out, n.unsigned_abs());
                return Ok(());
            }
            Self::Unsigned(n) if n <= MAX_SAFE => {
                write_digits(out, n);
                return Ok(());
            }
            _ => {}
        }
        let double = self.to_f64();
        if !double.is_finite() {
            return Err("a number beyond the range of a double");
        }
        if exact && !self.is_safe() {
            return Err("a number beyond 2^53-1, which is exact only under the rule `id`");
        }
        if write_amount(out, double) {
            return Ok(());
        }
        out.extend_from_slice(ryu_js::Buffer::new().format_finite(double).as_bytes());
        Ok(())
    }

    /// Whether no integer near it shares its double.
    pub(crate) fn is_safe(self) -> bool {
        self.to_f64().abs() <= to_f64(MAX_SAFE)
    }

    /// The nearest double.
    pub(crate) fn to_f64(self) -> f64 {
        match self {
            Self::Float(n) => n,
            #[expect(clippy::cast_precision_loss, reason = "a JSON number is a double")]
            Self::Signed(n) => n as f64,
            Self::Text(text) => text.parse().unwrap_or(f64::NAN),
            Self::Unsigned(n) => to_f64(n),
        }
    }
}

impl From<&serde_json::Number> for Number<'_> {
    fn from(number: &serde_json::Number) -> Self {
        if let Some(n) = number.as_u64() {
            Self::Unsigned(n)
        } else if let Some(n) = number.as_i64() {
            Self::Signed(n)
        } else {
            Self::Float(number.as_f64().unwrap_or(f64::INFINITY))
        }
    }
}

/// Whether the text is an integer that every double keeps and that is spelt canonically.
fn is_short_integer(text: &str) -> bool {
    text.len() <= 15 && text != "-0" && !text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E'))
}

/// Appends a number that has at most three decimals, as amounts have, and says whether it is one.
///
/// No two decimals of up to 15 digits share a double. So the one that it is read from is the
/// shortest, which the ECMAScript form is.
fn write_amount(out: &mut Vec<u8>, double: f64) -> bool {
    let size = double.abs();
    if size >= 1e11 {
        return false;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is positive and far below 2^63"
    )]
    let thousandths = (size * 1e3 + 0.5) as u64;
    // Both are exact, so that their quotient is the double which the decimal is read as.
    if (to_f64(thousandths) / 1e3).to_bits() != size.to_bits() {
        return false;
    }
    if double < 0.0 {
        out.push(b'-');
    }
    write_digits(out, thousandths / 1000);
    let mut decimals = thousandths % 1000;
    let mut unit = 100;
    if decimals > 0 {
        out.push(b'.');
    }
    while decimals > 0 {
        write_digits(out, decimals / unit);
        decimals %= unit;
        unit /= 10;
    }
    true
}

fn write_digits(out: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(n % 10).unwrap_or(0);
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[expect(clippy::cast_precision_loss, reason = "a JSON number is a double")]
fn to_f64(n: u64) -> f64 {
    n as f64
}

/// 2^53 - 1, the last integer before two of them share a double.
const MAX_SAFE: u64 = (1 << 53) - 1;
