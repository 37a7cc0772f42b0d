//! What a model answered when it was asked for a summary.

use turnkeep_model::json::{Json, json5};
use turnkeep_model::{ShortExchange, Summary};

/// The summary in a reply: `{"summary": "…"}`, or a history of questions and answers, which stay such. JSON5 is understood, and so is a
/// fence of backticks around it.
///
/// # Errors
/// What is wrong with it, without its words.
pub fn read_reply(reply: &str) -> Result<Summary, String> {
    let text = unfenced(reply.trim());
    let parsed = json5::parse(text).map_err(|_| "its answer is no JSON, or was cut off".to_owned())?;
    let value = parsed.node.into_json();
    let fields = value.as_object().ok_or_else(|| "its answer is no JSON object".to_owned())?;
    match (fields.get("summary"), fields.get("history")) {
        (Some(summary), _) => text_of(summary, "`summary` in its answer is no text").map(Summary::from),
        (None, Some(Json::Array(items))) => items.iter().map(exchange).collect::<Result<Vec<_>, _>>().map(joined),
        (None, Some(_)) => Err("`history` in its answer is no list".to_owned()),
        (None, None) => Err("its answer has neither `summary` nor `history`".to_owned()),
    }
}

/// What stands between a fence of backticks, or all of it.
fn unfenced(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.trim_end().strip_suffix("```")) else {
        return text;
    };
    // The first line may name the language.
    inner.split_once('\n').map_or(inner, |(_, body)| body).trim()
}

fn exchange(item: &Json) -> Result<ShortExchange, String> {
    let wrong = "an item of `history` in its answer has no question or no answer";
    let fields = item.as_object().ok_or_else(|| wrong.to_owned())?;
    let side = |key: &str| fields.get(key).map_or_else(|| Err(wrong.to_owned()), |side| text_of(side, wrong));
    Ok(ShortExchange { question: side("question")?, answer: side("answer")?, ..ShortExchange::default() })
}

/// The exchanges, and the same as one text for whoever knows none.
fn joined(exchanges: Vec<ShortExchange>) -> Summary {
    let lines = exchanges.iter().map(|short| format!("User: {}\nAssistant: {}", short.question, short.answer));
    Summary { text: lines.collect::<Vec<_>>().join("\n"), exchanges, ..Summary::default() }
}

fn text_of(value: &Json, wrong: &str) -> Result<String, String> {
    value.as_str().map(std::borrow::Cow::into_owned).ok_or_else(|| wrong.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_as_models_write_them() {
        let good = [
            (r#"{"summary": "They met."}"#, "They met."),
            ("```json\n{\"summary\": \"They met.\"}\n```", "They met."),
            ("{summary: 'They met.', /* short */ }", "They met."),
        ];
        for (reply, summary) in good {
            assert_eq!(read_reply(reply), Ok(Summary::from(summary)), "{reply}");
        }
    }

    #[test]
    fn a_history_keeps_its_exchanges() {
        let reply =
            r#"{"temperature": 1, "history": [{"question": "Q", "answer": "A"}, {"question": "R", "answer": "B"}]}"#;

        let short = |question: &str, answer: &str| ShortExchange {
            question: question.into(),
            answer: answer.into(),
            ..ShortExchange::default()
        };
        let exchanges = vec![short("Q", "A"), short("R", "B")];
        let text = "User: Q\nAssistant: A\nUser: R\nAssistant: B".to_owned();
        assert_eq!(read_reply(reply), Ok(Summary { text, exchanges, ..Summary::default() }));
    }

    #[test]
    fn what_is_no_summary_is_named_without_its_words() {
        let bad = [
            ("They met.", "its answer is no JSON, or was cut off"),
            (r#"{"summary": "They m"#, "its answer is no JSON, or was cut off"),
            (r#"["They met."]"#, "its answer is no JSON object"),
            (r#"{"summary": 7}"#, "`summary` in its answer is no text"),
            (r#"{"history": {}}"#, "`history` in its answer is no list"),
            (r#"{"history": [{"question": "Q"}]}"#, "an item of `history` in its answer has no question or no answer"),
            ("{}", "its answer has neither `summary` nor `history`"),
            ("", "its answer is no JSON, or was cut off"),
        ];
        for (reply, why) in bad {
            assert_eq!(read_reply(reply), Err(why.to_owned()), "{reply}");
        }
    }
}
