//! The 33 cases of the library's own `AgentStateSerializationSpec`, one test each.

use turnkeep_model::{Author, Body, Effort, ErrorKind, Session, Status, status as states};

use super::{OLD, STATE, at, compat, decode, encode, parse, rewrite, session};

fn with_options(options: &str) -> String {
    OLD.replace("\"frequencyPenalty\":0.0", &format!("\"frequencyPenalty\":0.0,{options}"))
}

fn with_messages(messages: &str) -> String {
    OLD.replace("\"messages\":[]", &format!("\"messages\":[{messages}]"))
}

fn with_status(status: &str) -> String {
    OLD.replace("\"Complete\"", status)
}

fn effort_written(effort: Effort) -> String {
    let mut session = Session::default();
    session.options.reasoning = Some(effort);
    at(&parse(&encode(STATE, &session).0), "completionOptions.reasoning").to_text()
}

fn effort_read(word: &str) -> Option<Effort> {
    session(STATE, &with_options(&format!("\"reasoning\":{word}"))).0.options.reasoning
}

mod reasoning_effort {
    use super::*;

    #[test]
    fn writes_none() {
        assert_eq!(effort_written(Effort::None), "\"none\"");
    }

    #[test]
    fn writes_low() {
        assert_eq!(effort_written(Effort::Low), "\"low\"");
    }

    #[test]
    fn writes_medium() {
        assert_eq!(effort_written(Effort::Medium), "\"medium\"");
    }

    #[test]
    fn writes_high() {
        assert_eq!(effort_written(Effort::High), "\"high\"");
    }

    #[test]
    fn reads_none() {
        assert_eq!(effort_read("\"none\""), Some(Effort::None));
    }

    #[test]
    fn reads_low() {
        assert_eq!(effort_read("\"low\""), Some(Effort::Low));
    }

    #[test]
    fn reads_medium() {
        assert_eq!(effort_read("\"medium\""), Some(Effort::Medium));
    }

    #[test]
    fn reads_high() {
        assert_eq!(effort_read("\"high\""), Some(Effort::High));
    }

    #[test]
    fn round_trips_every_value() {
        for effort in [Effort::None, Effort::Low, Effort::Medium, Effort::High] {
            let written = effort_written(effort.clone());
            assert_eq!(effort_read(&written), Some(effort));
        }
    }

    #[test]
    fn refuses_an_unknown_string() {
        let text = with_options("\"reasoning\":\"invalid\"");
        assert_eq!(compat(STATE, &text).unwrap_err().to_string(), "Invalid ReasoningEffort: invalid");
        let error = decode(STATE, &text).unwrap_err();
        assert_eq!((error.kind(), error.at_path()), (ErrorKind::Corrupt, "completionOptions.reasoning"));
    }

    #[test]
    fn refuses_what_is_no_string() {
        let text = with_options("\"reasoning\":123");
        assert_eq!(compat(STATE, &text).unwrap_err().to_string(), "Expected string for ReasoningEffort, got: 123");
        assert_eq!(decode(STATE, &text).unwrap_err().at_path(), "completionOptions.reasoning");
    }
}

mod completion_options {
    use super::*;

    fn options(text: &str) -> turnkeep_model::Options {
        session(STATE, text).0.options
    }

    fn number(number: &Option<turnkeep_model::Number>) -> Option<String> {
        number.as_ref().map(ToString::to_string)
    }

    #[test]
    fn keeps_the_basic_fields() {
        let text = OLD.replace("0.7", "0.5").replace("\"maxTokens\":null", "\"maxTokens\":1000");

        let options = options(&rewrite(STATE, &text).0);

        assert_eq!(number(&options.temperature).as_deref(), Some("0.5"));
        assert_eq!(number(&options.top_p).as_deref(), Some("1.0"));
        assert_eq!(number(&options.max_tokens).as_deref(), Some("1000"));
        assert_eq!(number(&options.presence_penalty).as_deref(), Some("0.0"));
        assert_eq!(number(&options.frequency_penalty).as_deref(), Some("0.0"));
    }

