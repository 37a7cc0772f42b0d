//! Options, tools and the form of answers, both ways.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::{Effort, ResponseFormat, ResponseKind, Session, ToolChoice, ToolMode, ToolSpec};

use super::{FORMAT, spelled, spelled_in};
use crate::fields::{Fields, Form, Kept, Writer, in_order, taken, taken_last};
use crate::wire::tables::{OptionRow, Words, list_of, meant, option_rows, options_set, take_options, word_for};

const CONFIG: Form = &taken_last([
    "",
    "temperature",
    "topP",
    "topK",
    "maxOutputTokens",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "stopSequences",
    "thinkingConfig",
    "responseMimeType",
    "responseJsonSchema",
    "responseSchema",
]);
const THINKING: Form = &taken_last(["", "thinkingBudget", "thinkingLevel"]);
const TOOL_CONFIG: Form = &taken_last(["", "functionCallingConfig"]);
const CALLING: Form = &taken_last(["", "mode", "allowedFunctionNames"]);
const TOOL: Form = &taken_last(["", "functionDeclarations", "function_declarations"]);
const DECLARATION: Form =
    &taken(["name", "description", "parametersJsonSchema", "parameters", "parameters_json_schema"]);

const OPTIONS: &[OptionRow] = option_rows! {
    "temperature" => number temperature,
    "topP" => number top_p,
    "topK" => number top_k,
    "maxOutputTokens" => number max_tokens,
    "seed" => number seed,
    "presencePenalty" => number presence_penalty,
    "frequencyPenalty" => number frequency_penalty,
    "stopSequences" => texts stop,
};

const LEVELS: Words<Effort> =
    &[("MINIMAL", Effort::Minimal), ("LOW", Effort::Low), ("MEDIUM", Effort::Medium), ("HIGH", Effort::High)];

const MODES: Words<ToolMode> = &[("AUTO", ToolMode::Auto), ("ANY", ToolMode::Required), ("NONE", ToolMode::None)];

/// Moves what the model has a place for from a request body to the session.
pub(super) fn read(body: &mut Fields, session: &mut Session) {
    if let Some(key) = spelled_in(body, "generationConfig") {
        body.within(key, CONFIG, |config| read_config(config, session));
        if key != "generationConfig" && body.get(key).is_none() {
            body.note("config", "snake");
        }
    }
    body.within("toolConfig", TOOL_CONFIG, |config| {
        config.within("functionCallingConfig", CALLING, |calling| read_choice(calling, session));
    });
    read_tools(body, session);
}

/// Puts back what [`read`] moved.
pub(super) fn write(session: &Session, writer: &mut Writer<'_>) {
    let kept = writer.kept();
    let is_snake = kept.note("config").is_some() || kept.field("generation_config").is_some();
    let (config, thinking) = match is_snake && kept.field("generationConfig").is_none() {
        true => ("generation_config", "generation_config.thinkingConfig"),
        false => ("generationConfig", "generationConfig.thinkingConfig"),
    };
    writer.nest(config, config_of(session, kept.at(thinking)), CONFIG);
    if let Some(choice) = &session.options.tool_choice {
        write_choice(choice, writer);
    }
    write_tools(session, writer);
}

fn read_config(config: &mut Fields, session: &mut Session) {
    take_options(OPTIONS, config, &mut session.options);
    config.within("thinkingConfig", THINKING, |thinking| {
        session.options.budget_tokens = thinking.number("thinkingBudget");
        session.options.reasoning = thinking.read("thinkingLevel", |word| meant(LEVELS, &word.as_str()?));
    });
    read_response(config, session);
}

fn config_of(session: &Session, kept_thinking: Kept<'_>) -> Object {
    let options = &session.options;
    let mut config: Object = options_set(OPTIONS, options).collect();
    let mut thinking = Object::new();
    if let Some(budget) = &options.budget_tokens {
        thinking.push("thinkingBudget", budget.clone());
    }
    if let Some(word) = options.reasoning.as_ref().and_then(|effort| word_for(LEVELS, effort)) {
        thinking.push("thinkingLevel", word);
    }
    if !thinking.is_empty() {
        config.push("thinkingConfig", kept_thinking.complete(thinking, THINKING));
    }
    write_response(session, &mut config);
    config
}

fn read_response(config: &mut Fields, session: &mut Session) {
    // Without this type the vendor ignores a schema, so one alone is no wish for JSON.
    if config.take_if("responseMimeType", |mime| mime.as_str().as_deref() == Some("application/json")).is_none() {
        return;
    }
    let mut format = ResponseFormat { kind: ResponseKind::JsonObject, ..ResponseFormat::default() };
    for key in ["responseJsonSchema", "responseSchema"] {
        if let Some(schema) = config.take_if(key, |schema| *schema != Json::Null) {
            format.kind = ResponseKind::JsonSchema;
            format.schema = schema;
            if key == "responseSchema" {
                format.extra.part_mut(FORMAT).spelling.set("schema", key);
            }
            break;
        }
    }
    session.response_format = Some(format);
}

