//! A schema passes only if the rules decide on every property that it has.

use serde_json::{Value, json};
use tower_outcome_core::IntentRules;
use tower_outcome_core::rule::{decimal, exact, id, set};

/// The pointer that a check names, or nothing where it passes.
fn named(rules: &IntentRules, schema: &Value) -> Option<String> {
    rules
        .check_schema(schema)
        .err()
        .map(|error| error.field().to_owned())
}

fn refund_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "order": { "type": "string" },
            "amount": { "type": "number" },
            "reason": { "type": "string" },
        },
        "required": ["order"],
    })
}

#[test]
fn every_property_needs_a_decision() {
    let rules = IntentRules::new("refund").key("/order", id());
    assert_eq!(named(&rules, &refund_schema()).as_deref(), Some("/amount"));
    let rules = rules.matches("/amount", decimal(2));
    assert_eq!(named(&rules, &refund_schema()).as_deref(), Some("/reason"));
    let rules = rules.ignore("/reason");
    assert_eq!(named(&rules, &refund_schema()), None);
}

#[test]
fn a_misspelt_pointer_is_found() {
    let rules = IntentRules::new("refund")
        .key("/order", id())
        .key("/amount", exact());
    let rules = rules.ignore("/reason").key("/ammount", decimal(2));
    assert_eq!(named(&rules, &refund_schema()).as_deref(), Some("/ammount"));

    let mut open = refund_schema();
    open["additionalProperties"] = json!(true);
    assert_eq!(named(&rules, &open), None);
    open["additionalProperties"] = json!(false);
    assert_eq!(named(&rules, &open).as_deref(), Some("/ammount"));
}

#[test]
fn what_a_model_may_invent_can_be_ignored_beforehand() {
    let rules = IntentRules::new("refund")
        .key("/order", id())
        .key("/amount", exact());
    let rules = rules.ignore("/reason").ignore("/request_id");
    assert_eq!(named(&rules, &refund_schema()), None);
}

#[test]
fn a_decision_covers_what_lies_below_it() {
    let schema = json!({
        "properties": {
            "pay": { "properties": { "amount": {}, "currency": {} } },
            "lines": { "items": { "properties": { "sku": {}, "price": {} } } },
        },
    });
    let whole = IntentRules::new("pay")
        .key("/pay", exact())
        .key("/lines", set());
    assert_eq!(named(&whole, &schema), None);
    assert_eq!(
        named(&whole.clone().key("/pay/amount", decimal(2)), &schema),
        None
    );
    assert_eq!(
        named(&whole.key("/pay/amonut", decimal(2)), &schema).as_deref(),
        Some("/pay/amonut")
    );

    let parts = IntentRules::new("pay")
        .key("/lines", set())
        .key("/pay/amount", decimal(2));
    assert_eq!(named(&parts, &schema).as_deref(), Some("/pay/currency"));

    let lines = IntentRules::new("pay")
        .key("/pay", exact())
        .key("/lines/*/sku", id());
    assert_eq!(named(&lines, &schema).as_deref(), Some("/lines/*/price"));
    assert_eq!(named(&lines.ignore("/lines/*/price"), &schema), None);

    let neither = IntentRules::new("pay").key("/pay/amount/cents", exact());
    let schema = json!({ "properties": { "pay": { "properties": { "amount": {} } } } });
    assert_eq!(named(&neither, &schema).as_deref(), Some("/pay/amount"));
}

#[test]
fn properties_are_found_behind_references_and_alternatives() {
    let schema = json!({
        "$ref": "#/$defs/Refund",
        "$defs": {
            "Refund": {
                "allOf": [{ "$ref": "#/$defs/Base" }],
                "properties": { "pay": { "anyOf": [{ "$ref": "#/$defs/Pay" }, { "type": "null" }] } },
            },
            "Base": { "properties": { "order": {} }, "then": { "properties": { "urgent": {} } } },
            "Pay": { "oneOf": [{ "properties": { "iban": {} } }, { "properties": { "card": {} } }] },
        },
    });
    let mut rules = IntentRules::new("refund");
    for pointer in ["/order", "/pay/card", "/pay/iban", "/urgent"] {
        assert!(named(&rules, &schema).is_some(), "without {pointer}");
        rules = rules.key(pointer, exact());
    }
    assert_eq!(named(&rules, &schema), None);
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let schema = json!({
        "allOf": [{ "$ref": "#" }],
        "properties": { "child": { "$ref": "#" } },
    });
    let rules = IntentRules::new("tree").key("/child", exact());
    assert_eq!(named(&rules, &schema), None);
    assert_eq!(
        named(&IntentRules::new("tree"), &schema).as_deref(),
        Some("/child")
    );
}

#[test]
fn maps_are_declared_by_each_of_their_members() {
    let schema = json!({
        "properties": {
            "limits": { "additionalProperties": { "properties": { "max": {}, "note": {} } } },
        },
    });
    let rules = IntentRules::new("limit").key("/limits/*", exact());
    assert_eq!(named(&rules, &schema), None);
    assert_eq!(
        named(&IntentRules::new("limit"), &schema).as_deref(),
        Some("/limits")
    );
}

#[test]
fn a_tool_without_arguments_passes_and_what_is_no_schema_does_not() {
    let rules = IntentRules::new("ping");
    assert_eq!(named(&rules, &json!({ "type": "object" })), None);
    assert!(rules.check_schema(&json!(true)).is_err());
    assert!(rules.check_schema(&json!("object")).is_err());
}