    #[test]
    fn keeps_reasoning() {
        let text = rewrite(STATE, &with_options("\"reasoning\":\"high\"")).0;
        assert_eq!(options(&text).reasoning, Some(Effort::High));
    }

    #[test]
    fn keeps_budget_tokens() {
        let text = rewrite(STATE, &with_options("\"budgetTokens\":16000")).0;
        assert_eq!(number(&options(&text).budget_tokens).as_deref(), Some("16000"));
    }

    #[test]
    fn keeps_both() {
        let text = rewrite(STATE, &with_options("\"reasoning\":\"low\",\"budgetTokens\":8000")).0;
        let options = options(&text);
        assert_eq!(
            (options.reasoning.clone(), number(&options.budget_tokens)),
            (Some(Effort::Low), Some("8000".to_owned()))
        );
    }

    #[test]
    fn unset_reasoning_is_null() {
        let (text, _) = encode(STATE, &Session::default());
        assert_eq!(at(&parse(&text), "completionOptions.reasoning").to_text(), "null");
        assert_eq!(options(&text).reasoning, None);
    }

    #[test]
    fn unset_budget_tokens_are_null() {
        let (text, _) = encode(STATE, &Session::default());
        assert_eq!(at(&parse(&text), "completionOptions.budgetTokens").to_text(), "null");
        assert_eq!(options(&text).budget_tokens, None);
    }
}

mod agent_state {
    use super::*;

    #[test]
    fn round_trips_a_basic_state() {
        let text = super::super::fixture(STATE, "01_basic_complete");

        let (session, losses) = session(STATE, &text);

        assert_eq!(losses, []);
        assert_eq!(session.initial_query.as_deref(), Some("Hello"));
        assert_eq!(session.status, Some(Status::Completed(states::Completed {})));
        assert_eq!(session.logs, ["Step 1", "Step 2"]);
        let said: Vec<_> =
            session.blocks().map(|(_, block)| (block.author.clone(), block.body.as_text().unwrap())).collect();
        let expected = [(Author::System, "You are helpful"), (Author::User, "Hello"), (Author::Assistant, "Hi there!")];
        assert_eq!(said, expected);
        assert_eq!(encode(STATE, &session), (text, vec![]));
    }

    #[test]
    fn round_trips_every_option() {
        let text = super::super::fixture(STATE, "04_reasoning_high_budget");
        assert_eq!(rewrite(STATE, &text), (text, vec![]));
    }

    #[test]
    fn round_trips_tool_messages() {
        let text = super::super::fixture(STATE, "old_2025-11_no_reasoning_no_usage");
        let (session, _) = session(STATE, &text);
        let kinds: Vec<_> = session.blocks().map(|(_, block)| block.body.kind().to_owned()).collect();
        assert_eq!(kinds, ["text", "text", "tool_call", "tool_result", "text"]);
        assert_eq!(rewrite(STATE, &text), (text, vec![]));
    }
}

mod agent_status {
    use super::*;

    fn check(word: &str, status: Status) {
        assert_eq!(session(STATE, &with_status(word)).0.status, Some(status.clone()));
        let session = Session { status: Some(status), ..Session::default() };
        assert_eq!(at(&parse(&encode(STATE, &session).0), "status").to_text(), word);
    }

    #[test]
    fn in_progress() {
        check("\"InProgress\"", Status::InProgress(states::InProgress {}));
    }

    #[test]
    fn waiting_for_tools() {
        check("\"WaitingForTools\"", Status::WaitingForTools(states::WaitingForTools {}));
    }

    #[test]
    fn complete() {
        check("\"Complete\"", Status::Completed(states::Completed {}));
    }

