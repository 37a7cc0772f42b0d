//! The laws of codecs, for every registered format.

use turnkeep_testkit::laws;

mod all {
    turnkeep_testkit::codec_laws! {
        turnkeep = "turnkeep",
        turnkeep_yaml = "turnkeep.yaml",
        turnkeep_jsonl = "turnkeep.jsonl",
        geppetto_turn = "geppetto.turn",
        geppetto_fixture = "geppetto.fixture",
        openai_chat = "openai.chat",
        ollama_chat = "ollama.chat",
    }

    #[test]
    fn every_format_is_under_the_laws() {
        super::laws::check_list(UNDER_LAWS, |_| true);
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
