//! Requests and answers of vendors' own interfaces that are none of the wires we read.
//!
//! Many of them have `messages` with roles as OpenAI's chat has. They are told by keys that no body of our wires has, or by the
//! vendor's own names of models beside nothing that only OpenAI's chat has: where a vendor also speaks that wire, its bodies are read.

use super::Foreign;
use super::Mark::{Item, Line, Record};

/// A request that names a model of Cohere's and has nothing of OpenAI's chat or of Ollama's.
const COMMAND: &str = "messages model^command -model~: -max_completion_tokens -stream_options -n -parallel_tool_calls -options -keep_alive -think -format -system";
const AYA: &str =
    "messages model^c4ai-aya -model~: -max_completion_tokens -stream_options -n -parallel_tool_calls -options";

pub(super) static APIS: &[Foreign] = &[
    Foreign {
        name: "a request or an answer of Cohere",
        marks: &[
            Record("messages documents model^command"),
            Record("messages strict_tools"),
            Record("messages citation_options"),
            Record("messages safety_mode"),
            Record("messages p -top_p model"),
            Record("messages k -top_k model"),
            Record("messages tool_choice=REQUIRED"),
            Record("messages tool_choice=NONE"),
            Record("messages.*.tool_plan"),
            Record("messages.*.content.*.type=document model^command"),
            Record(COMMAND),
            Record(AYA),
            Record("message:text chat_history"),
            Record("message:text preamble"),
            Record("message:text model^command"),
            Record("text generation_id"),
            Record("finish_reason message usage.billed_units"),
            Record("finish_reason message.tool_plan"),
            Record("type=message-start delta.message"),
            Record("type=content-delta delta.message"),
            Record("event_type=stream-start"),
            Record("event_type=text-generation"),
        ],
    },
    Foreign {
        name: "a request or an answer of DashScope's own interface",
        marks: &[
            Record("input.messages model"),
            Record("input.prompt parameters model"),
            Record("output.choices request_id"),
            Record("output.text request_id"),
        ],
    },
    Foreign {
        name: "a request or a prediction of Replicate",
        marks: &[Record("input.prompt version"), Record("input.prompt -model"), Record("input urls.get status")],
    },
    Foreign {
        name: "a request or an answer of Mistral's conversations",
        marks: &[Record("object=conversation.response"), Record("inputs agent_id"), Record("inputs model -parameters")],
    },
    Foreign {
        name: "a request or an answer of text generation at Hugging Face",
        marks: &[Record("inputs -model -agent_id"), Item("generated_text"), Record("generated_text")],
    },
    Foreign {
        name: "a prediction request or answer of Vertex AI or SageMaker",
        marks: &[Record("instances.0"), Record("predictions.0")],
    },
    Foreign { name: "a request to Azure's managed endpoints", marks: &[Record("input_data.input_string")] },
    Foreign {
        name: "a request or an answer of watsonx",
        marks: &[
            Record("model_id project_id"),
            Record("model_id space_id"),
            Record("model_id results.0.generated_text"),
        ],
    },
    Foreign {
        name: "a request or an answer of Jurassic",
        marks: &[Record("messages.0.text numResults"), Record("prompt numResults"), Record("completions.0.data.text")],
    },
    Foreign {
        name: "a text completion",
        marks: &[
            Record("choices.0.text -choices.0.message -choices.0.delta"),
            Record("prompt:text model -messages -input -contents"),
            Record("prompt:text max_tokens_to_sample"),
            Record("type=completion completion"),
            Record("model response:text done"),
        ],
    },
    Foreign {
        name: "a body of a model's own interface on Bedrock",
        marks: &[
            Record("inputText"),
            Record("inputTextTokenCount results"),
            Record("prompt:text max_gen_len"),
            Record("generation prompt_token_count"),
        ],
    },
    Foreign {
        name: "an interaction of Gemini",
        marks: &[
            Record("object=interaction"),
            Record("model^gemini input -contents"),
            Record("model^models/gemini input -contents"),
        ],
    },
    Foreign { name: "a prompt of PaLM", marks: &[Record("prompt.messages"), Record("prompt.text -prompt.id")] },
    Foreign {
        name: "an OpenAI Assistants thread",
        marks: &[
            Record("object=thread"),
            Record("object=thread.message"),
            Record("object=thread.run"),
            Record("object=list data.0.object=thread.message"),
            Record("object=list data.0.object=thread.run.step"),
        ],
    },
    Foreign {
        name: "a batch of requests or answers",
        marks: &[
            Record("custom_id method url body"),
            Record("custom_id response.body"),
            Record("requests.0.custom_id requests.0.params"),
            Record("custom_id result.type"),
            Line("key request.contents"),
            Line("key response.candidates"),
        ],
    },
    Foreign { name: "an answer of Workers AI", marks: &[Record("result.response success errors")] },
    Foreign {
        name: "a request or an answer of ERNIE",
        marks: &[Record("messages penalty_score"), Record("result:text need_clear_history")],
    },
    Foreign {
        name: "a request or an answer of Hunyuan",
        marks: &[Record("Messages.0.Role"), Record("Response.Choices"), Record("Choices.0.Message")],
    },
    Foreign { name: "a request to Spark", marks: &[Record("header payload.message.text")] },
    Foreign { name: "a request to MiniMax's first interface", marks: &[Record("bot_setting messages")] },
    Foreign {
        name: "a request or an answer of Oracle's generative AI",
        marks: &[Record("chatRequest servingMode"), Record("chatResponse modelId")],
    },
];
