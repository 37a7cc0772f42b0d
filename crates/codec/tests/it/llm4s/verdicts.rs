//! What the library says of the inputs in `read_cases.expected.json`: one test a case.

use turnkeep_model::json::Json;

use super::{STATE, compat, fixtures, parse};

fn cases() -> Vec<Json> {
    let text = std::fs::read_to_string(fixtures(STATE).join("read_cases.expected.json")).unwrap();
    let file = parse(&text);
    file.as_object().unwrap().get("cases").and_then(Json::as_array).unwrap().to_vec()
}

fn name(case: &Json) -> String {
    case.as_object().unwrap().get_str("name").unwrap().into_owned()
}

fn check(wanted: &str) {
    let cases = cases();
    let case = cases.iter().find(|case| name(case) == wanted).unwrap_or_else(|| panic!("no case `{wanted}`"));
    let case = case.as_object().unwrap();
    let verdict = compat(STATE, &case.get_str("input").unwrap());
    match case.get("ok").and_then(Json::as_bool) {
        Some(true) => assert_eq!(parse(&verdict.unwrap()).to_text(), case.get("resaved").unwrap().to_text()),
        _ => {
            let error = case.get_str("error").unwrap();
            let (_class, message) = error.split_once(": ").unwrap();
            assert_eq!(verdict.unwrap_err().to_string(), message);
        }
    }
}

macro_rules! read_cases {
    ($($test:ident = $name:literal,)*) => {
        const LISTED: &[&str] = &[$($name,)*];

        $(#[test]
        fn $test() {
            check($name);
        })*
    };
}

read_cases! {
    old_format = "old format",
    unknown_top_key = "unknown top key",
    missing_initial_query = "missing initialQuery",
    missing_status = "missing status",
    missing_completion_options = "missing completionOptions",
    missing_messages = "missing messages",
    extra_key_in_conversation = "extra key in conversation",
    conv_null = "conv null",
    query_number = "query number",
    status_unknown_str = "status unknown str",
    status_num = "status num",
    status_obj_failed_no_err = "status obj failed no err",
    status_obj_failed_err_num = "status obj failed err num",
    status_obj_unknown = "status obj unknown",
    status_obj_in_progress = "status obj InProgress",
    status_handoff = "status handoff",
    logs_with_number = "logs with number",
    logs_null = "logs null",
    sys_object = "sys object",
    msg_no_type = "msg no type",
    assistant_data_empty = "assistant data empty",
    assistant_tool_calls_null = "assistant toolCalls null",
    toolcall_missing_args = "toolcall missing args",
    tool_missing_id = "tool missing id",
    array_content_opt = "array contentOpt (upickle3 option)",
    reasoning_invalid = "reasoning invalid",
    reasoning_number = "reasoning number",
    budget_string = "budget string",
    budget_frac = "budget frac",
    budget_negative = "budget negative",
    max_tokens_huge = "maxTokens huge",
    max_tokens_missing = "maxTokens missing",
    temp_string = "temp string",
    temp_null = "temp null",
    usage_empty = "usage empty",
    usage_null = "usage null",
    usage_num_cost = "usage num cost",
    usage_str_long = "usage str long",
    usage_cost_bool = "usage cost bool",
    usage_model_cost_str = "usage model cost str",
    root_string = "root string",
    dup_keys = "dup keys",
}

#[test]
fn every_case_of_the_file_is_listed() {
    let names: Vec<String> = cases().iter().map(name).collect();

    assert_eq!(names, LISTED);
}

