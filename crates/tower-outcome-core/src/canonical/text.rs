//! Reads JSON text (RFC 8259) strictly and hands it on, piece by piece.
//!
//! A reader of its own, because a parsed value no longer shows what a key must not overlook:
//! a member that stood twice, and the digits that did not fit a double.

use super::Number;
use super::writer::Writer;
use crate::Error;

/// Writes the one value that `text` holds.
pub(crate) fn read(text: &str, writer: &mut Writer<'_>) -> Result<(), Error> {
    let mut reader = Reader {
        text,
        at: 0,
        decoded: writer.take_decoded(),
    };
    reader.value(writer)?;
    reader.space();
    if reader.peek().is_some() {
        return Err(reader.refuse("more text after the value"));
    }
    writer.keep_decoded(reader.decoded);
    Ok(())
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The last string that had escapes.
    decoded: String,
}

impl Reader<'_> {
    fn value(&mut self, writer: &mut Writer<'_>) -> Result<(), Error> {
        self.space();
        match self.peek() {
            Some(b'{') => self.object(writer),
            Some(b'[') => self.array(writer),
            Some(b'"') => {
                let text = self.string()?;
                writer.string(text)
            }
            Some(b'-' | b'0'..=b'9') => {
                let number = self.number()?;
                writer.number(Number::Text(number))
            }
            Some(b't') => self.word("true").and_then(|()| writer.boolean(true)),
            Some(b'f') => self.word("false").and_then(|()| writer.boolean(false)),
            Some(b'n') => self.word("null").and_then(|()| writer.null()),
            _ => Err(self.refuse("no value")),
        }
    }

    fn object(&mut self, writer: &mut Writer<'_>) -> Result<(), Error> {
        self.at += 1;
        writer.begin_object()?;
        self.space();
        if !self.eat(b'}') {
            loop {
                self.space();
                let name = self.string()?;
                writer.key(name);
                self.space();
                if !self.eat(b':') {
                    return Err(self.refuse("no colon after a name"));
                }
                self.value(writer)?;
                self.space();
                if self.eat(b'}') {
                    break;
                }
                if !self.eat(b',') {
                    return Err(self.refuse("neither a comma nor the end of an object"));
                }
            }
        }
        writer.end_object()
    }

    fn array(&mut self, writer: &mut Writer<'_>) -> Result<(), Error> {
        self.at += 1;
        writer.begin_array()?;
        self.space();
        if !self.eat(b']') {
            loop {
                self.value(writer)?;
                self.space();
                if self.eat(b']') {
                    break;
                }
                if !self.eat(b',') {
                    return Err(self.refuse("neither a comma nor the end of an array"));
                }
            }
        }
        writer.end_array();
        Ok(())
    }

    fn string(&mut self) -> Result<&str, Error> {
        if !self.eat(b'"') {
            return Err(self.refuse("no string"));
        }
        let start = self.at;
        self.skip_plain();
        if self.eat(b'"') {
            return Ok(&self.text[start..self.at - 1]);
        }
        self.decoded.clear();
        self.decoded.push_str(&self.text[start..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(&self.decoded);
                }
                Some(b'\\') => {
                    self.at += 1;
                    let letter = self.escape()?;
                    self.decoded.push(letter);
                }
                Some(_) => return Err(self.refuse("a control character in a string")),
                None => return Err(self.refuse("a string without an end")),
            }
            let start = self.at;
            self.skip_plain();
            self.decoded.push_str(&self.text[start..self.at]);
        }
    }

    /// Goes to the next character that a string cannot hold as it is.
    fn skip_plain(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        let next = rest
            .iter()
            .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
        self.at += next.unwrap_or(rest.len());
    }

    fn escape(&mut self) -> Result<char, Error> {
        let escape = self.peek();
        self.at += 1;
        Ok(match escape {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(),
            _ => return Err(self.refuse("an escape that JSON does not have")),
        })
    }

    fn code_point(&mut self) -> Result<char, Error> {
        let mut code = u32::from(self.code_unit()?);
        if let 0xd800..0xdc00 = code
            && self.eat(b'\\')
            && self.eat(b'u')
        {
            let low = u32::from(self.code_unit()?);
            if let 0xdc00..0xe000 = low {
                code = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        // What is left of the surrogates here is alone, and no character.
        char::from_u32(code).ok_or_else(|| self.refuse("half of a surrogate pair"))
    }

    fn code_unit(&mut self) -> Result<u16, Error> {
        let digits = self.text.get(self.at..self.at + 4);
        match digits {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                self.at += 4;
                u16::from_str_radix(digits, 16).map_err(|_| self.refuse("no hex digits"))
            }
            _ => Err(self.refuse("fewer than four hex digits")),
        }
    }

    fn number(&mut self) -> Result<&str, Error> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _signed = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    fn digits(&mut self) -> Result<(), Error> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.refuse("a number without a digit where one is due"));
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), Error> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.refuse("no value"));
        }
        self.at += word.len();
        Ok(())
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn refuse(&self, what: &str) -> Error {
        Error::invalid("", format!("is no JSON: {what}, at byte {}", self.at))
    }
}
