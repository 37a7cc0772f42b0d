//! Arguments against their schema.

use turnkeep_runtime::schema::{check, check_schema};

use crate::kit::json;

#[test]
fn values_are_checked_keyword_by_keyword() {
    let table = [
        (r#"{"type":"integer"}"#, "1.0", None),
        (r#"{"type":"integer"}"#, "1.5", Some("the value must be integer, and is a number")),
        (r#"{"type":["string","null"]}"#, "null", None),
        (r#"{"enum":[1,"a"]}"#, "1.0", None),
        (r#"{"enum":[1,"a"]}"#, r#""b""#, Some(r#"the value must be one of 1, "a""#)),
        (r#"{"const":{"a":1}}"#, r#"{"a":1}"#, None),
        (r#"{"required":["a"]}"#, "{}", Some("the value lacks `a`")),
        (r#"{"properties":{"a":{"minLength":2}}}"#, r#"{"a":"é"}"#, Some("/a has too few characters")),
        (r#"{"items":{"minimum":3}}"#, "[3,2]", Some("/1 must be at least 3")),
        (r#"{"pattern":"^a+$"}"#, r#""aab""#, Some("the value does not match ^a+$")),
        (
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            "1",
            Some("the value follows none of the allowed schemas"),
        ),
        (
            r#"{"oneOf":[{"minimum":1},{"minimum":2}]}"#,
            "3",
            Some("the value must follow exactly one of the allowed schemas"),
        ),
        (r#"{"not":{"type":"string"}}"#, r#""a""#, Some("the value follows a schema that it must not")),
        (
            r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"number"}}}"##,
            "true",
            Some("the value must be number, and is a boolean"),
        ),
        (r##"{"$ref":"#"}"##, "1", Some("the value is nested deeper than a schema may be")),
        (r#"{"uniqueItems":true}"#, "[1,2,1.0]", Some("the value has an item twice")),
        (r#"{"multipleOf":0.1}"#, "0.3", None),
        ("null", "{}", None),
    ];
    for (schema, value, expected) in table {
        assert_eq!(check(&json(schema), &json(value)).err().as_deref(), expected, "{schema} {value}");
    }
}

#[test]
fn a_schema_that_says_more_than_is_checked_is_refused() {
    let refused = check_schema(&json(r#"{"properties":{"a":{"if":{"type":"string"}}}}"#)).unwrap_err();

    assert_eq!(refused, "/properties/a: the keyword `if` is not checked here");
    assert!(check_schema(&json(r#"{"type":"object","description":"x","format":"uri","x-own":1}"#)).is_ok());
    assert!(check_schema(&json(r#"{"pattern":"("}"#)).is_err());
}

#[test]
fn a_value_is_not_checked_against_half_a_schema() {
    let refused = check(&json(r#"{"patternProperties":{"^a":{"type":"string"}}}"#), &json(r#"{"a":1}"#)).unwrap_err();

    assert_eq!(refused, "the schema: the keyword `patternProperties` is not checked here");
}
