//! The laws of codecs, for every registered format.

use turnkeep_testkit::laws;

mod all {
    use turnkeep_codec::format;

    turnkeep_testkit::codec_laws! {
        turnkeep = "turnkeep",
        turnkeep_yaml = "turnkeep.yaml",
        turnkeep_jsonl = "turnkeep.jsonl",
        geppetto_turn = "geppetto.turn",
        geppetto_fixture = "geppetto.fixture",
        geppetto_store = "geppetto.store",
        llm4s_state = "llm4s.state",
        llm4s_session = "llm4s.session",
        wink_conversation = "wink.conversation",
        wink_snapshot = "wink.snapshot",
        wink_composite = "wink.composite",
        wink_slice = "wink.slice",
        wink_bundle = "wink.bundle",
        wink_transcript = "wink.transcript",
        cognesy_slim = "cognesy.slim",
        cognesy_state = "cognesy.state",
        cognesy_continuation = "cognesy.continuation",
        cognesy_session = "cognesy.session",
        cognesy_jsonl = "cognesy.jsonl",
        lucee_session = "lucee.session",
        openai_chat = "openai.chat",
        openai_responses = "openai.responses",
        anthropic_messages = "anthropic.messages",
        gemini_contents = "gemini.contents",
        ollama_chat = "ollama.chat",
        bedrock_converse = "bedrock.converse",
    }

    #[test]
    fn every_format_that_is_read_is_under_the_laws() {
        super::laws::check_list(UNDER_LAWS, |id| format::by_id(id).is_ok_and(|codec| codec.spec().reads));
    }
}

mod native {
    turnkeep_testkit::native_laws! {
        turnkeep = "turnkeep",
        turnkeep_yaml = "turnkeep.yaml",
        turnkeep_jsonl = "turnkeep.jsonl",
    }

    #[test]
    fn every_native_format_is_under_the_laws() {
        super::laws::check_list(UNDER_LAWS, |id| id.starts_with("turnkeep"));
    }
}
