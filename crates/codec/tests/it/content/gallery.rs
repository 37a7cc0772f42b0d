//! Bodies of every wire, made of the blocks that its vendor documents: what no session of ours would produce too.
//!
//! In the tables `$T` is a text, `$W` one without quotes, `$B` are bytes in base64, `$F` is a text file in base64, `$U` an address, `$N` a name
//! and `$I` the id of a call. Every text and every file is a different one, so that none stands in for another.

use proptest::prelude::*;
use proptest::{collection, sample};
use turnkeep_model::Json;
use turnkeep_model::json;

/// The blocks of one wire.
#[derive(Debug, Clone, Copy)]
struct Gallery {
    wire: &'static str,
    /// Parts of what a user says.
    user: &'static [&'static str],
    /// Parts of what the model says.
    model: &'static [&'static str],
    /// A call, and its result.
    rounds: &'static [(&'static str, &'static str)],
    /// Puts the parts of messages together.
    body: fn(&[Step]) -> String,
}

/// What happens next in a conversation.
#[derive(Debug, Clone)]
enum Step {
    User(Vec<String>),
    Model(Vec<String>),
    Round(Vec<(String, String)>),
}

/// A wire, and a body of it.
pub(super) fn body() -> BoxedStrategy<(&'static str, Json)> {
    sample::select(GALLERIES).prop_flat_map(gallery_body).boxed()
}

fn gallery_body(gallery: Gallery) -> BoxedStrategy<(&'static str, Json)> {
    let parts = |from: &'static [&'static str]| collection::vec(sample::select(from), 1..4);
    let owned = |parts: Vec<&str>| parts.into_iter().map(str::to_owned).collect();
    let step = prop_oneof![
        2 => parts(gallery.user).prop_map(move |parts| Step::User(owned(parts))),
        2 => parts(gallery.model).prop_map(move |parts| Step::Model(owned(parts))),
        2 => collection::vec(sample::select(gallery.rounds), 1..3)
            .prop_map(|rounds| Step::Round(rounds.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect())),
    ];
    collection::vec(step, 1..5)
        .prop_map(move |steps| {
            let mut numbers = Numbers::default();
            let steps: Vec<Step> = steps.into_iter().map(|step| numbers.fill_step(step)).collect();
            let text = (gallery.body)(&steps);
            (gallery.wire, json::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}")).into_json())
        })
        .boxed()
}

/// Fills the tables: nothing is said twice.
#[derive(Default)]
struct Numbers(usize);

impl Numbers {
    fn fill_step(&mut self, step: Step) -> Step {
        match step {
            Step::User(parts) => Step::User(parts.iter().map(|part| self.fill(part)).collect()),
            Step::Model(parts) => Step::Model(parts.iter().map(|part| self.fill(part)).collect()),
            Step::Round(rounds) => Step::Round(rounds.iter().map(|(call, result)| self.round(call, result)).collect()),
        }
    }

    fn round(&mut self, call: &str, result: &str) -> (String, String) {
        let id = format!("call_{:05}", self.next());
        (self.fill(&call.replace("$I", &id)), self.fill(&result.replace("$I", &id)))
    }

    fn next(&mut self) -> usize {
        self.0 += 1;
        self.0
    }

    fn fill(&mut self, template: &str) -> String {
        let mut filled = template.to_owned();
        while let Some(at) = filled.find('$') {
            let number = self.next();
            let word = match &filled[at + 1..at + 2] {
                "T" => format!("word {number:05} of \\\"it\\\""),
                "W" => format!("plain word {number:05}"),
                "B" => format!("iVBORw0KGgo{number:05}"),
                // Four letters of base64 are three of text: `fil`, `e 0`, then the number.
                "F" => format!("ZmlsZSAw{}", base64(&format!("{number:06}"))),
                "U" => format!("https://example.org/{number:05}"),
                "N" => format!("tool_{number:05}"),
                other => panic!("${other} in {template}"),
            };
            filled.replace_range(at..at + 2, &word);
        }
        filled
    }
}

fn base64(digits: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u32> = digits.bytes().map(u32::from).collect();
    let letters = bytes.chunks(3).flat_map(|chunk| {
        let bits = chunk.iter().fold(0, |bits, byte| bits << 8 | byte);
        [18, 12, 6, 0].map(|shift| char::from(LETTERS[(bits >> shift & 63) as usize]))
    });
    letters.collect()
}

