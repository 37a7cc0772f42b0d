//! `turnkeep formats`

use turnkeep_codec::{Keeps, Spec, format};
use turnkeep_model::Json;

use super::CommandResult;
use crate::args::Formats;
use crate::exit::Exit;
use crate::report::{object, texts};
use crate::terminal::{print, print_json, table, table_text};

pub(super) fn run(args: &Formats) -> CommandResult {
    let specs = format::ALL.iter().map(|codec| codec.spec());
    if args.json {
        print_json(&object([("formats", Json::Array(specs.map(as_json).collect()))]))?;
        return Ok(Exit::Ok);
    }
    let mut rows = table(&["FORMAT", "WHAT IT IS", "USE", "VARIANTS", "ENDINGS"]);
    for spec in specs {
        rows.add_row([spec.id, spec.title, uses(spec), &spec.variants.join(", "), &spec.extensions.join(" ")]);
    }
    print(&table_text(&rows))?;
    Ok(Exit::Ok)
}

fn uses(spec: &Spec) -> &'static str {
    match (spec.reads, spec.writes) {
        (true, true) => "read, write",
        (true, false) => "read",
        (false, true) => "write",
        (false, false) => "",
    }
}

fn as_json(spec: &'static Spec) -> Json {
    let keeps = spec.fidelity.features().map(|(feature, keeps)| (feature, Json::from(word(keeps))));
    object([
        ("id", spec.id.into()),
        ("title", spec.title.into()),
        ("variants", texts(spec.variants)),
        ("extensions", texts(spec.extensions)),
        ("reads", spec.reads.into()),
        ("writes", spec.writes.into()),
        ("keeps", object(keeps)),
    ])
}

fn word(keeps: Keeps) -> &'static str {
    match keeps {
        Keeps::All => "all",
        Keeps::Some => "some",
        Keeps::Nothing => "nothing",
    }
}
