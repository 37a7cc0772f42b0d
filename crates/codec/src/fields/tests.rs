use turnkeep_model::Extra;
use turnkeep_model::json::{Json, Object, parse};

use super::{Fields, Form, Kept, KeyRule, Writer, follow_orders, optional, taken_last};

const FORM: Form = &optional(["name", "age", "inner"]);
const INNER: Form = &optional(["x", "y"]);

fn object(text: &str) -> Object {
    match parse(text).unwrap().into_json() {
        Json::Object(object) => object,
        other => panic!("{other:?}"),
    }
}

/// An object, read and written with the session knowing its name, its age and an inner x.
fn there_and_back(text: &str) -> (Extra, String) {
    let mut fields = Fields::new(object(text), FORM);
    let (name, age) = (fields.text("name"), fields.count("age"));
    let x = fields.within("inner", INNER, |inner| inner.count("x")).flatten();
    let mut extra = Extra::NONE;
    fields.keep("test", &mut extra);

    let mut writer = Writer::new(Kept::of(&extra, "test"), FORM);
    writer.set_some("name", name);
    writer.set_some("age", age);
    let inner = x.into_iter().map(|x| ("x", Json::from(x))).collect();
    writer.nest("inner", inner, INNER);
    let written = Json::Object(writer.finish()).to_text();
    (extra, written)
}

#[test]
fn any_object_comes_back_as_it_was() {
    let cases = [
        r#"{}"#,
        r#"{"name":"a","age":1}"#,
        r#"{"age":1,"name":"a"}"#,
        r#"{"a key":0,"age":1,"":null,"name":"a","a.b":[]}"#,
        r#"{"name":1,"age":"x"}"#,
        r#"{"age":1,"name":"a","name":"b"}"#,
        r#"{"x":1,"name":"a","x":2,"age":7}"#,
        r#"{"half \ud800":1,"name":"a","half \udfff":2}"#,
        r#"{"inner":{"y":2,"x":1,"z":3},"name":"a"}"#,
        r#"{"inner":{},"name":"a"}"#,
        r#"{"name":"a","inner":{"z":0}}"#,
        r#"{"inner":{"x":1,"x":2},"name":"a"}"#,
        r#"{"inner":[],"age":1.0}"#,
    ];
    for case in cases {
        assert_eq!(there_and_back(case).1, case);
    }
}

