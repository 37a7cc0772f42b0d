//! The files of other systems as plain serde structs: the fields that the generated sessions have.

/// llm4s's agent state.
pub(super) mod llm4s {
    use serde::{Deserialize, Serialize};
    use serde_json::{Map, Value};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub(crate) struct State {
        conversation: Conversation,
        initial_query: Option<String>,
        status: Value,
        logs: Vec<String>,
        system_message: Option<String>,
        completion_options: Map<String, Value>,
        usage_summary: Map<String, Value>,
    }

    #[derive(Serialize, Deserialize)]
    struct Conversation {
        messages: Vec<Message>,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        User,
        System,
        Assistant,
        Tool,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Message {
        #[serde(rename = "type")]
        kind: Kind,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<Answer>,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        content_opt: Option<String>,
        tool_calls: Vec<Call>,
    }

    #[derive(Serialize, Deserialize)]
    struct Call {
        id: String,
        name: String,
        arguments: Value,
    }
}

/// weakincentives' snapshot with a conversation.
pub(super) mod wink {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    pub(crate) struct Snapshot {
        children_ids: Vec<String>,
        created_at: String,
        parent_id: Option<String>,
        policies: BTreeMap<String, String>,
        slices: Vec<Slice>,
        tags: BTreeMap<String, String>,
        version: String,
    }

    #[derive(Serialize, Deserialize)]
    struct Slice {
        item_type: String,
        items: Vec<Message>,
        slice_type: String,
    }

    #[derive(Serialize, Deserialize)]
    struct Message {
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        created_at: Option<String>,
        evaluation_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
        prompt_key: String,
        prompt_ns: String,
        role: String,
        sequence: u64,
        tool_call_id: Option<String>,
        tool_calls: Vec<Call>,
        tool_name: Option<String>,
        turn: u64,
    }

    #[derive(Serialize, Deserialize)]
    struct Call {
        arguments: String,
        call_id: String,
        name: String,
        status: String,
    }
}

/// instructor-php's agent state.
pub(super) mod cognesy {
    use serde::{Deserialize, Serialize};
    use serde_json::Value;

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub(crate) struct State {
        agent_id: Option<String>,
        parent_agent_id: Option<String>,
        context: Context,
        llm_config: Value,
        execution_count: u64,
        execution: Option<Execution>,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Context {
        metadata: Value,
        system_prompt: String,
        response_format: Value,
        message_store: Store,
    }

    #[derive(Serialize, Deserialize)]
    struct Store {
        sections: Vec<Section>,
        parameters: Value,
    }

    #[derive(Serialize, Deserialize)]
    struct Section {
        name: String,
        messages: Vec<Message>,
    }

    #[derive(Serialize, Deserialize)]
    struct Message {
        role: String,
        content: Value,
        #[serde(rename = "_metadata", skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_calls: Option<Vec<Call>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_result: Option<Answer>,
    }

    #[derive(Serialize, Deserialize)]
    struct Call {
        id: String,
        name: String,
        arguments: Value,
    }

    #[derive(Serialize, Deserialize)]
    struct Answer {
        content: Value,
        call_id: String,
        tool_name: Option<String>,
        is_error: bool,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Execution {
        #[serde(flatten)]
        rest: serde_json::Map<String, Value>,
    }
}

/// A Lucee AI session.
pub(super) mod lucee {
    use serde::{Deserialize, Serialize};
    use serde_json::Value;

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub(crate) struct Session {
        temperature: Value,
        limit: Value,
        connection_timeout: Value,
        socket_timeout: Value,
        system_message: Option<String>,
        history: Vec<Exchange>,
    }

    #[derive(Serialize, Deserialize)]
    struct Exchange {
        question: String,
        answer: Option<String>,
    }
}