fn write_response(session: &Session, config: &mut Object) {
    let Some(format) = &session.response_format else { return };
    if !matches!(format.kind, ResponseKind::JsonObject | ResponseKind::JsonSchema) {
        return;
    }
    config.push("responseMimeType", "application/json");
    if format.schema != Json::Null {
        let own = format.extra.spelling(FORMAT, "schema").is_some();
        config.push(if own { "responseSchema" } else { "responseJsonSchema" }, format.schema.clone());
    }
}

fn read_choice(calling: &mut Fields, session: &mut Session) {
    let Some(mode) = calling.read("mode", |word| meant(MODES, &word.as_str()?)) else { return };
    let names = calling.texts("allowedFunctionNames").unwrap_or_default();
    session.options.tool_choice = Some(ToolChoice { mode, names, ..ToolChoice::default() });
}

fn write_choice(choice: &ToolChoice, writer: &mut Writer<'_>) {
    let Some(word) = word_for(MODES, &choice.mode) else { return };
    let mut calling: Object = [("mode", Json::from(word))].into_iter().collect();
    list_of(&choice.names).into_iter().for_each(|names| calling.push("allowedFunctionNames", names));
    let calling = writer.kept().at("toolConfig.functionCallingConfig").complete(calling, CALLING);
    writer.nest("toolConfig", [("functionCallingConfig", Json::Object(calling))].into_iter().collect(), TOOL_CONFIG);
}

/// The declarations of the first tool that has some; the tool itself stays, without them, to hold its place.
fn read_tools(body: &mut Fields, session: &mut Session) {
    let Some(Json::Array(mut tools)) = body.get("tools").cloned() else { return };
    let has = |tool: &Json| tool.as_object().is_some_and(|tool| spelled(tool, "functionDeclarations").is_some());
    let Some(at) = tools.iter().position(has) else { return };
    let Some(Json::Object(tool)) = tools.get_mut(at) else { return };
    let mut fields = Fields::new(tool.clone(), TOOL);
    let Some(key) = spelled(tool, "functionDeclarations") else { return };
    let all = |list: &Json| list.as_array().filter(|list| !list.is_empty())?.iter().map(declaration).collect();
    let Some(specs) = fields.read(key, all) else { return };
    if body.take("tools").is_none() {
        return;
    }
    session.tools = specs;
    if key != "functionDeclarations" {
        body.note("tools", "snake");
    }
    let (rest, _, orders) = fields.close();
    *tool = rest;
    if !tool.is_empty() || tools.len() > 1 {
        body.note("tool", at as u64);
        body.leave("tools", tools);
    }
    orders.into_iter().for_each(|(_, order)| body.note("order.tool", order));
}

fn declaration(json: &Json) -> Option<ToolSpec> {
    let mut fields = Fields::new(json.as_object()?.clone(), DECLARATION);
    let mut spec = ToolSpec { name: fields.text("name")?, ..ToolSpec::default() };
    spec.description = fields.text("description");
    for key in ["parametersJsonSchema", "parameters", "parameters_json_schema"] {
        if let Some(schema) = fields.take_if(key, |schema| *schema != Json::Null) {
            spec.parameters = schema;
            if key != "parametersJsonSchema" {
                fields.note("parameters", key);
            }
            break;
        }
    }
    fields.keep(FORMAT, &mut spec.extra);
    Some(spec)
}

fn write_tools(session: &Session, writer: &mut Writer<'_>) {
    if session.tools.is_empty() {
        return;
    }
    let kept = writer.kept();
    let declarations: Vec<Json> = session.tools.iter().map(declared).collect();
    let key = if kept.note("tools").is_some() { "function_declarations" } else { "functionDeclarations" };
    let mut tools = kept.field("tools").and_then(Json::as_array).map(<[Json]>::to_vec).unwrap_or_default();
    let at = kept.note("tool").and_then(Json::as_number).and_then(Number::as_u64);
    match at.and_then(|at| tools.get_mut(usize::try_from(at).ok()?)) {
        Some(Json::Object(tool)) => {
            tool.set(key, declarations);
            *tool = in_order(std::mem::take(tool), kept.at("tool").order_note(), TOOL);
        }
        _ => tools.insert(0, Json::Object([(key, Json::Array(declarations))].into_iter().collect())),
    }
    writer.set("tools", tools);
}

fn declared(tool: &ToolSpec) -> Json {
    let mut writer = Writer::new(Kept::of(&tool.extra, FORMAT), DECLARATION);
    writer.set("name", tool.name.as_str());
    writer.set_some("description", tool.description.as_deref());
    if tool.parameters != Json::Null {
        let key = writer.kept().word("parameters");
        writer.set(key.as_deref().unwrap_or("parametersJsonSchema"), tool.parameters.clone());
    }
    Json::Object(writer.finish())
}
