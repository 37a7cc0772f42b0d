//! `turnkeep endpoints`

use turnkeep_model::Json;
use turnkeep_provider::endpoint::Endpoint;

use super::super::CommandResult;
use super::responder::load;
use crate::conversation_args::Endpoints as Args;
use crate::exit::Exit;
use crate::report::{object, text_or_null, texts};
use crate::terminal::{DIM, print, print_json, table, table_text};
use crate::visible::visible_line;

pub(crate) fn endpoints(args: &Args) -> CommandResult {
    let endpoints = load()?;
    let rows: Vec<(&Endpoint, Result<(), String>)> =
        endpoints.all().iter().map(|endpoint| (endpoint, usable(endpoint))).collect();
    let all_usable = rows.iter().all(|(_, usable)| usable.is_ok());
    if args.json {
        let list = rows.iter().map(|(endpoint, usable)| as_json(endpoint, usable)).collect();
        print_json(&object([("endpoints", Json::Array(list))]))?;
    } else {
        print(&as_text(&rows))?;
    }
    Ok(if all_usable { Exit::Ok } else { Exit::Failed })
}

/// Whether it could be asked: its key is there, and its certificates and its proxy are what they should be.
fn usable(endpoint: &Endpoint) -> Result<(), String> {
    let told = |error: turnkeep_model::Error| match error.remedy() {
        Some(remedy) => format!("{}; {remedy}", error.what()),
        None => error.what().to_owned(),
    };
    endpoint.credentials().map_err(told)?;
    #[cfg(feature = "http")]
    endpoint.http().map_err(told)?;
    Ok(())
}

fn as_json(endpoint: &Endpoint, usable: &Result<(), String>) -> Json {
    object([
        ("name", endpoint.name.as_str().into()),
        ("id", text_or_null(endpoint.id.as_deref())),
        ("provider", endpoint.provider.name.into()),
        ("wire", endpoint.wire.as_str().into()),
        ("model", endpoint.model.as_str().into()),
        ("base_url", endpoint.base_url.as_str().into()),
        ("default_for", texts(&endpoint.categories)),
        ("fallback", texts(&endpoint.fallback)),
        ("usable", usable.is_ok().into()),
        ("why_not", text_or_null(usable.as_ref().err().map(String::as_str))),
        ("file", endpoint.place.0.display().to_string().into()),
        ("line", (endpoint.place.1 as u64).into()),
    ])
}

fn as_text(rows: &[(&Endpoint, Result<(), String>)]) -> String {
    if rows.is_empty() {
        return "no endpoint is configured; docs/endpoints.md says how to write turnkeep.toml\n".to_owned();
    }
    let mut table = table(&["endpoint", "provider", "model", "default for", "state"]);
    for (endpoint, usable) in rows {
        let state = match usable {
            Ok(()) => "ready".to_owned(),
            Err(why) => why.clone(),
        };
        let categories = endpoint.categories.join(", ");
        table.add_row([&endpoint.name, endpoint.provider.name, &endpoint.model, &categories, &state]);
    }
    let files: std::collections::BTreeSet<String> =
        rows.iter().map(|(endpoint, _)| endpoint.place.0.display().to_string()).collect();
    let files: Vec<String> = files.into_iter().collect();
    format!("{}{DIM}from {}{DIM:#}\n", table_text(&table), visible_line(&files.join(" and ")))
}