/// Further verdicts, after the library's source.
#[test]
fn other_refusals_are_in_the_librarys_words() {
    let with = |old: &str, new: &str| super::OLD.replace(old, new);
    let message = |message: &str| with("\"messages\":[]", &format!("\"messages\":[{message}]"));
    let cases = [
        (String::new(), "exhausted input"),
        (super::OLD[..60].to_owned(), "exhausted input"),
        ("[]".to_owned(), "Expected ujson.Obj (data: [])"),
        (super::OLD.replace("0.0}}", "0.0}},"), "expected whitespace or eof got \",\" at index 216"),
        (with("\"conversation\":{\"messages\":[]},", ""), "key not found: conversation"),
        (with("{\"messages\":[]}", "3"), "expected dictionary got float64"),
        (with("\"messages\":[]", "\"messages\":{}"), "expected sequence got dictionary"),
        (with("\"logs\":[],", ""), "key not found: logs"),
        (with("\"logs\":[]", "\"logs\":[null]"), "Expected ujson.Str (data: null)"),
        (with("\"systemMessage\":null,", ""), "key not found: systemMessage"),
        (with("\"topP\":1.0,", ""), "key not found: topP"),
        (message(r#"{"type":"developer","content":"x"}"#), "developer (of class java.lang.String)"),
        (message(r#"{"type":"user"}"#), "key not found: content"),
        (message(r#"{"type":"user","content":null}"#), "Expected ujson.Str (data: null)"),
        (message(r#"{"type":"assistant"}"#), "key not found: data"),
        (message("null"), "Expected ujson.Obj (data: null)"),
        (
            message(r#"{"type":"assistant","data":{"toolCalls":[{}]}}"#),
            "missing keys in dictionary: id, name, arguments",
        ),
        (message(r#"{"type":"assistant","data":{"toolCalls":"x"}}"#), "expected sequence got string"),
        (
            with("0.0}}", "0.0},\"usageSummary\":{\"byModel\":{\"m\":{\"totalCost\":0.5}}}}"),
            "expected string got float64",
        ),
        (with("0.0}}", "0.0},\"usageSummary\":{\"inputTokens\":true}}"), "expected number got boolean"),
        (with("\"maxTokens\":null", "\"maxTokens\":99999999999999999999"), "99999999999999999999"),
    ];
    for (input, expected) in cases {
        assert_eq!(compat(STATE, &input).unwrap_err().to_string(), expected, "{input}");
    }
}

#[test]
fn what_the_library_loads_it_saves_in_its_own_way() {
    let with = |old: &str, new: &str| super::OLD.replace(old, new);
    let cases = [
        (with("\"maxTokens\":null", "\"maxTokens\":-1.5"), "completionOptions.maxTokens", "-1"),
        (with("0.0}}", "0.0,\"reasoning\":\" HIGH \"}}"), "completionOptions.reasoning", "\"high\""),
        (with("0.7", "12345678.5"), "completionOptions.temperature", "1.23456785E7"),
        (with("0.0}}", "0.0},\"usageSummary\":{\"inputTokens\":2.5}}"), "usageSummary.inputTokens", "2"),
        (
            with("0.0}}", "0.0},\"usageSummary\":{\"inputTokens\":\"9007199254740993\"}}"),
            "usageSummary.inputTokens",
            "\"9007199254740993\"",
        ),
        (with("0.0}}", "0.0},\"usageSummary\":{\"totalCost\":2,\"x\":1}}"), "usageSummary", "{\"totalCost\":\"2.0\"}"),
        (with("0.0}}", "0.0},\"usageSummary\":{\"totalCost\":\"0.00\",\"byModel\":{}}}"), "usageSummary", "{}"),
        (with("{\"messages\":[]}", "{\"messages\":null}"), "conversation", "{\"messages\":null}"),
    ];
    for (input, path, expected) in cases {
        assert_eq!(super::at(&parse(&compat(STATE, &input).unwrap()), path).to_text(), expected, "{input}");
    }
}

#[test]
fn rounding_in_compat_mode_is_a_loss() {
    let call = r#"{"type":"assistant","data":{"contentOpt":null,"toolCalls":[{"id":"c","name":"t","arguments":{"id":1234567890123456789}}]}}"#;
    let text = super::OLD.replace("\"messages\":[]", &format!("\"messages\":[{call}]"));
    let codec = turnkeep_codec::format::by_id(STATE).unwrap();
    let (session, _) = super::session(STATE, &text);

    let read =
        codec.decode(turnkeep_codec::Input::new(text.as_bytes()), &turnkeep_codec::DecodeOptions::compat()).unwrap();
    let written = codec.encode(&session.into(), &turnkeep_codec::EncodeOptions::compat()).unwrap();

    let told = |losses: &[turnkeep_model::Loss]| {
        super::told(losses).contains(&"coerced turns[0].blocks[0].arguments".to_owned())
    };
    assert!(told(&read.losses) && told(&written.losses));
    assert!(String::from_utf8(written.bytes).unwrap().contains("1234567890123456768"));
}
