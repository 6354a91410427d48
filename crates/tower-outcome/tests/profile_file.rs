//! Files of profiles, and what is wrong with some.

use tower_outcome::Profile;

/// The field that a file is refused for.
fn fault(text: &str) -> String {
    let error = Profile::from_toml(text).expect_err(text);
    assert!(error.to_string().starts_with(error.field()), "{error}");
    error.field().to_owned()
}

/// The same, of a file that has a name.
fn fault_in(text: &str) -> String {
    fault(&format!("name = 'acme'\n{text}"))
}

#[test]
fn a_file_needs_a_name() {
    assert_eq!(fault(""), "name");
    assert_eq!(fault("name = ''"), "name");
    assert_eq!(fault("name = 7"), "name");
    assert!(Profile::from_toml("name = 'acme'").is_ok());
}

#[test]
fn what_is_no_toml_says_where() {
    let error = Profile::from_toml("name = ").unwrap_err();
    assert_eq!(error.field(), "");
    assert!(error.to_string().contains("line 1"), "{error}");
}

#[test]
fn a_field_that_does_not_exist_is_named() {
    assert_eq!(fault_in("retention = 60"), "retention");
    assert_eq!(fault_in("[key]\nin = 'none'\nname = 'x'"), "key.name");
    let rule = "[[rule]]\nmeans = 'done'\nstatus = 200\n";
    assert_eq!(fault_in(&format!("{rule}stats = 1")), "rule[1].stats");
    let second = format!("{rule}{rule}body = [{{ at = '/a', is = 1, iz = 1 }}]");
    assert_eq!(fault_in(&second), "rule[2].body[1].iz");
    let route = "[[route]]\npaths = '/a'\n[[route.rule]]\nmeans = 'done'\nstatus = 200\nx = 1";
    assert_eq!(fault_in(route), "route[1].rule[1].x");
    assert_eq!(
        fault_in("replay = [{ name = 'a', iz = 'b' }]"),
        "replay[1].iz"
    );
    assert_eq!(
        fault_in("[[route]]\npaths = '/a'\nroute = []"),
        "route[1].route"
    );
}

#[test]
fn a_value_that_cannot_be_is_named() {
    let faults = [
        ("effect = 'look'", "effect"),
        ("hint = 'a b'", "hint"),
        ("ignored_key = {}", "ignored_key.name"),
        ("look_up = ['phone']", "look_up[1]"),
        ("min_delay_s = -1", "min_delay_s"),
        ("reference = 1", "reference"),
        ("replay = 'x'", "replay"),
        ("replay = [{ name = 'a', is = 1.5 }]", "replay[1].is"),
        ("retention_s = 0", "retention_s"),
        ("retention_s = 'always'", "retention_s"),
        ("scope = ['account', 'moon']", "scope[2]"),
        ("stored_failures = 'some'", "stored_failures"),
        ("success = [{ at = 'ok', is = true }]", "success[1].at"),
        ("success = [{ at = '/ok' }]", "success[1]"),
        (
            "success = [{ at = '/ok', is = 1, filled = true }]",
            "success[1]",
        ),
        (
            "success = [{ at = '/ok', filled = false }]",
            "success[1].filled",
        ),
        ("key = 1", "key"),
        ("[key]\nin = 'cookie'", "key.in"),
        ("[key]\nin = 'header'", "key.name"),
        ("[key]\nin = 'header'\nname = 'a b'", "key.name"),
        (
            "[key]\nin = 'header'\nname = 'a'\nformat = 'guid'",
            "key.format",
        ),
        ("[key]\nin = 'header'\nname = 'a'\nquoted = 1", "key.quoted"),
        (
            "[key]\nin = 'header'\nname = 'a'\nmethods = ['post']",
            "key.methods[1]",
        ),
        (
            "[key]\nin = 'header'\nname = 'a'\nmethods = []",
            "key.methods",
        ),
        ("[[rule]]\nstatus = 200", "rule[1].means"),
        ("[[rule]]\nmeans = 'fine'\nstatus = 200", "rule[1].means"),
        ("[[rule]]\nmeans = 'done'", "rule[1]"),
        ("[[rule]]\nmeans = 'done'\nstatus = 42", "rule[1].status"),
        (
            "[[rule]]\nmeans = 'done'\nstatus = [200, '6xx']",
            "rule[1].status[2]",
        ),
        (
            "[[rule]]\nmeans = 'done'\nstatus = 200\nfound = 'id'",
            "rule[1].found",
        ),
        (
            "[[rule]]\nmeans = 'done'\nstatus = 200\nkeyed = 1",
            "rule[1].keyed",
        ),
        ("[[route]]\neffect = 'read'", "route[1]"),
        ("[[route]]\npaths = []", "route[1].paths"),
    ];
    for (text, field) in faults {
        assert_eq!(fault_in(text), field, "{text}");
    }
}

#[test]
fn a_key_that_the_provider_would_not_take_is_refused_before_it_is_sent() {
    let key = |rest: &str| format!("name = 'acme'\n[key]\nin = 'header'\nname = 'a'\n{rest}");
    assert_eq!(fault(&key("format = 'hex'\nmax_length = 36")), "key.format");
    assert_eq!(
        fault(&key("format = 'base64url'\nmin_length = 32")),
        "key.format"
    );
    assert_eq!(fault(&key("max_length = 37\nquoted = true")), "key.format");
    assert_eq!(fault(&key("characters = 'A-Z'")), "key.format");
    assert_eq!(
        fault(&key("quoted = true\ncharacters = 'a-f0-9-'")),
        "key.format"
    );
    assert!(Profile::from_toml(&key("max_length = 36\ncharacters = 'a-f0-9-'")).is_ok());
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let error = Profile::from_file("/nowhere/acme.toml").unwrap_err();
    assert!(error.to_string().contains("cannot be read"), "{error}");
}