    #[test]
    fn failed_with_its_error() {
        let failed = Status::Failed(states::Failed { error: "Something went wrong".to_owned() });
        check(r#"{"type":"Failed","error":"Something went wrong"}"#, failed);
    }

    #[test]
    fn round_trips_every_status() {
        for status in ["\"InProgress\"", "\"WaitingForTools\"", "\"Complete\"", r#"{"type":"Failed","error":"e"}"#] {
            let text = with_status(status);
            assert_eq!(rewrite(STATE, &text), (text, vec![]));
        }
    }
}

#[test]
fn a_state_without_reasoning_fields_loads() {
    let (session, losses) = session(STATE, OLD);

    assert_eq!((session.options.reasoning, session.options.budget_tokens, losses), (None, None, vec![]));
}

mod message {
    use super::*;

    fn blocks(message: &str) -> Vec<(Author, Body)> {
        let text = with_messages(message);
        assert_eq!(rewrite(STATE, &text), (text.clone(), vec![]));
        let (session, _) = session(STATE, &text);
        session.blocks().map(|(_, block)| (block.author.clone(), block.body.clone())).collect()
    }

    #[test]
    fn user() {
        let blocks = blocks(r#"{"type":"user","content":"Hello"}"#);
        assert_eq!(blocks[0].0, Author::User);
        assert_eq!(blocks[0].1.as_text(), Some("Hello"));
    }

    #[test]
    fn system() {
        let blocks = blocks(r#"{"type":"system","content":"Be brief"}"#);
        assert_eq!(blocks[0].0, Author::System);
        assert_eq!(blocks[0].1.as_text(), Some("Be brief"));
    }

    #[test]
    fn assistant_with_text() {
        let blocks = blocks(r#"{"type":"assistant","data":{"contentOpt":"Hi","toolCalls":[]}}"#);
        assert_eq!(blocks[0].0, Author::Assistant);
        assert_eq!(blocks[0].1.as_text(), Some("Hi"));
    }

    #[test]
    fn assistant_with_two_calls() {
        let call = |id: &str| format!(r#"{{"id":"{id}","name":"t","arguments":{{"a":1.50}}}}"#);
        let blocks = blocks(&format!(
            r#"{{"type":"assistant","data":{{"contentOpt":"Hi","toolCalls":[{},{}]}}}}"#,
            call("a"),
            call("b")
        ));
        let calls: Vec<_> = blocks.iter().filter(|(_, body)| matches!(body, Body::ToolCall(_))).collect();
        assert_eq!(calls.len(), 2);
        assert!(matches!(&calls[1].1, Body::ToolCall(call) if call.arguments == r#"{"a":1.50}"#));
    }

    #[test]
    fn tool() {
        let blocks = blocks(r#"{"type":"tool","toolCallId":"call_1","content":"Sunny"}"#);
        let Body::ToolResult(result) = &blocks[0].1 else { panic!("no result") };
        assert_eq!(result.call.as_given(), Some("call_1"));
        assert!(matches!(&result.parts[..], [turnkeep_model::Part::Text(text)] if text.text == "Sunny"));
    }
}

mod conversation {
    use super::*;

    #[test]
    fn empty() {
        let text = super::super::fixture(STATE, "03_empty_conversation");
        assert_eq!(session(STATE, &text).0.turns, []);
        assert_eq!(rewrite(STATE, &text), (text, vec![]));
    }

    #[test]
    fn of_five_messages() {
        let text = with_messages(
            r#"{"type":"system","content":"s"},{"type":"user","content":"u"},{"type":"assistant","data":{"contentOpt":null,"toolCalls":[{"id":"c","name":"t","arguments":{}}]}},{"type":"tool","toolCallId":"c","content":"r"},{"type":"assistant","data":{"contentOpt":"a","toolCalls":[]}}"#,
        );
        let (session, _) = session(STATE, &text);
        let authors: Vec<_> = session.blocks().map(|(_, block)| block.author.as_str().to_owned()).collect();
        assert_eq!(authors, ["system", "user", "assistant", "tool", "assistant"]);
        assert_eq!(session.turns.len(), 2);
        assert_eq!(rewrite(STATE, &text), (text, vec![]));
    }
}
