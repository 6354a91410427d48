//! What rules say about each place of the arguments: a tree of JSON pointer tokens.

use std::collections::BTreeMap;

use serde_json::Value;

use super::rule::ValueRule;
use crate::Error;

/// The decisions on the members of a tool's arguments. An empty plan keeps everything as it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) empty_is_absent: bool,
    pub(crate) null_is_absent: bool,
    pub(crate) only_declared: bool,
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    children: BTreeMap<Box<str>, usize>,
    decision: Option<Decision>,
}

/// What a declared member is for.
#[derive(Clone, Debug)]
pub(crate) enum Decision {
    /// Left out.
    Ignore,
    /// Part of the key.
    Key(ValueRule),
    /// Not part of the key, but equal whenever the key is met again.
    Matches(ValueRule),
}

/// How the elements of an array count whose order does not.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Order {
    /// Equal elements count each.
    Bag,
    /// Equal elements count once.
    Set,
}

/// A place in the arguments, with what the plan says about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    node: Option<usize>,
    /// Whether it lies in a member that a decision covers as a whole.
    covered: bool,
}

impl Slot {
    /// The arguments themselves.
    pub(crate) const ROOT: Self = Self {
        node: Some(0),
        covered: false,
    };
}

impl Plan {
    /// Adds a decision on the member at `pointer`.
    pub(crate) fn declare(&mut self, pointer: &str, decision: Decision) -> Result<(), Error> {
        let refuse = |reason: &str| Err(Error::invalid(pointer, reason));
        let Some(tokens) = pointer.strip_prefix('/') else {
            return refuse("is no JSON pointer to a member: it does not start with a slash");
        };
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        let mut at = 0;
        for token in tokens.split('/') {
            if let Some(Decision::Ignore) = self.nodes[at].decision {
                return refuse("lies in a member that is ignored");
            }
            let Some(token) = unescape(token) else {
                return refuse("is no JSON pointer: `~` stands for itself only as `~0`");
            };
            let fresh = self.nodes.len();
            at = *self.nodes[at].children.entry(token).or_insert(fresh);
            if at == fresh {
                self.nodes.push(Node::default());
            }
        }
        let node = &mut self.nodes[at];
        if node.decision.is_some() {
            return refuse("is declared twice");
        }
        if let Decision::Ignore = decision
            && !node.children.is_empty()
        {
            return refuse("is ignored, but members of it are declared");
        }
        node.decision = Some(decision);
        Ok(())
    }

    /// Whether every value counts as it is.
    pub(crate) fn is_empty(&self) -> bool {
        let whole = self.empty_is_absent || self.null_is_absent || self.only_declared;
        self.nodes.is_empty() && !whole
    }

    /// The place of the member `name`, if it counts.
    pub(crate) fn child(&self, parent: Slot, name: &str) -> Option<Slot> {
        if self.is_empty() {
            return Some(parent);
        }
        let covered = parent.covered || self.decision(parent).is_some();
        match self.declared(parent, name) {
            Some(slot) => match self.decision(slot) {
                Some(Decision::Ignore) => None,
                _ => Some(Slot { covered, ..slot }),
            },
            None if covered || !self.only_declared => Some(Slot {
                node: None,
                covered,
            }),
            None => None,
        }
    }

    /// The place of a member that something is declared for, by its name or for each.
    pub(crate) fn declared(&self, parent: Slot, name: &str) -> Option<Slot> {
        let children = &self.node(parent)?.children;
        let node = children.get(name).or_else(|| children.get(EACH))?;
        Some(Slot {
            node: Some(*node),
            ..parent
        })
    }

    /// Whether a value at this place, and all that lies in it, counts as it is.
    pub(crate) fn is_silent_below(&self, slot: Slot) -> bool {
        !self.empty_is_absent && !self.null_is_absent && self.node(slot).is_none()
    }

    /// The place of an array's element, if it counts.
    pub(crate) fn element(&self, parent: Slot, index: usize) -> Option<Slot> {
        let by_index = |node: &Node| node.children.keys().any(|name| **name != *EACH);
        if self.node(parent).is_some_and(by_index) {
            self.child(parent, &index.to_string())
        } else {
            self.child(parent, EACH)
        }
    }

    /// The rule for a value at this place, if there is one.
    pub(crate) fn rule_at(&self, slot: Slot) -> Option<&ValueRule> {
        match &self.node(slot)?.decision {
            Some(Decision::Key(rule) | Decision::Matches(rule)) => Some(rule),
            Some(Decision::Ignore) | None => None,
        }
    }

    /// What stands for a null at this place.
    pub(crate) fn default_at(&self, slot: Slot) -> Option<&Value> {
        self.rule_at(slot)?.default_value()
    }

    /// The members of an object at this place that have a default.
    pub(crate) fn defaults(&self, slot: Slot) -> impl Iterator<Item = (&str, &Value)> {
        let named = self.children(slot).filter(|(name, _)| *name != EACH);
        named.filter_map(|(name, slot)| Some((name, self.default_at(slot)?)))
    }

    /// Whether a written value counts as if its member were absent.
    pub(crate) fn is_absent(&self, slot: Slot, value: &[u8]) -> bool {
        let rule = self.rule_at(slot);
        match value {
            b"null" => self.null_is_absent || rule.is_some_and(ValueRule::null_counts_as_absent),
            b"\"\"" | b"[]" | b"{}" => {
                self.empty_is_absent || rule.is_some_and(ValueRule::empty_counts_as_absent)
            }
            _ => false,
        }
    }

    /// Whether the value at this place is compared and not part of the key.
    pub(crate) fn must_match(&self, slot: Slot) -> bool {
        matches!(self.decision(slot), Some(Decision::Matches(_)))
    }

    /// The declared members of an object at this place.
    pub(crate) fn children(&self, slot: Slot) -> impl Iterator<Item = (&str, Slot)> {
        let children = self.node(slot).map(|node| &node.children);
        children.into_iter().flatten().map(move |(name, &node)| {
            let node = Some(node);
            (&**name, Slot { node, ..slot })
        })
    }

    /// The decision on the value at this place.
    pub(crate) fn decision(&self, slot: Slot) -> Option<&Decision> {
        self.node(slot)?.decision.as_ref()
    }

    fn node(&self, slot: Slot) -> Option<&Node> {
        self.nodes.get(slot.node?)
    }
}

/// A reference token of a JSON pointer as the name it stands for (RFC 6901 section 4).
pub(super) fn unescape(token: &str) -> Option<Box<str>> {
    let mut name = String::with_capacity(token.len());
    let mut letters = token.chars();
    while let Some(letter) = letters.next() {
        name.push(match letter {
            '~' => match letters.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            _ => letter,
        });
    }
    Some(name.into())
}

/// The token that stands for every element of an array, and every member not declared by name.
pub(crate) const EACH: &str = "*";
