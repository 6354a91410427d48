//! The `Idempotency-Key` header as a structured field: an Item that is a String (RFC 9651).
//!
//! ```
//! use tower_outcome_core::key::sf;
//!
//! assert_eq!(sf::idempotency_key(["\"8e03978e\";v=1"])?, "8e03978e");
//! assert!(sf::idempotency_key(["8e03978e"]).is_err(), "not quoted");
//! # Ok::<(), tower_outcome_core::Error>(())
//! ```

use crate::Error;

/// What an Item holds. Only the kind of what is no key.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Item {
    /// A byte sequence, `:aGk=:`.
    Binary,
    /// `?0` or `?1`.
    Boolean,
    /// `@1659578233`.
    Date,
    /// `4.5`.
    Decimal,
    /// `%"f%c3%bc"`.
    DisplayString,
    /// `42`, of 15 digits at most.
    Integer,
    /// `"text"`, with its quotes and escapes taken off.
    String(String),
    /// A bare word.
    Token,
}

/// The key in the lines of an `Idempotency-Key` field. Parameters are dropped.
///
/// # Errors
///
/// Refuses an absent field, more than one, what is no Item, an Item of another kind than String,
/// and a blank key.
pub fn idempotency_key<L: AsRef<[u8]>>(
    lines: impl IntoIterator<Item = L>,
) -> Result<String, Error> {
    match item(lines)? {
        Item::String(key) if key.trim().is_empty() => Err(refuse("is blank")),
        Item::String(key) => Ok(key),
        _ => Err(refuse("is not quoted: it is no String")),
    }
}

/// The Item in the lines of a field (RFC 9651 section 4.2).
///
/// # Errors
///
/// Refuses what is no Item.
pub fn item<L: AsRef<[u8]>>(lines: impl IntoIterator<Item = L>) -> Result<Item, Error> {
    let mut lines = lines.into_iter();
    let line = lines.next().ok_or_else(|| refuse("is absent"))?;
    if lines.next().is_some() {
        // Joined by a comma, as they have to be, two lines are no Item, unless the comma falls
        // into a String, which no sender can mean.
        return Err(refuse("stands more than once"));
    }
    let mut reader = Reader {
        rest: line.as_ref(),
    };
    reader.spaces();
    let item = reader.item();
    reader.spaces();
    item.filter(|_| reader.rest.is_empty())
        .ok_or_else(|| refuse("is no structured field"))
}

/// Writes a String (RFC 9651 section 4.1.6).
///
/// # Errors
///
/// Refuses characters that a String cannot hold: all but the space and visible ASCII.
pub fn string(text: &str) -> Result<String, Error> {
    if !text.bytes().all(|byte| matches!(byte, 0x20..=0x7e)) {
        return Err(refuse("holds characters other than printable ASCII"));
    }
    Ok(quote(text))
}

/// Puts printable ASCII into quotes.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        if let '"' | '\\' = letter {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted.push('"');
    quoted
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn item(&mut self) -> Option<Item> {
        let item = self.bare_item()?;
        while self.eat(b";").is_some() {
            self.spaces();
            self.eat_if(|byte| byte == b'*' || byte.is_ascii_lowercase())?;
            self.run(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*'));
            if self.eat(b"=").is_some() {
                self.bare_item()?;
            }
        }
        Some(item)
    }

    fn bare_item(&mut self) -> Option<Item> {
        match self.rest.first()? {
            b'-' | b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            b'*' | b'A'..=b'Z' | b'a'..=b'z' => {
                self.run(is_token);
                Some(Item::Token)
            }
            b':' => self.binary(),
            b'?' => {
                self.eat(b"?")?;
                self.eat(b"01")?;
                Some(Item::Boolean)
            }
            b'@' => {
                self.eat(b"@")?;
                match self.number()? {
                    Item::Integer => Some(Item::Date),
                    _ => None,
                }
            }
            b'%' => self.display_string(),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<Item> {
        let _negative = self.eat(b"-");
        let whole = self.run(|byte| byte.is_ascii_digit()).len();
        if whole == 0 {
            return None;
        }
        if self.eat(b".").is_none() {
            return (whole <= 15).then_some(Item::Integer);
        }
        let fraction = self.run(|byte| byte.is_ascii_digit()).len();
        (whole <= 12 && (1..=3).contains(&fraction)).then_some(Item::Decimal)
    }

    fn string(&mut self) -> Option<Item> {
        self.eat(b"\"")?;
        let mut text = String::new();
        loop {
            let byte = self.eat_if(|byte| matches!(byte, 0x20..=0x7e))?;
            text.push(char::from(match byte {
                b'"' => return Some(Item::String(text)),
                b'\\' => self.eat(b"\"\\")?,
                byte => byte,
            }));
        }
    }

    fn binary(&mut self) -> Option<Item> {
        self.eat(b":")?;
        let digits = self
            .run(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
            .len();
        self.run(|byte| byte == b'=');
        self.eat(b":")?;
        // One digit of base64 alone holds no byte; missing padding may be forgiven.
        (digits % 4 != 1).then_some(Item::Binary)
    }

    fn display_string(&mut self) -> Option<Item> {
        self.eat(b"%")?;
        self.eat(b"\"")?;
        let mut bytes = Vec::new();
        loop {
            let byte = self.eat_if(|byte| matches!(byte, 0x20..=0x7e))?;
            bytes.push(match byte {
                b'"' => break,
                b'%' => self.hex_digit()? << 4 | self.hex_digit()?,
                byte => byte,
            });
        }
        std::str::from_utf8(&bytes).ok()?;
        Some(Item::DisplayString)
    }

    fn hex_digit(&mut self) -> Option<u8> {
        let digit = self.eat_if(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))?;
        let digit = char::from(digit).to_digit(16)?;
        u8::try_from(digit).ok()
    }

    fn spaces(&mut self) {
        self.run(|byte| byte == b' ');
    }

    /// Takes the bytes at the head that pass.
    fn run(&mut self, passes: impl Fn(u8) -> bool) -> &[u8] {
        let length = self.rest.iter().take_while(|&&byte| passes(byte)).count();
        let (run, rest) = self.rest.split_at(length);
        self.rest = rest;
        run
    }

    fn eat(&mut self, expected: &[u8]) -> Option<u8> {
        self.eat_if(|byte| expected.contains(&byte))
    }

    /// Takes the byte at the head if it passes.
    fn eat_if(&mut self, passes: impl Fn(u8) -> bool) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        if !passes(first) {
            return None;
        }
        self.rest = rest;
        Some(first)
    }
}

/// A character of a Token: `tchar` of RFC 9110, a colon or a slash.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte)
}

fn refuse(reason: &str) -> Error {
    Error::invalid("idempotency-key", reason)
}
