//! No two wishes share a key by how their names join, and no order of members makes another key.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tower_outcome_core::rule::{default, exact, set, trim};
use tower_outcome_core::{Intent, IntentRules};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_never_collide_by_joining(text in "[a\0:/{}\"]{2,8}", one in 1..8_usize, two in 1..8_usize) {
        let split = |at: usize| {
            let (scope, tool) = text.split_at(at.min(text.len() - 1));
            Intent::new(scope, tool, &json!({})).unwrap()
        };
        let (a, b) = (split(one), split(two));
        prop_assert_eq!(a.key() == b.key(), a.scope() == b.scope());
    }

    #[test]
    fn tool_version_and_arguments_never_collide_by_joining(
        tool in "[a-c1]{1,3}",
        other in "[a-c1]{1,3}",
        version in "[a-c1]{0,3}",
        newer in "[a-c1]{0,3}",
        value in "[a-c1]{0,3}",
    ) {
        let make = |tool: &str, version: &str| {
            let rules = IntentRules::new(tool).with_version(version);
            rules.intent("s", &json!({ "v": value })).unwrap()
        };
        let (a, b) = (make(&tool, &version), make(&other, &newer));
        prop_assert_eq!(a.key() == b.key(), tool == other && version == newer);
    }

    #[test]
    fn other_arguments_make_another_key(a in object(), b in object()) {
        let key = |arguments: &Value| *Intent::new("s", "t", arguments).unwrap().key();
        prop_assert_eq!(key(&a) == key(&b), a == b);
    }

    #[test]
    fn the_order_of_members_never_counts(
        members in prop::collection::vec(("[a-f\u{fb33}\u{1f602}]{0,2}", scalar()), 0..8),
        turn in any::<prop::sample::Index>(),
    ) {
        let members: Vec<(String, Value)> =
            Map::from_iter(members).into_iter().collect();
        let mut turned = members.clone();
        if !turned.is_empty() {
            turned.rotate_left(turn.index(members.len()));
            turned.reverse();
        }
        let text = |members: &[(String, Value)]| {
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{}:{value}", Value::from(name.as_str())))
                .collect();
            format!("{{{}}}", members.join(","))
        };
        let rules = [
            IntentRules::new("t"),
            IntentRules::new("t").key("/a", trim()).key("/b", default(1)).matches("/c", exact()),
            IntentRules::new("t").only_declared().key("/d", exact()).ignore("/e"),
            IntentRules::new("t").null_is_absent().empty_is_absent().key("/f", default("x")),
        ];
        for rules in rules {
            let one = rules.intent_from_str("s", &text(&members)).unwrap();
            let two = rules.intent_from_str("s", &text(&turned)).unwrap();
            prop_assert_eq!(one.key(), two.key());
            prop_assert_eq!(one.fingerprint(), two.fingerprint());
            let value = Value::Object(Map::from_iter(members.clone()));
            let three = rules.intent("s", &value).unwrap();
            prop_assert_eq!(one.key(), three.key());
            prop_assert_eq!(one.fingerprint(), three.fingerprint());
            prop_assert_eq!(one.near_miss(&three), None);
        }
    }

    #[test]
    fn the_order_of_a_set_never_counts(
        elements in prop::collection::vec(object(), 0..6),
        turn in any::<prop::sample::Index>(),
    ) {
        let mut turned = elements.clone();
        if !turned.is_empty() {
            turned.rotate_left(turn.index(elements.len()));
            turned.push(turned[0].clone());
        }
        let rules = IntentRules::new("t").key("/l", set()).key("/l/*/a", trim());
        let key = |list: &[Value]| *rules.intent("s", &json!({ "l": list })).unwrap().key();
        prop_assert_eq!(key(&elements), key(&turned));
    }
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[ab]{0,2}", scalar(), 0..4)
        .prop_map(|members| Value::Object(Map::from_iter(members)))
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..3_i64).prop_map(Value::from),
        "[ a1\"]{0,2}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({ "z": null })),
    ]
}
