//! The table of providers.

use crate::auth::Scheme;

/// A vendor, or a program that speaks a vendor's wire: what is usual there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provider {
    /// Its name, as turns remember it.
    pub name: &'static str,
    /// Where it is; empty where everyone has their own.
    pub base_url: &'static str,
    /// The wire it speaks.
    pub wire: &'static str,
    /// The dialect of the wire, where it has one.
    pub dialect: Option<&'static str>,
    /// The variable that its key is usually in; empty where it needs none.
    pub key_env: &'static str,
    /// How a key is shown to it.
    pub scheme: Scheme,
}

const COMPATIBLE: Provider = Provider {
    name: "openai-compatible",
    base_url: "",
    wire: "openai.chat",
    // The dialect that asks least of a server.
    dialect: Some("together"),
    key_env: "",
    scheme: Scheme::Bearer,
};

/// Every provider.
pub static PROVIDERS: &[Provider] = &[
    Provider {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        wire: "openai.responses",
        dialect: None,
        key_env: "OPENAI_API_KEY",
        ..COMPATIBLE
    },
    Provider {
        name: "anthropic",
        base_url: "https://api.anthropic.com/v1",
        wire: "anthropic.messages",
        dialect: None,
        key_env: "ANTHROPIC_API_KEY",
        scheme: Scheme::XApiKey,
    },
    Provider {
        name: "google",
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        wire: "gemini.contents",
        dialect: None,
        key_env: "GEMINI_API_KEY",
        scheme: Scheme::XGoogApiKey,
    },
    Provider { name: "ollama", base_url: "http://localhost:11434", wire: "ollama.chat", dialect: None, ..COMPATIBLE },
    Provider {
        name: "bedrock",
        wire: "bedrock.converse",
        dialect: None,
        key_env: "AWS_BEARER_TOKEN_BEDROCK",
        scheme: Scheme::Aws,
        ..COMPATIBLE
    },
    Provider {
        name: "azure",
        dialect: Some("azure"),
        key_env: "AZURE_OPENAI_API_KEY",
        scheme: Scheme::ApiKey,
        ..COMPATIBLE
    },
    Provider {
        name: "mistral",
        base_url: "https://api.mistral.ai/v1",
        dialect: Some("mistral"),
        key_env: "MISTRAL_API_KEY",
        ..COMPATIBLE
    },
    Provider {
        name: "groq",
        base_url: "https://api.groq.com/openai/v1",
        dialect: Some("groq"),
        key_env: "GROQ_API_KEY",
        ..COMPATIBLE
    },
    Provider {
        name: "deepseek",
        base_url: "https://api.deepseek.com/v1",
        dialect: Some("deepseek"),
        key_env: "DEEPSEEK_API_KEY",
        ..COMPATIBLE
    },
    Provider {
        name: "cerebras",
        base_url: "https://api.cerebras.ai/v1",
        dialect: Some("cerebras"),
        key_env: "CEREBRAS_API_KEY",
        ..COMPATIBLE
    },
    Provider {
        name: "moonshot",
        base_url: "https://api.moonshot.ai/v1",
        dialect: Some("moonshot"),
        key_env: "MOONSHOT_API_KEY",
        ..COMPATIBLE
    },
    Provider {
        name: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        dialect: Some("openrouter"),
        key_env: "OPENROUTER_API_KEY",
        ..COMPATIBLE
    },
    Provider {
        name: "xai",
        base_url: "https://api.x.ai/v1",
        dialect: Some("xai"),
        key_env: "XAI_API_KEY",
        ..COMPATIBLE
    },
    Provider { name: "llamacpp", base_url: "http://localhost:8080/v1", dialect: Some("llamacpp"), ..COMPATIBLE },
    Provider { name: "vllm", base_url: "http://localhost:8000/v1", dialect: Some("vllm"), ..COMPATIBLE },
    Provider {
        name: "together",
        base_url: "https://api.together.xyz/v1",
        dialect: Some("together"),
        key_env: "TOGETHER_API_KEY",
        ..COMPATIBLE
    },
    Provider {
        name: "fireworks",
        base_url: "https://api.fireworks.ai/inference/v1",
        dialect: Some("fireworks"),
        key_env: "FIREWORKS_API_KEY",
        ..COMPATIBLE
    },
    Provider {
        name: "perplexity",
        base_url: "https://api.perplexity.ai",
        dialect: Some("perplexity"),
        key_env: "PERPLEXITY_API_KEY",
        ..COMPATIBLE
    },
    Provider {
        name: "qwen",
        base_url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        dialect: Some("qwen"),
        key_env: "DASHSCOPE_API_KEY",
        ..COMPATIBLE
    },
    Provider {
        name: "zai",
        base_url: "https://api.z.ai/api/paas/v4",
        dialect: Some("zai"),
        key_env: "ZAI_API_KEY",
        ..COMPATIBLE
    },
    COMPATIBLE,
];

impl Provider {
    /// The provider of a name.
    pub fn by_name(name: &str) -> Option<&'static Provider> {
        PROVIDERS.iter().find(|provider| provider.name.eq_ignore_ascii_case(name))
    }
}