#[test]
fn only_an_unusual_order_is_noted() {
    let usual = there_and_back(r#"{"name":"a","age":1,"inner":{"x":1}}"#).0;
    let unusual = there_and_back(r#"{"inner":{"y":2,"x":1},"name":"a"}"#).0;

    assert!(usual.is_empty());
    let part = unusual.part("test").unwrap();
    assert_eq!(Json::Object(part.spelling.clone()).to_text(), r#"{"order.inner":["y","x"],"order":["inner","name"]}"#);
    assert_eq!(Json::Object(part.fields.clone()).to_text(), r#"{"inner":{"y":2}}"#);
}

#[test]
fn an_object_with_many_keys_comes_back_as_it_was() {
    let pairs: Vec<String> = (0..5000).rev().map(|at| format!(r#""k{}":{at}"#, at % 4000)).collect();
    let text = format!(r#"{{{},"name":"a"}}"#, pairs.join(","));

    assert_eq!(there_and_back(&text).1, text);
}

#[test]
fn what_always_stands_is_noted_where_it_is_missing() {
    const STATE: Form =
        &[("id", KeyRule::Derived), ("list", KeyRule::List), ("kind", KeyRule::Noted), ("count", KeyRule::Zero)];
    let cases = [
        r#"{"id":"a","list":[],"count":0}"#,
        r#"{"id":"a","count":0}"#,
        r#"{"list":[],"count":0}"#,
        r#"{"id":"a","list":[],"kind":"k","count":0}"#,
        r#"{"count":0,"id":"a","list":[1]}"#,
        r#"{}"#,
    ];
    for case in cases {
        let mut fields = Fields::new(object(case), STATE);
        fields.derived("id", &"a".into());
        fields.derived("kind", &"k".into());
        let mut extra = Extra::NONE;
        fields.keep("test", &mut extra);
        let mut writer = Writer::new(Kept::of(&extra, "test"), STATE);
        writer.derive("id", "a");
        writer.derive("kind", "k");

        assert_eq!(Json::Object(writer.finish()).to_text(), case);
    }
}

#[test]
fn what_is_said_outweighs_what_would_follow() {
    let mut writer = Writer::new(Kept::of(&Extra::NONE, "test"), FORM);
    writer.derive("age", 1_u64);
    writer.hold("inner", 2_u64);
    writer.set("age", 3_u64);
    writer.set("inner", 4_u64);

    assert_eq!(Json::Object(writer.finish()).to_text(), r#"{"age":3,"inner":4}"#);
}

#[test]
fn notes_of_earlier_versions_are_followed() {
    let written = object(r#"{"name":"a","age":1}"#);
    let notes = [
        ("", r#"{"order":"sorted"}"#),
        ("", r#"{"order":"age name"}"#),
        ("", r#"{"order":["age","name"]}"#),
        ("", r#"{"keys":{"":["age","name"]}}"#),
        ("inner", r#"{"inner":"sorted"}"#),
        ("inner", r#"{"inner":["age","name"]}"#),
        ("inner", r#"{"inner":{"order":"age name"}}"#),
        ("inner", r#"{"order.inner":"age name"}"#),
        ("inner", r#"{"inner.order":["age","name"]}"#),
        ("in.ner", r#"{"keys":{"in.ner":["age","name"]}}"#),
    ];
    for (path, note) in notes {
        let mut extra = Extra::NONE;
        extra.part_mut("test").spelling = object(note);
        let object = Kept::of(&extra, "test").at(path).complete(written.clone(), FORM);

        assert_eq!(Json::Object(object).to_text(), r#"{"age":1,"name":"a"}"#, "{note}");
    }
}

#[test]
fn orders_of_a_whole_body_are_followed() {
    let notes = [
        r#"{"order":{"request":{"keys":["b","a"],"in":{"b":{"in":{"1":{"keys":["y","x"]}}}}}}}"#,
        r#"{"order.request":["b","a"],"order.request.b.1":["y","x"]}"#,
    ];
    for note in notes {
        let mut body = Json::Object(object(r#"{"a":{"z":0},"b":[1,{"x":2,"y":1}]}"#));
        follow_orders(&mut body, "request", &object(note));

        assert_eq!(body.to_text(), r#"{"b":[1,{"y":1,"x":2}],"a":{"z":0}}"#, "{note}");
    }
}

#[test]
fn what_is_taken_stands_after_unknown_keys_where_the_form_says_so() {
    const LAST: Form = &taken_last(["", "name", "inner"]);
    let cases = [
        (r#"{"zoo":1,"name":"a"}"#, false),
        (r#"{"name":"a","zoo":1}"#, true),
        (r#"{"inner":{"x":1,"y":2},"zoo":1,"name":"a"}"#, false),
        (r#"{"zoo":1,"inner":{"x":1,"y":2},"name":"a"}"#, false),
        (r#"{"zoo":1,"name":"a","inner":{"x":1}}"#, false),
        (r#"{"zoo":1,"inner":{"x":1},"name":"a"}"#, true),
    ];
    for (case, is_noted) in cases {
        let mut fields = Fields::new(object(case), LAST);
        let (name, x) = (fields.text("name"), fields.within("inner", INNER, |inner| inner.count("x")));
        let mut extra = Extra::NONE;
        fields.keep("test", &mut extra);
        let mut writer = Writer::new(Kept::of(&extra, "test"), LAST);
        writer.set_some("name", name);
        writer.nest("inner", x.flatten().into_iter().map(|x| ("x", Json::from(x))).collect(), INNER);

        assert_eq!(Json::Object(writer.finish()).to_text(), case);
        assert_eq!(extra.spelling("test", "order").is_some(), is_noted, "{case}");
    }
}
