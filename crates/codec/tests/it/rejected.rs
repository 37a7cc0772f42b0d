//! Recorded rejections that are about the shape of a request: the rules say the same.

use turnkeep_codec::Input;
use turnkeep_codec::lint::{Strictness, lint};

use crate::recorded::recorded;

/// A recorded request, whose rules it breaks, and which of them. Part of them may not be in the corpus at hand.
const REJECTED: &[(&str, &str, &str, &str)] = &[
    ("anthropic", "anthropic/00060", "anthropic.messages", "AN-TEMPRANGE"),
    ("anthropic", "anthropic/00590", "anthropic.messages", "AN-STRICT"),
    ("anthropic", "anthropic/00604", "anthropic.messages", "AN-SCHEMA"),
    ("anthropic", "anthropic/00650", "anthropic.messages", "AN-SCHEMA"),
    ("anthropic", "anthropic/00844", "anthropic.messages", "AN-SHAPE"),
    ("anthropic", "anthropic/01489", "anthropic.messages", "AN-NOCONTENT"),
    ("anthropic", "anthropic/01748", "anthropic.messages", "AN-PREFILL"),
    ("anthropic", "anthropic/01967", "anthropic.messages", "AN-TEXTAFTER"),
    ("anthropic", "anthropic/03487", "anthropic.messages", "AN-EFFORT"),
    ("openai-chat", "openai-chat/00180", "openai.chat", "OC-TEMP"),
    ("openai-chat", "openai-chat/00963", "openai.chat", "OC-STOP"),
    ("openai-chat", "openai-chat/01316", "openai.chat", "OC-STRICT"),
    ("openai-chat", "openai-chat/03841", "openai.chat", "OC-PARTTYPE"),
    ("openai-chat", "openai-chat/03962", "openai.chat", "OC-STOP"),
    ("openai-chat", "openai-chat/05848", "openai.chat", "OC-NOSYSTEM"),
    ("openai-chat", "openai-chat/05850", "openai.chat", "OC-NOSYSTEM"),
    ("openai-chat", "openai-compat/00031", "openai.chat:llamacpp", "OC-TEMP"),
    ("openai-chat", "doubleword/00048", "openai.chat:vllm", "OC-TEMP"),
    ("openai-chat", "deepseek/00275", "openai.chat:deepseek", "DS-MODAL"),
    ("openai-chat", "deepseek/00303", "openai.chat:deepseek", "DS-MODAL"),
    ("openai-chat", "deepseek/00296", "openai.chat:deepseek", "DS-CHOICE"),
    ("openai-chat", "deepseek/00298", "openai.chat:deepseek", "DS-CHOICE"),
    ("openai-responses", "openai-responses/01022", "openai.responses", "OR-STRICT"),
    ("openai-responses", "openai-responses/01107", "openai.responses", "OR-EFFORT"),
    ("openai-responses", "openai-responses/03879", "openai.responses", "OR-FILE"),
    ("openai-responses", "openai-responses/03910", "openai.responses", "OR-FILE"),
    ("openai-responses", "openai-responses/04072", "openai.responses", "OR-TEMP"),
    ("openai-responses", "openai-responses/04171", "openai.responses", "OR-REASON-TAIL"),
    ("openai-responses", "responses-compat/00163", "openai.responses:deepseek", "OR-INTERLEAVE"),
    ("gemini", "gemini/02064", "gemini.contents", "GE-EMPTY"),
    ("gemini", "gemini-vertex/00171", "gemini.contents", "GE-ROLE"),
    ("gemini", "gemini-vertex/00173", "gemini.contents", "GE-TEMP"),
];

#[test]
fn what_vendors_rejected_for_its_shape_is_found() {
    let (mut there, mut missed) = (0, Vec::new());
    for dialect in ["anthropic", "openai-chat", "openai-responses", "gemini"] {
        let all = recorded(dialect, "what_vendors_rejected_for_its_shape_is_found");
        for (_, id, target, rule) in REJECTED.iter().filter(|(own, ..)| *own == dialect) {
            let Some(record) = all.iter().find(|record| record.id == *id) else { continue };
            there += 1;
            let found = lint(Input::new(&record.bytes()), target, Strictness::Lax).unwrap();
            if !found.iter().any(|finding| finding.rule == *rule) {
                let rules: Vec<_> = found.iter().map(|finding| finding.rule).collect();
                missed.push(format!("{id}: {rule} not among {rules:?}; {:.200}", record.error));
            }
        }
    }
    println!("{there} recorded rejections about shape, {} missed", missed.len());
    assert!(missed.is_empty(), "{missed:#?}");
}