const GALLERIES: &[Gallery] = &[
    Gallery {
        wire: "anthropic.messages",
        user: &[
            r#"{"type":"text","text":"$T"}"#,
            r#"{"text":"$T","type":"text"}"#,
            r#"{"type":"text","text":""}"#,
            r#"{"type":"text","text":"$T","cache_control":{"type":"ephemeral"}}"#,
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"$B"}}"#,
            r#"{"source":{"data":"$B","media_type":"image/png","type":"base64"},"type":"image"}"#,
            r#"{"type":"image","source":{"type":"url","url":"$U.png"}}"#,
            r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"$B"}}"#,
            r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"$T"},"title":"a.txt"}"#,
            r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"$T"},"context":"$T"}"#,
            r#"{"type":"document","source":{"type":"url","url":"$U"},"citations":{"enabled":true}}"#,
            r#"{"type":"document","source":{"type":"content","content":[{"type":"text","text":"$T"},{"type":"image",
                "source":{"type":"base64","media_type":"image/png","data":"$B"}}]},"title":"b"}"#,
            r#"{"type":"document","source":{"type":"content","content":"$T"}}"#,
            r#"{"type":"search_result","source":"$U","title":"t","content":[{"type":"text","text":"$T"},
                {"type":"text","text":"$T"}]}"#,
        ],
        model: &[
            r#"{"type":"text","text":"$T"}"#,
            r#"{"type":"text","text":"$T","citations":[{"type":"char_location","cited_text":"c","document_index":0}]}"#,
            r#"{"type":"thinking","thinking":"$T","signature":"c2ln"}"#,
            r#"{"type":"redacted_thinking","data":"Z2VoZWlt"}"#,
            r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"$T"}},
                {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result",
                "url":"$U","title":"t","encrypted_content":"ZQ==","page_age":"1 day"}]}"#,
        ],
        rounds: &[
            (
                r#"{"type":"tool_use","id":"$I","name":"$N","input":{"a":"$T"}}"#,
                r#"{"type":"tool_result","tool_use_id":"$I","content":"$T"}"#,
            ),
            (
                r#"{"type":"tool_use","id":"$I","name":"$N","input":{}}"#,
                r#"{"type":"tool_result","tool_use_id":"$I","content":[{"type":"text","text":"$T"},
                    {"type":"image","source":{"type":"base64","media_type":"image/png","data":"$B"}}]}"#,
            ),
            (
                r#"{"type":"tool_use","id":"$I","name":"$N","input":{"b":["$T"]},"cache_control":{"type":"ephemeral"}}"#,
                r#"{"type":"tool_result","tool_use_id":"$I","content":[{"source":{"data":"$B","media_type":"image/png",
                    "type":"base64"},"type":"image"}],"cache_control":{"type":"ephemeral"}}"#,
            ),
            (
                r#"{"type":"tool_use","id":"$I","name":"$N","input":{}}"#,
                r#"{"type":"tool_result","tool_use_id":"$I","is_error":true,"content":[{"type":"text","text":"$T",
                    "cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"document","source":{"type":"text",
                    "media_type":"text/plain","data":"$T"}},{"type":"document","title":"d","source":{"type":"base64",
                    "media_type":"application/pdf","data":"$B"}}]}"#,
            ),
            (
                r#"{"type":"tool_use","id":"$I","name":"$N","input":{}}"#,
                r#"{"type":"tool_result","tool_use_id":"$I","content":[{"type":"search_result","source":"$U",
                    "title":"t","content":[{"type":"text","text":"$T"}]},{"type":"tool_reference","tool_name":"x"}]},
                    {"type":"text","text":"$T"},
                    {"type":"image","source":{"type":"base64","media_type":"image/png","data":"$B"}}"#,
            ),
        ],
        body: |steps| {
            let text = listed(steps, |role, parts| format!(r#"{{"role":"{role}","content":[{parts}]}}"#), "assistant");
            format!(r#"{{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{text}]}}"#)
        },
    },
    Gallery {
        wire: "bedrock.converse",
        user: &[
            r#"{"text":"$T"}"#,
            r#"{"cachePoint":{"type":"default"}}"#,
            r#"{"image":{"format":"png","source":{"bytes":"$B"}}}"#,
            r#"{"image":{"source":{"bytes":"$B"},"format":"png"}}"#,
            r#"{"document":{"format":"pdf","name":"a","source":{"bytes":"$B"}}}"#,
            r#"{"document":{"format":"csv","name":"b","source":{"bytes":"$F"}}}"#,
            r#"{"document":{"format":"txt","name":"c","source":{"text":"$T"}}}"#,
            r#"{"document":{"name":"d","source":{"content":[{"text":"$T"},{"text":"$T"}]},"format":"txt"}}"#,
            r#"{"document":{"format":"txt","name":"e","source":{"text":"$T"},"context":"$T"}}"#,
            r#"{"guardContent":{"text":{"text":"$T","qualifiers":["query"]}}}"#,
            r#"{"video":{"format":"mp4","source":{"bytes":"$B"}}}"#,
            r#"{"searchResult":{"source":"$U","title":"t","content":[{"text":"$T"}],"citations":{"enabled":true}}}"#,
        ],
        model: &[
            r#"{"text":"$T"}"#,
            r#"{"citationsContent":{"content":[{"text":"$T"},{"text":"$T"}],"citations":[{"title":"t","sourceContent":
                [{"text":"s"}],"location":{"documentChar":{"documentIndex":0,"start":1,"end":2}}}]}}"#,
            r#"{"reasoningContent":{"reasoningText":{"text":"$T","signature":"c2ln"}}}"#,
            r#"{"toolUse":{"toolUseId":"srv_1","name":"nova_grounding","type":"server_tool_use","input":{"q":"$T"}}},
                {"toolResult":{"toolUseId":"srv_1","type":"nova_grounding_result","content":[{"text":"$T"}],
                "status":"success"}}"#,
        ],
        rounds: &[
            (
                r#"{"toolUse":{"toolUseId":"$I","name":"$N","input":{"a":"$T"}}}"#,
                r#"{"toolResult":{"toolUseId":"$I","content":[{"text":"$T"},{"json":{"id":"$T"}}],"status":"success"}}"#,
            ),
            (
                r#"{"toolUse":{"toolUseId":"$I","name":"$N","input":{}}}"#,
                r#"{"toolResult":{"toolUseId":"$I","content":[{"image":{"source":{"bytes":"$B"},"format":"png"}},
                    {"document":{"format":"csv","name":"f","source":{"bytes":"$F"}}}]}}, {"text":"$T"}"#,
            ),
            (
                r#"{"toolUse":{"toolUseId":"$I","name":"$N","input":{}}}"#,
                r#"{"toolResult":{"toolUseId":"$I","content":[{"document":{"name":"g","source":{"text":"$T"},
                    "format":"txt"}},{"video":{"format":"mp4","source":{"bytes":"$B"}}},{"searchResult":{"source":"$U",
                    "title":"t","content":[{"text":"$T"}]}}],"status":"error"}}"#,
            ),
        ],
        body: |steps| {
            let text = listed(steps, |role, parts| format!(r#"{{"role":"{role}","content":[{parts}]}}"#), "assistant");
            format!(r#"{{"modelId":"amazon.nova-pro-v1:0","system":[{{"text":"be kind"}}],"messages":[{text}]}}"#)
        },
    },
    Gallery {
        wire: "gemini.contents",
        user: &[
            r#"{"text":"$T"}"#,
            r#"{"text":""}"#,
            r#"{"inlineData":{"mimeType":"image/png","data":"$B"}}"#,
            r#"{"inline_data":{"mime_type":"image/png","data":"$B"}}"#,
            r#"{"inlineData":{"data":"$F","mimeType":"text/csv"}}"#,
            r#"{"fileData":{"mimeType":"application/pdf","fileUri":"$U"}}"#,
            r#"{"inlineData":{"mimeType":"audio/wav","data":"$B"}}"#,
            r#"{"inlineData":{"mimeType":"video/mp4","data":"$B"},"videoMetadata":{"fps":1}}"#,
        ],
        model: &[
            r#"{"text":"$T"}"#,
            r#"{"text":"$T","thought":true}"#,
            r#"{"text":"$T","thoughtSignature":"c2ln"}"#,
            r#"{"executableCode":{"language":"PYTHON","code":"$T"}},
                {"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"$T"}}"#,
            r#"{"inlineData":{"mimeType":"image/png","data":"$B"}}"#,
        ],
        rounds: &[
            (
                r#"{"functionCall":{"id":"$I","name":"$N","args":{"a":"$T"}}}"#,
                r#"{"functionResponse":{"id":"$I","name":"n","response":{"output":"$T"}}}"#,
            ),
            (
                r#"{"functionCall":{"id":"$I","name":"$N","args":{}}}"#,
                r#"{"functionResponse":{"id":"$I","name":"n","response":{"id":"$T","list":["$T"]},"parts":[
                    {"inlineData":{"mimeType":"image/png","data":"$B"}},
                    {"inlineData":{"displayName":"a.png","mimeType":"image/png","data":"$B"}}]}}"#,
            ),
            (
                r#"{"functionCall":{"id":"$I","name":"$N","args":{}}}"#,
                r#"{"functionResponse":{"parts":[{"fileData":{"fileUri":"$U","mimeType":"application/pdf"}},
                    {"inline_data":{"mime_type":"image/png","data":"$B"}}],"id":"$I","name":"n","response":{}}}"#,
            ),
        ],
        body: |steps| {
            let text = listed(steps, |role, parts| format!(r#"{{"role":"{role}","parts":[{parts}]}}"#), "model");
            format!(r#"{{"systemInstruction":{{"parts":{{"text":"be brief"}}}},"contents":[{text}]}}"#)
        },
    },
    Gallery {
        wire: "openai.chat",
        user: &[
            r#"{"type":"text","text":"$T"}"#,
            r#"{"text":"$T","type":"text"}"#,
            r#"{"type":"text","text":""}"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,$B"}}"#,
            r#"{"image_url":{"detail":"low","url":"$U.png"},"type":"image_url"}"#,
            r#"{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,$B"}}"#,
            r#"{"type":"file","file":{"filename":"b.csv","file_data":"data:text/csv;base64,$F"}}"#,
            r#"{"type":"file","file":{"filename":"c.pdf","file_data":"$U"}}"#,
            r#"{"type":"input_audio","input_audio":{"data":"$B","format":"wav"}}"#,
            r#"{"type":"video_url","video_url":{"url":"$U.mp4"}}"#,
            r#"{"type":"document_url","document_url":"$U"}"#,
        ],
        model: &[r#"{"type":"text","text":"$T"}"#, r#"{"type":"refusal","refusal":"$T"}"#],
        rounds: &[
            (
                r#"{"id":"$I","type":"function","function":{"name":"$N","arguments":"{\"id\":\"$W\"}"}}"#,
                r#"{"role":"tool","tool_call_id":"$I","content":"$T"}"#,
            ),
            (
                r#"{"id":"$I","type":"function","function":{"name":"$N","arguments":"not an object $W"}}"#,
                r#"{"role":"tool","tool_call_id":"$I","content":[{"type":"text","text":"$T"},
                    {"image_url":{"url":"data:image/png;base64,$B"},"type":"image_url"}]}"#,
            ),
            (
                r#"{"id":"$I","type":"custom","custom":{"name":"$N","input":"$T"}}"#,
                r#"{"role":"tool","content":{"odd":["$T"]},"tool_call_id":"$I"}"#,
            ),
        ],
        body: chat_body,
    },
    Gallery {
        wire: "openai.responses",
        user: &[
            r#"{"type":"input_text","text":"$T"}"#,
            r#"{"text":"$T","type":"input_text"}"#,
            r#"{"type":"input_image","image_url":"data:image/png;base64,$B"}"#,
            r#"{"detail":"auto","image_url":"$U.png","type":"input_image"}"#,
            r#"{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,$B"}"#,
            r#"{"type":"input_file","filename":"b.csv","file_data":"data:text/csv;base64,$F"}"#,
            r#"{"type":"input_file","file_url":"$U"}"#,
        ],
        model: &[
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"$T","annotations":[]}]}"#,
            r#"{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"$T"}]}"#,
            r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"$T"}]}"#,
            r#"{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"$T"}}"#,
            r#"{"type":"code_interpreter_call","id":"ci_1","code":"$T","outputs":[{"type":"logs","logs":"$T"}]}"#,
            r#"{"type":"mcp_call","id":"mcp_1","name":"m","server_label":"s","arguments":"{}","output":"$T"}"#,
            r#"{"type":"image_generation_call","id":"ig_1","status":"completed","result":"$B"}"#,
        ],
        rounds: &[
            (
                r#"{"type":"function_call","call_id":"$I","name":"$N","arguments":"{\"id\":\"$W\"}"}"#,
                r#"{"type":"function_call_output","call_id":"$I","output":"$T"}"#,
            ),
            (
                r#"{"type":"function_call","call_id":"$I","name":"$N","arguments":"{}"}"#,
                r#"{"output":[{"text":"$T","type":"input_text"},{"image_url":"data:image/png;base64,$B",
                    "type":"input_image"},{"type":"input_file","filename":"a.csv","file_data":
                    "data:text/csv;base64,$F"}],"type":"function_call_output","call_id":"$I"}"#,
            ),
            (
                r#"{"type":"custom_tool_call","call_id":"$I","name":"$N","input":"$T"}"#,
                r#"{"type":"custom_tool_call_output","call_id":"$I","output":"$T"}"#,
            ),
        ],
        body: responses_body,
    },
    Gallery {
        wire: "ollama.chat",
        user: &[
            r#"{"role":"user","content":"$T"}"#,
            r#"{"role":"user","content":""}"#,
            r#"{"role":"user","content":"$T","images":["$B","$B"]}"#,
            r#"{"role":"system","content":"$T"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"$T"},{"type":"image_url","image_url":{"url":
                "data:image/png;base64,$B"}}]}"#,
        ],
        model: &[r#"{"role":"assistant","content":"$T"}"#, r#"{"role":"assistant","content":"$T","thinking":"$T"}"#],
        rounds: &[
            (
                r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"$N","arguments":{"id":"$T"}}}]}"#,
                r#"{"role":"tool","content":"$T","tool_name":"n"}"#,
            ),
            (
                r#"{"role":"assistant","content":"$T","tool_calls":[{"id":"$I","function":{"name":"$N","arguments":{}}}]}"#,
                r#"{"role":"tool","content":"$T","images":["$B"],"tool_call_id":"$I"}"#,
            ),
        ],
        body: |steps| {
            let messages = steps.iter().map(|step| match step {
                Step::User(parts) | Step::Model(parts) => parts.join(","),
                Step::Round(rounds) => {
                    rounds.iter().map(|(call, result)| format!("{call},{result}")).collect::<Vec<_>>().join(",")
                }
            });
            format!(r#"{{"model":"llama3.2","messages":[{}]}}"#, messages.collect::<Vec<_>>().join(","))
        },
    },
];

