//! The reference of the interface, as a page.

use std::fmt::Write;
use std::sync::Arc;

use utoipa::openapi::OpenApi;
use utoipa::openapi::path::Operation;

/// The reference, made of the description of the interface.
pub(crate) fn reference(document: &OpenApi) -> Arc<str> {
    let mut html = String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>turnkeep: reference</title><style>\
         body{font:15px/1.5 system-ui;max-width:60em;margin:2em auto;padding:0 1em}code{background:#8882;padding:0 .2em}\
         h2{margin-top:2em;font-size:1.1em}td{padding:.1em .8em .1em 0;vertical-align:top}</style><h1>Reference</h1>",
    );
    for (path, item) in &document.paths.paths {
        let operations = [("GET", &item.get), ("POST", &item.post), ("PATCH", &item.patch), ("DELETE", &item.delete)];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                describe(&mut html, path, method, operation);
            }
        }
    }
    html.push_str("</html>");
    html.into()
}

fn describe(html: &mut String, path: &str, method: &str, operation: &Operation) {
    let summary = operation.summary.as_deref().unwrap_or_default();
    let _ = write!(html, "<h2><code>{method} {}</code></h2><p>{}</p><table>", escaped(path), escaped(summary));
    for parameter in operation.parameters.iter().flatten() {
        let utoipa::openapi::RefOr::T(parameter) = parameter else { continue };
        let about = parameter.description.as_deref().unwrap_or_default();
        let _ = write!(html, "<tr><td><code>{}</code><td>{}", escaped(&parameter.name), escaped(about));
    }
    for (status, response) in &operation.responses.responses {
        if let utoipa::openapi::RefOr::T(response) = response {
            let _ = write!(html, "<tr><td>{}<td>{}", escaped(status), escaped(&response.description));
        }
    }
    html.push_str("</table>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
