//! A reader for tables that knows where it is, so that every complaint names its field.

use toml::{Table, Value};

use crate::profile::ProfileError;

/// A table of which every member has to be taken.
pub(super) struct Fields {
    path: String,
    table: Table,
}

impl Fields {
    pub(super) const fn new(path: String, table: Table) -> Self {
        Self { path, table }
    }

    /// Takes a member, if it is there.
    pub(super) fn take<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(At) -> Result<T, ProfileError>,
    ) -> Result<Option<T>, ProfileError> {
        let value = self.table.remove(name);
        let path = self.path_of(name);
        value.map(|value| read(At { path, value })).transpose()
    }

    /// Takes a member that has to be there.
    pub(super) fn required<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(At) -> Result<T, ProfileError>,
    ) -> Result<T, ProfileError> {
        self.take(name, read)?
            .ok_or_else(|| self.wrong(name, "is missing"))
    }

    /// Complains of what nobody took.
    pub(super) fn finish(self) -> Result<(), ProfileError> {
        match self.table.keys().next() {
            None => Ok(()),
            Some(name) => Err(self.wrong(name, "is no field of a profile here")),
        }
    }

    /// A complaint about a member, or with an empty name about the table itself.
    pub(super) fn wrong(&self, name: &str, reason: impl Into<String>) -> ProfileError {
        ProfileError::new(self.path_of(name), reason)
    }

    fn path_of(&self, name: &str) -> String {
        match (self.path.as_str(), name) {
            ("", name) => name.to_owned(),
            (path, "") => path.to_owned(),
            (path, name) => format!("{path}.{name}"),
        }
    }
}

/// A value, and where it stands.
pub(super) struct At {
    path: String,
    value: Value,
}

impl At {
    pub(super) fn wrong(&self, reason: impl Into<String>) -> ProfileError {
        ProfileError::new(self.path.clone(), reason)
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.value.as_str() == Some(text)
    }

    pub(super) fn str(&self) -> Result<&str, ProfileError> {
        self.value.as_str().ok_or_else(|| self.wrong("is no text"))
    }

    pub(super) fn text(self) -> Result<String, ProfileError> {
        self.str().map(str::to_owned)
    }

    pub(super) fn boxed(self) -> Result<Box<str>, ProfileError> {
        self.str().map(Box::from)
    }

    pub(super) fn flag(&self) -> Result<bool, ProfileError> {
        let flag = self.value.as_bool();
        flag.ok_or_else(|| self.wrong("is neither true nor false"))
    }

    pub(super) fn number(&self) -> Result<u64, ProfileError> {
        let number = self.value.as_integer();
        let number = number.and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| self.wrong("is no whole number from 0"))
    }

    /// A text, a whole number or a boolean, as text.
    pub(super) fn scalar(self) -> Result<Box<str>, ProfileError> {
        match &self.value {
            Value::Boolean(flag) => Ok(flag.to_string().into()),
            Value::Integer(number) => Ok(number.to_string().into()),
            Value::String(text) => Ok(text.as_str().into()),
            _ => Err(self.wrong("is neither a text nor a whole number nor a boolean")),
        }
    }

    /// One of `words`.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, ProfileError> {
        let text = self.str()?;
        let word = words.iter().find(|(word, _)| *word == text);
        word.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.wrong(format!("{text:?} is none of {}", words.join(", ")))
        })
    }

    pub(super) fn table(self) -> Result<Fields, ProfileError> {
        match self.value {
            Value::Table(table) => Ok(Fields::new(self.path, table)),
            _ => Err(self.wrong("is no table")),
        }
    }

    pub(super) fn list<T>(
        self,
        read: impl Fn(Self) -> Result<T, ProfileError>,
    ) -> Result<Vec<T>, ProfileError> {
        let Value::Array(items) = self.value else {
            return Err(self.wrong("is no list"));
        };
        let items = (1..).zip(items).map(|(number, value)| {
            let path = format!("{}[{number}]", self.path);
            read(Self { path, value })
        });
        items.collect()
    }

    /// One, or a list of at least one.
    pub(super) fn some<T>(
        self,
        read: impl Fn(Self) -> Result<T, ProfileError>,
    ) -> Result<Vec<T>, ProfileError> {
        if !self.value.is_array() {
            return Ok(vec![read(self)?]);
        }
        let path = self.path.clone();
        let items = self.list(read)?;
        if items.is_empty() {
            return Err(ProfileError::new(path, "is an empty list"));
        }
        Ok(items)
    }
}
