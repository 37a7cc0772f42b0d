//! `turnkeep erase`

use std::collections::BTreeSet;
use std::io::Read;

use pollster::block_on;
use turnkeep_model::json::TreeSink;
use turnkeep_model::shape::Shape;
use turnkeep_model::{Json, Seq, SessionId};
use turnkeep_store::{Error, ErrorKind, Store, StoreExt};

use super::super::CommandResult;
use super::maintenance::cannot;
use crate::exit::{CliError, Exit};
use crate::input_args::is_dash;
use crate::report::{object, texts};
use crate::store_args::Erase;
use crate::terminal::{counted, print, print_json};
use crate::visible::visible_line;

/// A text of fewer bytes may well stand in places that nobody thought of.
const SHORT: usize = 8;

pub(crate) fn erase(args: &Erase) -> CommandResult {
    let store = args.store.open_existing()?;
    let Some(maintenance) = store.maintenance() else {
        return Err(cannot("this store cannot erase"));
    };
    let session = SessionId::new(args.id.as_str());
    let seq = args.seq.map(Seq);
    let (mut records, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for secret in secrets(&*store, &session, args)? {
        let erased = block_on(maintenance.erase(&session, seq, &secret))?;
        records.extend(erased.records.into_iter().map(|seq| seq.0));
        shared.extend(erased.shared_with);
    }
    let shared: Vec<&str> = shared.iter().map(SessionId::as_str).collect();
    if args.json {
        let numbers = records.iter().map(|seq| Json::from(*seq)).collect::<Vec<_>>();
        let pairs =
            [("session", session.as_str().into()), ("records", Json::from(numbers)), ("shared_with", texts(&shared))];
        print_json(&object(pairs))?;
    } else if !records.is_empty() {
        let mut text = format!("erased from {}\n", counted(records.len(), "record", "records"));
        shared.iter().for_each(|id| text.push_str(&format!("also in {}, which shares them\n", visible_line(id))));
        print(&text)?;
    }
    if records.is_empty() { Err(nowhere(&session)) } else { Ok(Exit::Ok) }
}

fn nowhere(session: &SessionId) -> CliError {
    Error::new(ErrorKind::NotFound, "nothing like that is in the session")
        .session(session)
        .hint("`turnkeep show ID` prints what is there")
        .into()
}

/// The texts to erase. The longest first: one may hold another.
fn secrets(store: &dyn Store, session: &SessionId, args: &Erase) -> Result<Vec<String>, CliError> {
    let mut found = match (&args.text, &args.text_from, &args.beginning, &args.at) {
        (Some(text), ..) => vec![text.clone()],
        (_, Some(file), ..) => vec![read(file)?],
        (_, _, Some(beginning), _) => {
            let mut words = BTreeSet::new();
            collect(&as_json(store, session)?, beginning, &mut words);
            words.into_iter().collect()
        }
        (_, _, _, Some(path)) => {
            let text = text_at(&as_json(store, session)?, path, session)?;
            if text.len() < SHORT && args.seq.is_none() {
                let what = "the text at this path is short, and would be erased wherever it stands".to_owned();
                return Err(CliError::Usage(what, "name its record with --seq SEQ".to_owned()));
            }
            vec![text]
        }
        (None, None, None, None) => Vec::new(),
    };
    found.sort_by_key(|text| std::cmp::Reverse(text.len()));
    Ok(found)
}

/// A secret from a file or standard input, without the line break at its end.
fn read(file: &std::path::Path) -> Result<String, CliError> {
    let mut text = String::new();
    let done = if is_dash(file) {
        std::io::stdin().read_to_string(&mut text).map(drop)
    } else {
        std::fs::read_to_string(file).map(|read| text = read)
    };
    done.map_err(|error| Error::new(ErrorKind::Io, "the text to erase cannot be read").because(error))?;
    let end = text.trim_end_matches(['\n', '\r']).len();
    text.truncate(end);
    Ok(text)
}

fn as_json(store: &dyn Store, session: &SessionId) -> Result<Json, CliError> {
    let loaded = block_on(store.load(session))?;
    let mut sink = TreeSink::default();
    loaded.session.write(&mut sink);
    Ok(sink.into_json())
}

/// Every word that begins like this: up to a space, a quote or another mark that no token has.
fn collect(json: &Json, beginning: &str, words: &mut BTreeSet<String>) {
    match json {
        Json::String(text) => words.extend(words_of(&text.to_str_lossy(), beginning)),
        Json::Array(items) => items.iter().for_each(|item| collect(item, beginning, words)),
        Json::Object(object) => object.iter().for_each(|(_, value)| collect(value, beginning, words)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

fn words_of(text: &str, beginning: &str) -> Vec<String> {
    let starts = text.match_indices(beginning).map(|(start, _)| start);
    let word = |start: usize| {
        let rest = text.get(start + beginning.len()..).unwrap_or_default();
        let end = rest.find(|c: char| c.is_whitespace() || "\"'`,;<>(){}[]\\".contains(c)).unwrap_or(rest.len());
        text.get(start..start + beginning.len() + end).unwrap_or_default().to_owned()
    };
    starts.map(word).filter(|word| word.len() > beginning.len()).collect()
}

/// The text at a path such as `turns[3].blocks[1].text`.
fn text_at(json: &Json, path: &str, session: &SessionId) -> Result<String, CliError> {
    let mut steps = path.split(['.', '[']).map(|step| step.trim_end_matches(']')).filter(|step| !step.is_empty());
    let found = steps.try_fold(json, |here, step| match here {
        Json::Object(object) => object.get(step),
        Json::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    });
    found.and_then(Json::as_str).map(std::borrow::Cow::into_owned).filter(|text| !text.is_empty()).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, "there is no text at this path")
            .session(session)
            .hint("`turnkeep show ID --json` prints the session with its paths")
            .into()
    })
}
