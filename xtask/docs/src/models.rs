//! The page of models: what the table says of each, and how it is known.

use turnkeep_codec::models::{self, Forced, Medium, Row, Sampling, Thinks, Vendor};

const INTRODUCTION: &str = "\
# Models

Generated from the table of models by `cargo xtask docs`; do not edit.

What we believe each model takes. `turnkeep convert` and `turnkeep repair` leave out what the model of a request refuses and name
it in the report; `turnkeep lint` finds it in a body as given (rules on models are listed on the [vendors' pages](providers.md)).

A model is found by its name, however its host spells it: `us.anthropic.claude-…-v1:0` and inference profiles on Bedrock,
`claude-…@20250929` on Vertex, `vendor/model` on gateways, tags on Ollama, `ft:` and dates. `*` stands for anything, and the first
row that fits counts. A model without a row gets the conservative row of its wire, and the report says so: `--family M`, or `family`
of an [endpoint](endpoints.md), names the model behind a deployment or an inference profile, and its row applies. A body that comes back
to the model it was written for keeps its settings where nothing is known of that model.

- **sampling**: temperature and `top_p` are taken (yes), one of them (either), or neither (no); *not thinking*: only while the model
  does not think.
- **thinks**: never, on request, by default, or always; with the efforts and the budget of tokens it can be told.
- **refuses**: what else is known to be refused.

| models | maker | since | sampling | thinks | longest answer | tools | media | refuses |
|---|---|---|---|---|---|---|---|---|
";

const CONSERVATIVE: &str = "
## Models without a row

| wire | vendors | sampling | thinks | longest answer | tools | media | refuses or may refuse |
|---|---|---|---|---|---|---|---|
";

const VENDORS: &str = "
## Vendors of OpenAI's wires

A vendor takes less than some of the models that it serves. What is sent is what both take.

| vendor | names of the limit | efforts | refuses | evidence |
|---|---|---|---|---|
";

const EVIDENCE: &str = "
## How it is known

| models | evidence |
|---|---|
";

/// The page.
pub(super) fn page() -> String {
    let rows = || models::ROWS.iter().copied().flatten();
    let mut text = String::from(INTRODUCTION);
    for row in rows() {
        text.push_str(&format!("| {} | {} | {} | {} |\n", names(row.models), row.maker, row.since, cells(row)));
    }
    text.push_str(CONSERVATIVE);
    for (wire, dialects, row) in models::unlisted() {
        let vendors = if dialects.is_empty() { "all others".to_owned() } else { dialects.join(", ") };
        text.push_str(&format!("| `{wire}` | {vendors} | {} |\n", cells(row)));
    }
    text.push_str(VENDORS);
    for vendor in models::VENDORS {
        let efforts = vendor.efforts.map_or("as the model".to_owned(), |words| words.join(", "));
        let (limits, evidence) = (names(vendor.limits), vendor.evidence.replace('|', "\\|"));
        text.push_str(&format!("| `{}` | {limits} | {efforts} | {} | {evidence} |\n", vendor.name, lacks(vendor)));
    }
    text.push_str(EVIDENCE);
    for row in rows() {
        text.push_str(&format!("| {} | {} |\n", names(row.models), row.evidence.replace('|', "\\|")));
    }
    for (wire, dialects, row) in models::unlisted() {
        let whose = if dialects.is_empty() { "others" } else { "its own vendors" };
        text.push_str(&format!("| any other on `{wire}`, {whose} | {} |\n", row.evidence.replace('|', "\\|")));
    }
    text
}

/// What a vendor takes of no model.
fn lacks(vendor: &Vendor) -> String {
    let taken = [
        (!vendor.strict, "unknown fields"),
        (vendor.penalties, "penalties"),
        (vendor.forced, "a forced call"),
        (vendor.schema, "a schema of the answer"),
    ];
    let lacks: Vec<&str> = taken.iter().filter(|(taken, _)| !taken).map(|(_, what)| *what).collect();
    if lacks.is_empty() { "–".to_owned() } else { lacks.join(", ") }
}

fn names(models: &[&str]) -> String {
    models.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn cells(row: &Row) -> String {
    let tokens = row.most_tokens.map_or("–".to_owned(), |most| most.to_string());
    let tools = row.most_tools.map_or("–".to_owned(), |most| most.to_string());
    let media = row.media.iter().map(medium).collect::<Vec<_>>().join(", ");
    let media = if media.is_empty() { "–".to_owned() } else { media };
    [sampling(row), thinks(row), tokens, tools, media, refuses(row)].join(" | ")
}

fn sampling(row: &Row) -> String {
    let which = match row.sampling {
        Sampling::Any => "yes",
        Sampling::Either => "either",
        Sampling::Never => return "no".to_owned(),
    };
    match (row.thinks, row.samples_thinking) {
        (Thinks::Never, _) | (_, true) => which.to_owned(),
        (Thinks::Always, false) => "no".to_owned(),
        (_, false) => format!("{which}, not thinking"),
    }
}

fn thinks(row: &Row) -> String {
    let when = match row.thinks {
        Thinks::Never => "never",
        Thinks::OnRequest => "on request",
        Thinks::ByDefault => "by default",
        Thinks::Always => "always",
    };
    let efforts = Some(row.efforts.join(", ")).filter(|efforts| !efforts.is_empty());
    let budget = row.budget.map(|budget| format!("{} to {} tokens", budget.least, budget.most));
    let adaptive = row.adaptive.then(|| "adaptive".to_owned());
    let how: Vec<String> = [adaptive, efforts, budget].into_iter().flatten().collect();
    if how.is_empty() { when.to_owned() } else { format!("{when}: {}", how.join("; ")) }
}

fn medium(medium: &Medium) -> &'static str {
    match medium {
        Medium::Image => "images",
        Medium::Document => "documents",
        Medium::Audio => "sound",
        Medium::Video => "video",
    }
}

fn refuses(row: &Row) -> String {
    let forced = match row.forced {
        Forced::Always => None,
        Forced::NotThinking => Some("a forced call while thinking"),
        Forced::Never => Some("a forced call"),
    };
    let rest = [
        (row.penalties, "penalties"),
        (row.stop, "stop"),
        (row.old_limit, "`max_tokens` on chat"),
        (row.parallel, "`parallel_tool_calls`"),
        (row.prefill, "prefill"),
        (row.schema, "a schema of the answer"),
        (row.system, "system text"),
    ];
    let rest = rest.iter().filter(|(taken, _)| !taken).map(|(_, what)| *what);
    let all: Vec<&str> = rest.chain(forced).collect();
    if all.is_empty() { "–".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_shown_with_its_evidence() {
        let page = page();
        for row in models::ROWS.iter().copied().flatten() {
            assert_eq!(page.matches(&format!("| {} |", names(row.models))).count(), 2, "{:?}", row.models);
            assert!(page.contains(&row.evidence.replace('|', "\\|")), "{:?}", row.models);
        }
    }
}
