//! Rules and tests as files spell them.

use std::ops::RangeInclusive;

use super::fields::{At, Fields};
use super::header_name;
use crate::profile::rule::{BodyTest, HeaderTest, Meaning, Rule, Test};
use crate::profile::{Pattern, ProfileError};

pub(super) fn rule(at: At) -> Result<Rule, ProfileError> {
    let mut fields = at.table()?;
    let rule = Rule {
        means: fields.required("means", |at| meaning(&at))?,
        status: fields
            .take("status", |at| at.some(|at| status(&at)))?
            .unwrap_or_default(),
        keyed: fields.take("keyed", |at| at.flag())?,
        headers: fields
            .take("header", |at| at.list(header))?
            .unwrap_or_default(),
        body: fields.take("body", |at| at.list(body))?.unwrap_or_default(),
        text: fields
            .take("text", |at| at.some(At::boxed))?
            .unwrap_or_default(),
        settles: fields.take("settles", |at| at.flag())?.unwrap_or(false),
        resend: fields.take("resend", |at| at.flag())?,
        found: fields.take("found", |at| pattern(&at))?,
    };
    let asks_nothing = rule.status.is_empty()
        && rule.headers.is_empty()
        && rule.body.is_empty()
        && rule.text.is_empty();
    if asks_nothing {
        return Err(fields.wrong("", "matches every answer; say which"));
    }
    fields.finish()?;
    Ok(rule)
}

pub(super) fn header(at: At) -> Result<HeaderTest, ProfileError> {
    let mut fields = at.table()?;
    let test = HeaderTest {
        name: fields.required("name", |at| header_name(&at))?,
        is: fields
            .take("is", |at| at.some(At::scalar))?
            .unwrap_or_default(),
    };
    fields.finish()?;
    Ok(test)
}

pub(super) fn body(at: At) -> Result<BodyTest, ProfileError> {
    let mut fields = at.table()?;
    let at = fields.required("at", |at| pattern(&at))?;
    let tests = [
        fields.take("is", |at| at.some(At::scalar))?.map(Test::Is),
        fields
            .take("ends", |at| at.some(At::boxed))?
            .map(Test::Ends),
        sign(&mut fields, "empty", Test::Empty)?,
        sign(&mut fields, "filled", Test::Filled)?,
        sign(&mut fields, "names_route", Test::NamesRoute)?,
    ];
    let mut tests = tests.into_iter().flatten();
    let (Some(test), None) = (tests.next(), tests.next()) else {
        let words = "needs exactly one of is, ends, empty, filled, names_route";
        return Err(fields.wrong("", words));
    };
    fields.finish()?;
    Ok(BodyTest { at, test })
}

/// A test that takes no value but true.
fn sign(fields: &mut Fields, name: &str, test: Test) -> Result<Option<Test>, ProfileError> {
    fields.take(name, |at| {
        if at.flag()? {
            Ok(test)
        } else {
            Err(at.wrong("can only be true"))
        }
    })
}

fn meaning(at: &At) -> Result<Meaning, ProfileError> {
    let text = at.str()?;
    text.parse().map_err(|()| {
        let words: Vec<&str> = Meaning::ALL
            .iter()
            .map(|meaning| meaning.as_str())
            .collect();
        at.wrong(format!("{text:?} is none of {}", words.join(", ")))
    })
}

fn pattern(at: &At) -> Result<Pattern, ProfileError> {
    let pattern = Pattern::parse(at.str()?);
    pattern.ok_or_else(|| at.wrong("is no JSON pointer: it has to begin with a slash"))
}

/// One status, or a class such as `5xx`.
fn status(at: &At) -> Result<RangeInclusive<u16>, ProfileError> {
    let classes = [1, 2, 3, 4, 5];
    if let Some(class) = classes
        .into_iter()
        .find(|class| at.is(&format!("{class}xx")))
    {
        return Ok(class * 100..=class * 100 + 99);
    }
    let status = at
        .number()
        .ok()
        .and_then(|status| u16::try_from(status).ok());
    let status = status.filter(|status| (100..600).contains(status));
    let status =
        status.ok_or_else(|| at.wrong("is neither a status nor a class such as \"5xx\""))?;
    Ok(status..=status)
}
