//! How one value is read before it counts: spellings of the same value become one.
//!
//! A rule never guesses. Where two readings are possible (`"20,00"`, `"01/03/2026"`, a time
//! without an offset) the arguments are refused before anything is sent. A null passes every rule
//! as it is, unless [`default`] or [`null_is_absent`] says otherwise.
//!
//! What no rule does: convert major to minor units or one currency to another, fold the case of
//! letters outside ASCII, or take letters that look alike for the same. A miss costs a second key,
//! which a `matches` field or the provider may still catch; a false match reports an action that
//! never happened.
//!
//! ```
//! use serde_json::json;
//! use tower_outcome_core::IntentRules;
//! use tower_outcome_core::rule::{decimal, id};
//!
//! let refund = IntentRules::new("refund")
//!     .key("/order", id().trim())
//!     .key("/amount", decimal(2));
//! let one = refund.intent("acme", &json!({ "order": 1001, "amount": 20 }))?;
//! let two = refund.intent("acme", &json!({ "order": "1001 ", "amount": "20.00" }))?;
//! assert_eq!(one.key(), two.key());
//! # Ok::<(), tower_outcome_core::Error>(())
//! ```

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use super::plan::Order;
use super::{digits, time};
use crate::canonical::Number;

/// What is done to a value, step by step, before it counts.
///
/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct ValueRule {
    steps: Vec<Step>,
    order: Option<Order>,
    default: Option<Value>,
    empty_is_absent: bool,
    null_is_absent: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    Date,
    Decimal(u8),
    Id,
    Instant,
    Int,
    Lower,
    Nfc,
    Squash,
    Trim,
    Upper,
}

/// Writes each rule twice: to begin a chain with, and to go on with.
macro_rules! rules {
    ($($(#[$meta:meta])* $name:ident($self:ident $(, $argument:ident: $type:ty)?) $body:block)*) => {
        impl ValueRule {
            $($(#[$meta])*
            #[must_use]
            pub fn $name(mut $self $(, $argument: $type)?) -> Self {
                $body
                $self
            })*
        }

        $($(#[$meta])*
        #[must_use]
        pub fn $name($($argument: $type)?) -> ValueRule {
            exact().$name($($argument)?)
        })*
    };
}

rules! {
    /// An array in which order does not count, but every repetition does: two equal order lines
    /// are two.
    bag(self) { self.order = Some(Order::Bag); }

    /// A calendar date, `2026-03-01`. Refuses any other spelling, and a time with it.
    date(self) { self.steps.push(Step::Date); }

    /// An amount with up to `places` decimal places, given as a number or a string: `20`, `20.0`,
    /// `"20.00"` and `2e1` are one.
    ///
    /// Refuses more decimal places, a comma, a currency sign, and a number with more digits than
    /// its source kept (a string keeps 64).
    decimal(self, places: u8) { self.steps.push(Step::Decimal(places)); }

    /// Stands for an absent member or a null. Wrong for an amount, where absent mostly means all.
    default(self, value: impl Into<Value>) { self.default = Some(value.into()); }

    /// An empty string, array or object counts as if the member were absent.
    empty_is_absent(self) { self.empty_is_absent = true; }

    /// An identifier: `1001` and `"1001"` are one. The only rule under which an integer beyond
    /// 2^53-1 counts, by its digits. Refuses what is neither a string nor an integer.
    id(self) { self.steps.push(Step::Id); }

    /// A point in time with its offset (RFC 3339): the same instant in another zone is the same.
    ///
    /// Refuses a time without an offset, a date alone, and any other spelling.
    instant(self) { self.steps.push(Step::Instant); }

    /// A whole number, such as an amount in minor units: `2000` and `2000.0` are one.
    int(self) { self.steps.push(Step::Int); }

    /// Text in which the case of ASCII letters does not count.
    lower(self) { self.steps.push(Step::Lower); }

    /// Text in Unicode's composed form NFC: `e` and a combining accent is the letter with it.
    nfc(self) { self.steps.push(Step::Nfc); }

    /// A null counts as if the member were absent.
    null_is_absent(self) { self.null_is_absent = true; }

    /// An array in which neither order nor repetition counts.
    set(self) { self.order = Some(Order::Set); }

    /// Text as [`trim`] reads it, in which any run of white space is one space.
    squash(self) { self.steps.push(Step::Squash); }

    /// Text without white space at its ends, the no-break space included.
    trim(self) { self.steps.push(Step::Trim); }

    /// Text in which the case of ASCII letters does not count, for codes such as currencies.
    upper(self) { self.steps.push(Step::Upper); }
}

/// Counts as it is, spelling included.
#[must_use]
pub fn exact() -> ValueRule {
    ValueRule {
        steps: Vec::new(),
        order: None,
        default: None,
        empty_is_absent: false,
        null_is_absent: false,
    }
}

impl ValueRule {
    /// Reads a value that is neither null nor a container; the error says what was refused.
    pub(crate) fn apply<'v>(&self, scalar: Scalar<'v>) -> Result<Scalar<'v>, String> {
        self.steps.iter().try_fold(scalar, |scalar, step| {
            let kind = scalar.kind();
            let read = step.apply(scalar);
            read.map_err(|why| format!("the rule {step} refuses {kind} that {why}"))
        })
    }

    /// The name of the first step that takes no array and no object.
    pub(crate) fn scalars_only(&self) -> Option<String> {
        let taken = |step: &&Step| {
            matches!(
                step,
                Step::Date | Step::Decimal(_) | Step::Id | Step::Instant | Step::Int
            )
        };
        self.steps.iter().find(taken).map(Step::to_string)
    }

    pub(crate) fn order(&self) -> Option<Order> {
        self.order
    }

    /// What stands for an absent member; a null stands for nothing.
    pub(crate) fn default_value(&self) -> Option<&Value> {
        self.default.as_ref().filter(|value| !value.is_null())
    }

    pub(crate) fn empty_counts_as_absent(&self) -> bool {
        self.empty_is_absent
    }

    pub(crate) fn null_counts_as_absent(&self) -> bool {
        self.null_is_absent
    }
}

/// A value that is neither null nor a container.
#[derive(Debug)]
pub(crate) enum Scalar<'v> {
    Boolean(bool),
    Number(Number<'v>),
    Text(Cow<'v, str>),
    /// A decimal number that need not fit a double.
    Decimal(String),
}

impl Scalar<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Boolean(_) => "a boolean",
            Self::Number(_) | Self::Decimal(_) => "a number",
            Self::Text(_) => "a string",
        }
    }
}

