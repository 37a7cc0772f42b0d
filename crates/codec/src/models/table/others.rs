//! Models of other makers, on the wires that serve them.

use super::super::row::{Forced, Row, Thinks};
use super::{ALL_MEDIA, IMAGES, NO_MEDIA, PAGES, PLAIN, UP_TO_HIGH};

/// A model that thinks unless it is turned off, and has no levels.
const SWITCHED: Row = Row { thinks: Thinks::ByDefault, ..PLAIN };

const GROK: Row = Row { maker: "xAI", media: IMAGES, ..PLAIN };

pub(super) static ROWS: &[Row] = &[
    Row {
        models: &["deepseek-v4*"],
        maker: "DeepSeek",
        since: "2026-04",
        evidence: "DeepSeek's guide says that thinking is on by default and takes low, high and max; recordings show \"Thinking mode does not support this tool_choice\" and images refused.",
        efforts: &["low", "high", "max"],
        forced: Forced::NotThinking,
        schema: false,
        ..SWITCHED
    },
    Row {
        models: &["deepseek-reasoner*"],
        maker: "DeepSeek",
        since: "2025-01-20",
        evidence: "DeepSeek's guide says that deepseek-reasoner is the mode with thinking of its newest model, which takes low, high and max.",
        thinks: Thinks::Always,
        efforts: &["low", "high", "max"],
        forced: Forced::NotThinking,
        schema: false,
        ..PLAIN
    },
    Row {
        models: &["deepseek-r1*", "deepseek.r1*"],
        maker: "DeepSeek",
        since: "2025-01-20",
        evidence: "Ollama's documentation of thinking lists DeepSeek R1, and recordings of Bedrock show it without settings.",
        thinks: Thinks::Always,
        schema: false,
        ..PLAIN
    },
    Row {
        models: &["deepseek-v3.1*", "deepseek-v3.2*"],
        maker: "DeepSeek",
        since: "2025-08-21",
        evidence: "Ollama's documentation of thinking lists DeepSeek-v3.1 among the models that take `think`.",
        schema: false,
        ..SWITCHED
    },
    Row {
        models: &["deepseek-chat*", "deepseek-v3*", "deepseek-v2*", "deepseek-coder*"],
        maker: "DeepSeek",
        since: "2024-12-26",
        evidence: "DeepSeek's guide says that deepseek-chat is the mode without thinking, and knows `json_object` but no schema.",
        schema: false,
        ..PLAIN
    },
    Row {
        models: &["qwen3-32b*"],
        maker: "Alibaba",
        since: "2025-04-29",
        evidence: "Recordings of Groq show qwen/qwen3-32b with none and default; Groq's documentation lists these two.",
        efforts: &["none", "default"],
        ..SWITCHED
    },
    Row {
        models: &["qwen3", "qwen3.*", "qwen3-vl*", "qwen3-next*"],
        maker: "Alibaba",
        since: "2025-04-29",
        evidence: "Recordings of Ollama show qwen3:4b with `think` true and false; Ollama's documentation of thinking lists Qwen 3.",
        media: IMAGES,
        ..SWITCHED
    },
    Row {
        models: &["qwq*"],
        maker: "Alibaba",
        since: "2025-03-06",
        evidence: "Its model card says that it always thinks, and names no setting for it.",
        thinks: Thinks::Always,
        ..PLAIN
    },
    Row {
        models: &["qwen*"],
        maker: "Alibaba",
        since: "2024-06-07",
        evidence: "Ollama refuses `think` for models without that ability, such as qwen2.5; hosts name their own switches for others.",
        media: IMAGES,
        ..PLAIN
    },
    Row {
        models: &["magistral*"],
        maker: "Mistral AI",
        since: "2025-06-10",
        evidence: "Mistral's documentation says that Magistral thinks by `prompt_mode`, and lists no effort for it.",
        thinks: Thinks::Always,
        media: IMAGES,
        ..PLAIN
    },
    Row {
        models: &["mistral-small-latest", "mistral-small-26*", "mistral-medium-3*"],
        maker: "Mistral AI",
        since: "2026-03",
        evidence: "Recordings of Mistral show mistral-small-latest with `reasoning_effort` none and high.",
        thinks: Thinks::OnRequest,
        efforts: &["none", "high"],
        media: IMAGES,
        ..PLAIN
    },
    Row {
        models: &["mistral*", "ministral*", "codestral*", "pixtral*", "devstral*", "open-mi*", "mixtral*"],
        maker: "Mistral AI",
        since: "2023-09-27",
        evidence: "Mistral's documentation lists no effort for these models; Ollama refuses `think` for models without that ability.",
        media: IMAGES,
        ..PLAIN
    },
    Row {
        models: &["grok-3-mini*"],
        since: "2025-04-09",
        evidence: "A recording of xAI's Responses shows low; xAI's documentation of reasoning lists low and high.",
        thinks: Thinks::Always,
        efforts: &["low", "high"],
        penalties: false,
        stop: false,
        media: NO_MEDIA,
        ..GROK
    },
    Row {
        models: &["grok-4.3*", "grok-latest"],
        since: "2026-03",
        evidence: "xAI's documentation of reasoning lists low and high for Grok 4.3.",
        thinks: Thinks::Always,
        efforts: &["low", "high"],
        penalties: false,
        stop: false,
        ..GROK
    },
    Row {
        models: &["grok-4*", "grok-code*", "grok-build*"],
        since: "2025-07-09",
        evidence: "xAI's documentation of reasoning says that these always think, and that reasoning_effort, penalties and stop return an error.",
        thinks: Thinks::Always,
        penalties: false,
        stop: false,
        ..GROK
    },
    Row {
        models: &["grok*"],
        since: "2023-11-03",
        evidence: "xAI's documentation of models lists Grok 2 and Grok 3 without reasoning.",
        ..GROK
    },
    Row {
        models: &["kimi-*", "moonshot-v1*"],
        maker: "Moonshot AI",
        since: "2025-07-11",
        evidence: "Moonshot's documentation lists no effort; the names of its models say which of them think.",
        media: IMAGES,
        ..SWITCHED
    },
    Row {
        models: &["glm-5*"],
        maker: "Z.ai",
        since: "2026-02",
        evidence: "Recordings of Z.ai show glm-5.2 with high and glm-5.3 with max, beside `thinking` enabled.",
        efforts: &["low", "medium", "high", "max"],
        ..SWITCHED
    },
    Row {
        models: &["glm-4*", "zai-glm-4*"],
        maker: "Z.ai",
        since: "2025-07-28",
        evidence: "Recordings of Z.ai show `thinking` enabled for glm-4.7, and of Cerebras an effort of none for zai-glm-4.7.",
        efforts: &["none"],
        ..SWITCHED
    },
    Row {
        models: &["sonar-deep-research*"],
        maker: "Perplexity",
        since: "2025-02-14",
        evidence: "Perplexity's reference says that `reasoning_effort` is for sonar-deep-research only.",
        thinks: Thinks::Always,
        efforts: &["minimal", "low", "medium", "high"],
        media: PAGES,
        ..PLAIN
    },
    Row {
        models: &["sonar-reasoning*"],
        maker: "Perplexity",
        since: "2025-01-29",
        evidence: "Perplexity's model cards say that it thinks before it answers, without a setting for it.",
        thinks: Thinks::Always,
        media: PAGES,
        ..PLAIN
    },
    Row {
        models: &["sonar*"],
        maker: "Perplexity",
        since: "2025-01-21",
        evidence: "Perplexity's reference says that `reasoning_effort` is for sonar-deep-research only.",
        media: PAGES,
        ..PLAIN
    },
    Row {
        models: &["nova-micro*"],
        maker: "Amazon",
        since: "2024-12-03",
        evidence: "Recordings of Bedrock show temperature, topP and stop sequences accepted; its service card says text only.",
        most_tokens: Some(10_000),
        ..PLAIN
    },
    Row {
        models: &["nova-2*"],
        maker: "Amazon",
        since: "2025-12-02",
        evidence: "Recordings of Bedrock show images, documents and video by S3 location accepted; it thinks by a setting of its own that is not sent.",
        thinks: Thinks::OnRequest,
        media: ALL_MEDIA,
        ..PLAIN
    },
    Row {
        models: &["nova*"],
        maker: "Amazon",
        since: "2024-12-03",
        evidence: "Recordings of Bedrock show temperature and a maximum of tokens accepted; the user guide says images, documents and video.",
        media: ALL_MEDIA,
        most_tokens: Some(10_000),
        ..PLAIN
    },
    Row {
        models: &["titan-text*"],
        maker: "Amazon",
        since: "2023-11-29",
        evidence: "Recordings of Bedrock show temperature, topP and stop sequences accepted; Converse's table of models says text only.",
        ..PLAIN
    },
    Row {
        models: &["llama*", "meta.llama*"],
        maker: "Meta",
        since: "2023-07-18",
        evidence: "Ollama answers \"\"llama3.1:8b\" does not support thinking\"; recordings of Ollama and Bedrock show temperatures.",
        media: IMAGES,
        ..PLAIN
    },
    Row {
        models: &["gemma*"],
        maker: "Google",
        since: "2024-02-21",
        evidence: "Recordings of Ollama, Bedrock and Gemini show Gemma without thinking settings; Ollama's list of thinking models has none of these.",
        media: IMAGES,
        ..PLAIN
    },
    Row {
        models: &["phi*", "granite*", "smollm*", "tinyllama*", "llava*", "vicuna*", "falcon*", "yi*"],
        maker: "various",
        since: "2023-03-30",
        evidence: "Ollama's documentation of thinking does not list them, and refuses `think` for models without that ability.",
        media: IMAGES,
        ..PLAIN
    },
    Row {
        models: &["command*", "jamba*", "palmyra*"],
        maker: "various",
        since: "2024-03-11",
        evidence: "Recordings of Bedrock show Command R, Jamba 1.5 and Palmyra X4 accepted with temperature and a maximum of tokens.",
        ..PLAIN
    },
    Row {
        models: &["minimax-*"],
        maker: "MiniMax",
        since: "2025-10-27",
        evidence: "A recording of OpenRouter shows minimax-m2.5 with effort low, which the gateway translates; MiniMax's documentation lists none.",
        thinks: Thinks::Always,
        ..PLAIN
    },
    Row {
        models: &["nemotron-3*"],
        maker: "NVIDIA",
        since: "2025-12-15",
        evidence: "Its model card says that thinking can be turned off in the chat template, without levels.",
        ..SWITCHED
    },
    Row {
        models: &["computer-use*"],
        maker: "OpenAI",
        since: "2025-03-11",
        evidence: "A recording of Responses shows computer-use-preview without settings; OpenAI's guide lists no effort but those of models that think.",
        efforts: UP_TO_HIGH,
        thinks: Thinks::Always,
        media: IMAGES,
        ..PLAIN
    },
];