/// Messages of parts, the results of an answer's calls in the one after it.
fn listed(steps: &[Step], message: fn(&str, &str) -> String, model: &str) -> String {
    let messages = steps.iter().flat_map(|step| match step {
        Step::User(parts) => vec![message("user", &parts.join(","))],
        Step::Model(parts) => vec![message(model, &parts.join(","))],
        Step::Round(rounds) => {
            let (calls, results): (Vec<_>, Vec<_>) = rounds.iter().cloned().unzip();
            vec![message(model, &calls.join(",")), message("user", &results.join(","))]
        }
    });
    messages.collect::<Vec<_>>().join(",")
}

fn chat_body(steps: &[Step]) -> String {
    let messages = steps.iter().map(|step| match step {
        Step::User(parts) => format!(r#"{{"role":"user","content":[{}]}}"#, parts.join(",")),
        Step::Model(parts) => format!(r#"{{"role":"assistant","content":[{}]}}"#, parts.join(",")),
        Step::Round(rounds) => {
            let (calls, results): (Vec<_>, Vec<_>) = rounds.iter().cloned().unzip();
            let calls = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, calls.join(","));
            format!("{calls},{}", results.join(","))
        }
    });
    format!(r#"{{"model":"gpt-4o","messages":[{}]}}"#, messages.collect::<Vec<_>>().join(","))
}

fn responses_body(steps: &[Step]) -> String {
    let items = steps.iter().map(|step| match step {
        Step::User(parts) => format!(r#"{{"role":"user","content":[{}]}}"#, parts.join(",")),
        Step::Model(items) => items.join(","),
        Step::Round(rounds) => {
            let (calls, results): (Vec<_>, Vec<_>) = rounds.iter().cloned().unzip();
            format!("{},{}", calls.join(","), results.join(","))
        }
    });
    format!(r#"{{"model":"gpt-4.1","input":[{}]}}"#, items.collect::<Vec<_>>().join(","))
}
