//! A model's arguments as a value of a type, or where and why they are none.
//!
//! What is wrong is told by its JSON pointer and its kind, never by its value. What a type says in
//! an error of its own is left out as well: it may hold the value.

use std::fmt;

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, Expected, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::map::Iter as Members;
use serde_json::{Map, Number, Value};
use tower_outcome_core::Error;

/// Reads `arguments` as an `A`.
pub(super) fn decode<A: DeserializeOwned>(arguments: &Value) -> Result<A, Error> {
    A::deserialize(Typed(arguments)).map_err(|refused| match &*refused.pointer {
        "" => Error::invalid("arguments", refused.reason),
        pointer => Error::invalid(pointer, refused.reason),
    })
}

/// What is wrong with a value, and where it stands.
#[derive(Debug)]
struct Refused {
    pointer: String,
    reason: String,
}

impl Refused {
    fn new(reason: impl Into<String>) -> Self {
        Self {
            pointer: String::new(),
            reason: reason.into(),
        }
    }

    /// The same, seen from what `step` leads out of.
    fn under(mut self, step: &str) -> Self {
        let step = step.replace('~', "~0").replace('/', "~1");
        self.pointer.insert_str(0, &format!("/{step}"));
        self
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.reason)
    }
}

impl std::error::Error for Refused {}

impl serde::de::Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::new("is not what the tool takes there")
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let kind = match unexpected {
            Unexpected::Bool(_) => "a boolean",
            Unexpected::Float(_) => "a number with a fraction",
            Unexpected::Map => "an object",
            Unexpected::Seq => "an array",
            Unexpected::Signed(_) | Unexpected::Unsigned(_) => "a whole number",
            Unexpected::Str(_) => "a string",
            Unexpected::Unit | Unexpected::Option => "null",
            _ => "another kind of value",
        };
        Self::new(format!("is {kind} where {expected} is expected"))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!("is out of range where {expected} is expected"))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::new(format!("has length {length} where {expected} is expected"))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("is none of {}", expected.join(", ")))
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        Self::new("is not known").under(field)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new("is missing").under(field)
    }
}

struct Typed<'de>(&'de Value);

impl<'de> Deserializer<'de> for Typed<'de> {
    type Error = Refused;

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.0 {
            Value::Array(items) => visit_items(items, visitor),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Null => visitor.visit_unit(),
            Value::Number(number) => visit_number(number, visitor),
            Value::Object(members) => visitor.visit_map(Object::new(members)),
            Value::String(text) => visitor.visit_borrowed_str(text),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        match self.0 {
            Value::Object(members) if members.len() == 1 => {
                visitor.visit_enum(MapAccessDeserializer::new(Object::new(members)))
            }
            Value::String(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
            _ => Err(Refused::new(
                "is neither a name nor an object of one member",
            )),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }
}

fn visit_number<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Result<V::Value, Refused> {
    if let Some(number) = number.as_u64() {
        return visitor.visit_u64(number);
    }
    if let Some(number) = number.as_i64() {
        return visitor.visit_i64(number);
    }
    match number.as_f64() {
        Some(number) => visitor.visit_f64(number),
        None => Err(Refused::new("is a number that is too long")),
    }
}

fn visit_items<'de, V: Visitor<'de>>(items: &'de [Value], visitor: V) -> Result<V::Value, Refused> {
    let mut array = Array { items, next: 0 };
    let value = visitor.visit_seq(&mut array)?;
    if array.next < items.len() {
        return Err(Refused::invalid_length(items.len(), &"a shorter array"));
    }
    Ok(value)
}

struct Array<'de> {
    items: &'de [Value],
    next: usize,
}

impl<'de> SeqAccess<'de> for &mut Array<'de> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Refused> {
        let at = self.next;
        let Some(item) = self.items.get(at) else {
            return Ok(None);
        };
        self.next += 1;
        let value = seed.deserialize(Typed(item));
        value
            .map(Some)
            .map_err(|refused| refused.under(&at.to_string()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.next)
    }
}

struct Object<'de> {
    members: Members<'de>,
    value: Option<(&'de str, &'de Value)>,
}

impl<'de> Object<'de> {
    fn new(members: &'de Map<String, Value>) -> Self {
        Self {
            members: members.iter(),
            value: None,
        }
    }
}

impl<'de> MapAccess<'de> for Object<'de> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refused> {
        let Some((name, value)) = self.members.next() else {
            return Ok(None);
        };
        self.value = Some((name, value));
        seed.deserialize(Name(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Refused> {
        let Some((name, value)) = self.value.take() else {
            return Err(Refused::custom("a value was asked for before its name"));
        };
        let value = seed.deserialize(Typed(value));
        value.map_err(|refused| refused.under(name))
    }
}

/// The name of a member, which stands for a number where the type's names are numbers.
struct Name<'de>(&'de str);

macro_rules! numbers {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
            match self.0.parse() {
                Ok(number) => visitor.$visit(number),
                Err(_) => visitor.visit_borrowed_str(self.0),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Name<'de> {
    type Error = Refused;

    numbers! {
        deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32
        deserialize_i64 visit_i64 deserialize_i128 visit_i128
        deserialize_u8 visit_u8 deserialize_u16 visit_u16 deserialize_u32 visit_u32
        deserialize_u64 visit_u64 deserialize_u128 visit_u128
    }

    forward_to_deserialize_any! {
        bool f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct identifier ignored_any
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.0))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_some(self)
    }
}