impl Step {
    fn apply(self, scalar: Scalar<'_>) -> Result<Scalar<'_>, &'static str> {
        match scalar {
            Scalar::Boolean(_) => match self {
                Self::Date | Self::Instant => Err(NO_TEXT),
                Self::Decimal(_) | Self::Id | Self::Int => Err("is no number"),
                Self::Lower | Self::Nfc | Self::Squash | Self::Trim | Self::Upper => Ok(scalar),
            },
            Scalar::Number(number) => match self {
                Self::Date | Self::Instant => Err(NO_TEXT),
                Self::Decimal(places) => digits::scale(number, places).map(Scalar::Decimal),
                Self::Id => digits::identify(number).map(|id| Scalar::Text(id.into())),
                Self::Int => digits::scale(number, 0).map(Scalar::Decimal),
                Self::Lower | Self::Nfc | Self::Squash | Self::Trim | Self::Upper => Ok(scalar),
            },
            Scalar::Text(text) => self.read(text),
            Scalar::Decimal(_) => Ok(scalar),
        }
    }

    fn read(self, text: Cow<'_, str>) -> Result<Scalar<'_>, &'static str> {
        Ok(Scalar::Text(match self {
            Self::Date => time::date(&text)?.into(),
            Self::Decimal(places) => {
                return digits::parse(text.trim(), places).map(Scalar::Decimal);
            }
            Self::Id => text,
            Self::Instant => time::instant(&text)?.into(),
            Self::Int => return digits::parse(text.trim(), 0).map(Scalar::Decimal),
            Self::Lower => text.to_ascii_lowercase().into(),
            Self::Nfc => text.nfc().collect::<String>().into(),
            Self::Squash => text.split_whitespace().collect::<Vec<_>>().join(" ").into(),
            Self::Trim => match text {
                Cow::Borrowed(text) => text.trim().into(),
                Cow::Owned(text) => text.trim().to_owned().into(),
            },
            Self::Upper => text.to_ascii_uppercase().into(),
        }))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Date => "date",
            Self::Decimal(places) => return write!(f, "decimal({places})"),
            Self::Id => "id",
            Self::Instant => "instant",
            Self::Int => "int",
            Self::Lower => "lower",
            Self::Nfc => "nfc",
            Self::Squash => "squash",
            Self::Trim => "trim",
            Self::Upper => "upper",
        })
    }
}

const NO_TEXT: &str = "is no text";
