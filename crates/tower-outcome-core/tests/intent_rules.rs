//! Rules say of every member whether it makes the key, must match, or does not count.

use tower_outcome_core::IntentRules;
use tower_outcome_core::rule::{
    bag, decimal, default, empty_is_absent, exact, id, int, null_is_absent, set, trim, upper,
};

use support::{derive, each_line};

#[path = "intent/support.rs"]
mod support;

/// Checks a table of whole arguments.
#[track_caller]
fn arguments(rules: &IntentRules, table: &str) {
    each_line(rules, table, str::to_owned);
}

#[test]
fn rules_reach_into_lists_and_maps() {
    let rules = IntentRules::new("tool")
        .key("/lines", set())
        .key("/lines/*/price", decimal(2))
        .ignore("/lines/*/note")
        .key("/limits/*", int())
        .key("/pair/1", upper());
    arguments(
        &rules,
        r#"
            {"lines":[{"sku":"b","price":"2.50"},{"sku":"a","price":1,"note":"x"}]} == {"lines":[{"sku":"a","price":1.00},{"sku":"b","price":2.5}]}
            {"limits":{"EUR":"10","USD":20}} == {"limits":{"USD":20.0,"EUR":10}}
            {"limits":{"EUR":10}} != {"limits":{"USD":10}}
            {"pair":["a","b"]} == {"pair":["a","B"]}
            {"pair":["a","b"]} != {"pair":["A","b"]}
            {"lines":[{"price":1.005}]} refused
        "#,
    );
    let error = derive(&rules, r#"{"lines":[{"price":1},{"price":"x"}]}"#).unwrap_err();
    assert_eq!(error.field(), "/lines/1/price");
}

#[test]
fn absence_is_what_the_rules_say() {
    let rules = IntentRules::new("tool")
        .key("/n", null_is_absent())
        .key("/e", empty_is_absent().trim())
        .key("/d", default(true))
        .key("/l", default(serde_json::json!([])).set())
        .key("/x", default("a").empty_is_absent());
    arguments(
        &rules,
        r#"
            {"n":null} == {}
            {"other":null} != {}
            {"e":""} == {}
            {"e":" "} == {}
            {"e":[]} == {}
            {"e":{}} == {}
            {"e":null} != {}
            {"n":""} != {}
            {"d":true} == {}
            {"d":null} == {}
            {"d":false} != {}
            {"l":[]} == {}
            {"x":"","l":null} == {}
            {"x":"a"} == {}
            {"x":"b"} != {}
        "#,
    );
    let plain = IntentRules::new("tool");
    arguments(
        &plain,
        r#"
            {"n":null} != {}
            {"n":""} != {}
            {"n":[]} != {}
        "#,
    );
}

#[test]
fn absence_can_be_declared_for_the_whole_arguments() {
    let rules = IntentRules::new("tool").null_is_absent();
    arguments(
        &rules,
        r#"
            {"a":null,"b":{"c":null}} == {"b":{}}
            {"a":[null]} != {"a":[]}
            {"a":[{"b":null}]} == {"a":[{}]}
            null == {}
        "#,
    );
    let value = serde_json::json!({ "b": { "c": null } });
    let text = derive(&rules, r#"{"b":{}}"#).unwrap();
    assert_eq!(rules.intent("acme", &value).unwrap().key(), text.key());

    let rules = IntentRules::new("tool").empty_is_absent();
    arguments(
        &rules,
        r#"
            {"a":"","b":{"c":[]}} == {}
            {"a":[""]} != {"a":[]}
            {"a":" "} != {}
        "#,
    );
    let rules = IntentRules::new("tool")
        .null_is_absent()
        .key("/d", default(1));
    arguments(
        &rules,
        r#"
            null == {"d":1}
        "#,
    );
}

#[test]
fn a_default_stands_only_where_its_object_does() {
    let rules = IntentRules::new("tool")
        .key("/o/d", default(1))
        .key("/o/*", default("each").trim());
    arguments(
        &rules,
        r#"
            {"o":{}} == {"o":{"d":1}}
            {"o":{"z":"b "}} == {"o":{"d":1.0,"z":"b"}}
            {"o":{"d":1}} != {"o":{"d":1,"*":"each"}}
            {} != {"o":{}}
        "#,
    );
}

#[test]
fn a_null_is_no_default() {
    let rules = IntentRules::new("tool").key("/d", default(serde_json::Value::Null));
    arguments(&rules, r#"{"d":null} != {}"#);
}

#[test]
fn what_is_ignored_does_not_count_whatever_it_holds() {
    let rules = IntentRules::new("tool").ignore("/reason").ignore("/meta");
    arguments(
        &rules,
        r#"
            {"id":1,"reason":"a"} == {"id":1}
            {"id":1,"reason":"a","z":2} == {"z":2,"id":1}
            {"meta":{"t":[1e400,{"u":9007199254740993}]}} == {}
            {"meta":[]} == {}
            {"id":1,"Reason":"a"} != {"id":1}
            {"reason":1,"reason":2} refused
            {"meta":{ refused
        "#,
    );
    let deep = format!("{{\"meta\":{}{}}}", "[".repeat(200), "]".repeat(200));
    assert!(
        derive(&rules, &deep).is_err(),
        "ignored nesting has the same limit"
    );
}

#[test]
fn undeclared_members_count_unless_only_declared_ones_do() {
    let all = IntentRules::new("tool")
        .key("/id", trim())
        .key("/pay/amount", decimal(2));
    arguments(
        &all,
        r#"
            {"id":"x","extra":1} != {"id":"x"}
            {"id":"x","pay":{"amount":1,"extra":[{}]}} != {"id":"x ","pay":{"amount":1.00}}
        "#,
    );
    arguments(
        &all.only_declared(),
        r#"
            {"id":"x","extra":1} == {"id":"x"}
            {"id":"x","pay":{"amount":1,"extra":[{}]}} == {"id":"x ","pay":{"amount":1.00}}
            {"id":"x","pay":{"amount":1}} != {"id":"x","pay":{"amount":2}}
            {"id":"x","pay":20} != {"id":"x"}
        "#,
    );
    arguments(
        &IntentRules::new("tool").only_declared(),
        r#"{"id":"x","pay":{"amount":1}} == {}"#,
    );
    let subtree = IntentRules::new("tool")
        .only_declared()
        .key("/pay", exact());
    arguments(&subtree, r#"{"pay":{"any":1}} != {"pay":{}}"#);
    let value = serde_json::json!({ "pay": { "any": 1 }, "extra": {} });
    let text = derive(&subtree, r#"{"pay":{"any":1}}"#).unwrap();
    assert_eq!(subtree.intent("acme", &value).unwrap().key(), text.key());
}

#[test]
fn a_field_that_must_match_is_named_and_leaves_the_key() {
    let rules = IntentRules::new("tool")
        .key("/order", id())
        .matches("/amount", decimal(2))
        .matches("/pay/currency", default("EUR").upper())
        .matches("/lines", bag());
    let one = derive(&rules, r#"{"amount":20,"order":7,"pay":{}}"#).unwrap();
    let names: Vec<_> = one.fingerprint().names().collect();
    assert_eq!(names, ["/amount", "/pay/currency"]);

    let same = [
        (
            r#"{"order":7,"amount":"20.00","pay":{"currency":"eur"}}"#,
            None,
        ),
        (r#"{"order":7,"amount":21,"pay":{}}"#, Some("/amount")),
        (r#"{"order":7,"pay":{}}"#, Some("/amount")),
        (
            r#"{"order":7,"amount":20,"pay":{"currency":"USD"}}"#,
            Some("/pay/currency"),
        ),
        (
            r#"{"order":7,"amount":20,"pay":{},"lines":[1]}"#,
            Some("/lines"),
        ),
    ];
    for (text, differs) in same {
        let other = derive(&rules, text).unwrap();
        assert_eq!(other.key(), one.key(), "{text}");
        assert_eq!(
            one.fingerprint().differs(other.fingerprint()),
            differs,
            "{text}"
        );
    }
    let other = derive(&rules, r#"{"order":8,"amount":20,"pay":{}}"#).unwrap();
    assert_ne!(other.key(), one.key());
}

#[test]
fn an_element_that_must_match_leaves_no_trace_in_the_key() {
    let rules = IntentRules::new("tool")
        .matches("/pair/1", exact())
        .matches("/set/*/price", decimal(2))
        .key("/set", set());
    arguments(
        &rules,
        r#"
            {"pair":["a","b"]} == {"pair":["a"]}
            {"pair":["a","b","c"]} == {"pair":["a","x","c"]}
            {"pair":["a","b"]} != {"pair":["b","a"]}
            {"set":[{"id":1,"price":2},{"id":3}]} == {"set":[{"id":3},{"id":1}]}
        "#,
    );
    let one = derive(&rules, r#"{"pair":["a","b"],"set":[{"price":1}]}"#).unwrap();
    let names: Vec<_> = one.fingerprint().names().collect();
    assert_eq!(names, ["/pair/1", "/set/0/price"]);
}

#[test]
fn the_places_of_members_are_known_by_their_own_names() {
    let rules = IntentRules::new("tool")
        .ignore("/a~1b")
        .ignore("/m~0n")
        .ignore("/");
    arguments(
        &rules,
        r#"
            {"a/b":1,"m~n":2,"":3} == {}
            {"a":{"b":1}} != {}
        "#,
    );
}

#[test]
fn a_rule_declared_wrongly_never_makes_a_key() {
    let wrong = [
        (IntentRules::new("tool").key("order", id()), "order"),
        (IntentRules::new("tool").ignore(""), ""),
        (IntentRules::new("tool").ignore("/a~2"), "/a~2"),
        (IntentRules::new("tool").key("/a", id()).ignore("/a"), "/a"),
        (
            IntentRules::new("tool").ignore("/a").key("/a/b", id()),
            "/a/b",
        ),
        (
            IntentRules::new("tool").key("/a/b", id()).ignore("/a"),
            "/a",
        ),
        (IntentRules::new(""), "tool"),
    ];
    for (rules, field) in wrong {
        assert_eq!(derive(&rules, "{}").unwrap_err().field(), field);
    }
    let flawed = IntentRules::new("tool").key("order", id());
    assert!(flawed.check_schema(&serde_json::json!({})).is_err());
}
