//! Where to look in an answer: JSON pointers with wildcards.

use serde_json::Value;

/// A JSON pointer (RFC 6901) whose token `*` stands for any one member or element, and `**` for
/// any number of them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Pattern(Vec<Token>);

#[derive(Clone, Debug, Eq, PartialEq)]
enum Token {
    Any,
    AnyDepth,
    Named(Box<str>),
}

impl Pattern {
    /// `None` where the text is no pointer. The empty pointer is the whole body.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self(Vec::new()));
        }
        let tokens = text.strip_prefix('/')?.split('/').map(|token| match token {
            "*" => Token::Any,
            "**" => Token::AnyDepth,
            _ => Token::Named(token.replace("~1", "/").replace("~0", "~").into()),
        });
        Some(Self(tokens.collect()))
    }

    /// The values that the pattern points at, in the order in which they stand.
    pub(crate) fn find<'a>(&self, root: &'a Value) -> Vec<&'a Value> {
        let mut found = Vec::new();
        walk(&self.0, root, &mut found);
        found
    }
}

fn walk<'a>(tokens: &[Token], value: &'a Value, found: &mut Vec<&'a Value>) {
    let Some((first, rest)) = tokens.split_first() else {
        found.push(value);
        return;
    };
    match first {
        Token::Any => {
            for child in children(value) {
                walk(rest, child, found);
            }
        }
        Token::AnyDepth => {
            walk(rest, value, found);
            for child in children(value) {
                walk(tokens, child, found);
            }
        }
        Token::Named(name) => {
            let child = match value {
                Value::Array(items) => name.parse().ok().and_then(|at: usize| items.get(at)),
                Value::Object(members) => members.get(&**name),
                _ => None,
            };
            if let Some(child) = child {
                walk(rest, child, found);
            }
        }
    }
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Whether `kind` is the singular of `collection`, as `order` is of `orders`.
pub(crate) fn names_one_of(collection: &str, kind: &str) -> bool {
    let plural = collection.strip_prefix(kind);
    let of_y = kind
        .strip_suffix('y')
        .and_then(|stem| collection.strip_prefix(stem));
    matches!(plural, Some("" | "s" | "es")) || of_y == Some("ies")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pattern_finds_members_at_one_or_any_depth() {
        let body = json!({ "errors": { "a": { "errors": [{ "code": "1" }, { "code": "2" }] } } });
        let found = |text| Pattern::parse(text).unwrap().find(&body).len();
        assert_eq!(found("/errors/a/errors/1/code"), 1);
        assert_eq!(found("/errors/*/errors/*/code"), 2);
        assert_eq!(found("/**/code"), 2);
        assert_eq!(found("/errors/code"), 0);
        assert_eq!(Pattern::parse("errors"), None);
    }

    #[test]
    fn a_kind_belongs_to_the_collection_that_is_its_plural() {
        assert!(names_one_of("payment_orders", "payment_order"));
        assert!(names_one_of("counterparties", "counterparty"));
        assert!(!names_one_of("counterparties", "payment_order"));
    }
}
