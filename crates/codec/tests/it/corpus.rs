//! The public corpus of recorded bodies, read in place where `TURNKEEP_CORPUS` says where it is.

use std::path::PathBuf;

use turnkeep_codec::Codec;
use turnkeep_model::json::{Json, Object, parse};

/// One recorded body.
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) accepted: Option<bool>,
    pub(crate) error: String,
    pub(crate) provider: String,
    /// Whether its ids are those that the vendor saw.
    pub(crate) real_ids: bool,
    /// The body as a file would hold it.
    pub(crate) text: String,
    pub(crate) body: Json,
}

/// The records of one dialect, or `None` where the corpus is not there.
pub(crate) fn records(dialect: &str) -> Option<Vec<Record>> {
    let folder = PathBuf::from(std::env::var_os("TURNKEEP_CORPUS")?).join("providers");
    let mut files: Vec<_> = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let lines = files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).flat_map(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    let records = lines.filter_map(|line| record(&line, dialect)).collect();
    Some(records)
}

fn record(line: &str, dialect: &str) -> Option<Record> {
    let Json::Object(mut fields) = parse(line).unwrap().into_json() else { return None };
    let text = |fields: &Object, key: &str| fields.get_str(key).map(std::borrow::Cow::into_owned).unwrap_or_default();
    if text(&fields, "dialect") != dialect {
        return None;
    }
    let body = fields.remove("body")?;
    Some(Record {
        id: text(&fields, "id"),
        kind: text(&fields, "kind"),
        accepted: fields.get("accepted").and_then(Json::as_bool),
        error: fields.get("error").map(Json::to_text).unwrap_or_default(),
        provider: text(&fields, "provider"),
        real_ids: !text(&fields, "source_repo").contains("0xPlaygrounds/rig"),
        text: body.as_str().map_or_else(|| body.to_text(), std::borrow::Cow::into_owned),
        body,
    })
}

/// Whether two values say the same: the order of fields and the spelling of numbers do not count.
pub(crate) fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(&key.to_str_lossy()).is_some_and(|own| same(value, own)))
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Number(a), Json::Number(b)) => a == b || a.as_f64().to_bits() == b.as_f64().to_bits(),
        _ => a == b,
    }
}

/// Reads and writes every record that is not a stream, and gives the ids of those that came back different.
pub(crate) fn restored(codec: &dyn Codec, records: &[Record]) -> (usize, usize, Vec<String>) {
    let mut different = Vec::new();
    let (mut whole, mut in_order) = (0, 0);
    for record in records.iter().filter(|record| record.kind != "stream") {
        let decoded = codec
            .decode(turnkeep_codec::Input::new(record.text.as_bytes()), &turnkeep_codec::DecodeOptions::default())
            .unwrap_or_else(|error| panic!("{}: {error:?}", record.id));
        let encoded = codec.encode(&decoded.archive, &turnkeep_codec::EncodeOptions::default()).unwrap();
        let back = parse(std::str::from_utf8(&encoded.bytes).unwrap()).unwrap().into_json();
        whole += 1;
        in_order += usize::from(back == record.body);
        if !same(&record.body, &back) || !encoded.losses.is_empty() {
            different.push(record.id.clone());
        }
    }
    (whole, in_order, different)
}
