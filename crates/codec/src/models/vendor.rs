//! What a vendor takes of any model.
//!
//! A model is asked over many vendors. What reaches it is what both take: [`Vendor`] says what the vendor does, the row of
//! the model what the model does, and every check asks both.

/// What a vendor takes, whatever the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vendor {
    /// Its name, as in `openai.chat:mistral`.
    pub name: &'static str,
    /// How it is known: which document says it, or which recording shows it.
    pub evidence: &'static str,
    /// What it calls the longest answer on OpenAI's chat: every name that it knows, its own first.
    pub limits: &'static [&'static str],
    /// The words for effort that it knows; `None` where it hands on whatever the model takes.
    pub efforts: Option<&'static [&'static str]>,
    /// Whether it refuses fields that it does not know, instead of ignoring them.
    pub strict: bool,
    /// Whether it takes penalties and biases.
    pub penalties: bool,
    /// Whether a call can be forced.
    pub forced: bool,
    /// Whether it takes a schema of the answer on OpenAI's chat.
    pub schema: bool,
}

/// The names of the longest answer on OpenAI's chat.
pub(crate) const NEW_LIMIT: &str = "max_completion_tokens";
pub(crate) const OLD_LIMIT: &str = "max_tokens";

const OLD: &[&str] = &[OLD_LIMIT];
const OLD_AND_NEW: &[&str] = &[OLD_LIMIT, NEW_LIMIT];
const NEW_AND_OLD: &[&str] = &[NEW_LIMIT, OLD_LIMIT];
const UP_TO_HIGH: Option<&[&str]> = Some(&["low", "medium", "high"]);

/// One that takes whatever its models take.
const OPEN: Vendor = Vendor {
    name: "",
    evidence: "",
    limits: NEW_AND_OLD,
    efforts: None,
    strict: false,
    penalties: true,
    forced: true,
    schema: true,
};

/// The vendors of OpenAI's wires, OpenAI first.
pub static VENDORS: &[Vendor] = &[
    Vendor {
        name: "openai",
        evidence: "OpenAI's reference has `max_completion_tokens` and calls `max_tokens` deprecated; recordings show both.",
        ..OPEN
    },
    Vendor { name: "azure", evidence: "Recordings of Azure show the settings of OpenAI itself.", ..OPEN },
    Vendor {
        name: "mistral",
        evidence: "Mistral answers to `max_completion_tokens` with 422, extra_forbidden, \"Extra inputs are not permitted\"; recordings show `max_tokens` and efforts of none and high.",
        limits: OLD,
        efforts: Some(&["none", "high"]),
        strict: true,
        ..OPEN
    },
    Vendor {
        name: "groq",
        evidence: "Recordings of Groq show `max_completion_tokens` and `max_tokens`, and efforts of none, default, low, medium and high.",
        efforts: Some(&["none", "default", "low", "medium", "high"]),
        strict: true,
        ..OPEN
    },
    Vendor {
        name: "deepseek",
        evidence: "Recordings of DeepSeek show `max_tokens` and efforts of low and high, its guide adds max; it answers to a schema \"This response_format type is unavailable now\".",
        limits: OLD,
        efforts: Some(&["low", "high", "max"]),
        schema: false,
        ..OPEN
    },
    Vendor {
        name: "cerebras",
        evidence: "Cerebras's documentation says that penalties and biases return an error, and names `max_completion_tokens`; a recording shows an effort of none.",
        limits: NEW_AND_OLD,
        efforts: Some(&["none", "low", "medium", "high"]),
        strict: true,
        penalties: false,
        ..OPEN
    },
    Vendor {
        name: "moonshot",
        evidence: "Moonshot's documentation names `max_tokens` alone, and says that its API does not support a `tool_choice` of required.",
        limits: OLD,
        forced: false,
        ..OPEN
    },
    Vendor {
        name: "openrouter",
        evidence: "Recordings of OpenRouter show `max_tokens` and `max_completion_tokens`; it translates the rest for each host.",
        limits: OLD_AND_NEW,
        ..OPEN
    },
    Vendor {
        name: "xai",
        evidence: "Recordings of xAI show `max_completion_tokens`; its documentation of reasoning lists low and high.",
        limits: OLD_AND_NEW,
        efforts: Some(&["low", "high"]),
        ..OPEN
    },
    Vendor {
        name: "llamacpp",
        evidence: "Recordings of llama.cpp's server show `max_tokens`, and others of the same wire `max_completion_tokens`.",
        limits: OLD_AND_NEW,
        ..OPEN
    },
    Vendor {
        name: "vllm",
        evidence: "vLLM's documentation of its server lists both names of the limit, and efforts of low, medium and high.",
        limits: OLD_AND_NEW,
        efforts: UP_TO_HIGH,
        ..OPEN
    },
    Vendor {
        name: "together",
        evidence: "Recordings of Together show `max_tokens`; its documentation lists efforts of low, medium and high.",
        limits: OLD,
        efforts: UP_TO_HIGH,
        ..OPEN
    },
    Vendor {
        name: "fireworks",
        evidence: "Fireworks' reference lists `max_tokens` and its alias `max_completion_tokens`, and efforts from none to high.",
        limits: OLD_AND_NEW,
        efforts: Some(&["none", "low", "medium", "high"]),
        ..OPEN
    },
    Vendor {
        name: "perplexity",
        evidence: "Recordings of Perplexity show `max_tokens`; its reference lists efforts from minimal to high.",
        limits: OLD,
        efforts: Some(&["minimal", "low", "medium", "high"]),
        ..OPEN
    },
    Vendor {
        name: "qwen",
        evidence: "DashScope's reference of its compatible mode lists `max_tokens` and no effort.",
        limits: OLD,
        ..OPEN
    },
    Vendor {
        name: "zai",
        evidence: "Z.ai answers \"Tool choice must be auto\" to any other choice; its reference lists `max_tokens`, text and json_object, and recordings show efforts of high and max.",
        limits: OLD,
        forced: false,
        schema: false,
        ..OPEN
    },
];

static ANY: Vendor = OPEN;

/// What a vendor takes; of one that nothing is known of, what its models take. Other wires have one vendor.
pub(crate) fn of(dialect: Option<&str>) -> &'static Vendor {
    VENDORS.iter().find(|vendor| Some(vendor.name) == dialect).unwrap_or(&ANY)
}

impl Vendor {
    /// Whether it knows a name of the longest answer.
    pub(crate) fn knows_limit(&self, name: &str) -> bool {
        self.limits.contains(&name)
    }

    /// The words for effort that both it and a model take.
    pub(crate) fn efforts_of(&self, model: &'static [&'static str]) -> Vec<&'static str> {
        let hands_on = |word: &&&'static str| self.efforts.is_none_or(|own| own.contains(*word));
        model.iter().filter(hands_on).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format;

    #[test]
    fn every_variant_of_the_wire_is_a_vendor_with_evidence() {
        let names: Vec<&str> = VENDORS.iter().map(|vendor| vendor.name).collect();
        let chat = format::wire("openai.chat").unwrap();
        assert_eq!(names, chat.spec().variants);
        for vendor in VENDORS {
            assert!(vendor.evidence.split_whitespace().count() >= 8, "{}: {}", vendor.name, vendor.evidence);
            assert!(!vendor.limits.is_empty(), "{}", vendor.name);
        }
    }
}
