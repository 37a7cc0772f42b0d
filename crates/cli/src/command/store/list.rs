//! `turnkeep ls` and `turnkeep search`

use std::fmt::Write;
use std::sync::Arc;

use pollster::block_on;
use turnkeep_model::{Json, Object, SessionId, Time};
use turnkeep_store::{
    Cursor, Error, ErrorKind, Hit, Indexed, MemoryStore, Query, Search, SearchQuery, Store, StoreExt, Summary,
};

use super::super::CommandResult;
use crate::exit::{CliError, Exit};
use crate::progress::Progress;
use crate::report::{object, text_or_null};
use crate::store::StoreArgs;
use crate::store_args::{Find, Ls};
use crate::terminal::{BOLD, CYAN, DIM, YELLOW, counted, print, print_json, print_note, table, table_text, whole};
use crate::visible::{shortened, visible_line};

/// How many characters of a title a listing shows; `--json` has all of it.
const LONGEST_TITLE: usize = 60;

/// How narrow the column of titles may become, however long an id is.
const NARROWEST_TITLE: u16 = 16;

pub(crate) fn ls(args: &Ls) -> CommandResult {
    let tag = |tag: &String| match tag.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
        None => (tag.clone(), None),
    };
    let query = Query {
        text: args.title.clone(),
        tags: args.tag.iter().map(tag).collect(),
        status: args.status.clone(),
        parent: args.parent.as_deref().map(SessionId::new),
        sort: args.sort.into(),
        limit: args.limit,
        after: args.after.as_deref().map(Cursor::from_word).transpose()?,
        ..Query::default()
    };
    let store = listed(&args.store)?;
    let page = if args.meta.is_empty() {
        block_on(store.list(&query))?
    } else {
        block_on(store.list_by_metadata(&query, &|kept: &Object| args.meta.iter().all(|word| holds(kept, word))))?
    };
    let next = page.next.map(|next| next.to_word());
    if args.json {
        let sessions = page.sessions.iter().map(as_json).collect::<Vec<_>>();
        print_json(&object([("sessions", Json::from(sessions)), ("next", text_or_null(next.as_deref()))]))?;
        return Ok(Exit::Ok);
    }
    let mut rows = table(&["ID", "TITLE", "STATUS", "TURNS", "LAST", "CHANGED"]);
    // A title may take more lines; what is counted and when it was does not.
    (2..6).for_each(|column| whole(&mut rows, column));
    rows.at_least(1, NARROWEST_TITLE);
    for summary in &page.sessions {
        let (title, status) = (summary.title.as_deref().unwrap_or(""), summary.status.as_deref().unwrap_or(""));
        let (turns, last) = (summary.turns.to_string(), summary.last.to_string());
        rows.add_row([
            &shortened(summary.id.as_str(), usize::MAX),
            &shortened(title, LONGEST_TITLE),
            &visible_line(status),
            &turns,
            &last,
            &time(summary.updated),
        ]);
    }
    print(&table_text(&rows))?;
    if let Some(next) = next {
        print_note(&format!("{DIM}there are more: --after {}{DIM:#}", visible_line(&next)));
    }
    Ok(Exit::Ok)
}

/// The store to list; one that is not there has no sessions.
fn listed(store: &StoreArgs) -> Result<Arc<dyn Store>, CliError> {
    if store.exists() { store.open() } else { Ok(Arc::new(MemoryStore::default())) }
}

/// Whether metadata has a key, and under it a value: `owner`, `owner=ada`, `n=3`.
fn holds(kept: &Object, word: &str) -> bool {
    match word.split_once('=') {
        None => kept.contains(word),
        Some((key, value)) => {
            kept.get(key).is_some_and(|own| own.as_str().is_some_and(|own| own == value) || own.to_text() == value)
        }
    }
}

fn time(millis: i64) -> String {
    let instant = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    Time::from_instant(instant).to_string()
}

fn as_json(summary: &Summary) -> Json {
    let origin = summary.origin.as_ref().map_or(Json::Null, |origin| {
        object([("session", origin.session.as_str().into()), ("seq", origin.seq.0.into())])
    });
    let tag = |(key, value): &(String, String)| Json::from(vec![Json::from(key.as_str()), Json::from(value.as_str())]);
    object([
        ("id", summary.id.as_str().into()),
        ("parent", origin),
        ("title", text_or_null(summary.title.as_deref())),
        ("status", text_or_null(summary.status.as_deref())),
        ("tags", Json::from(summary.tags.iter().map(tag).collect::<Vec<_>>())),
        ("last", summary.last.0.into()),
        ("turns", summary.turns.into()),
        ("blocks", summary.blocks.into()),
        ("bytes", summary.bytes.into()),
        ("created", time(summary.created).into()),
        ("updated", time(summary.updated).into()),
    ])
}

pub(crate) fn search(args: &Find) -> CommandResult {
    let store = args.store.open_existing()?;
    let Some(index) = store.search() else {
        let error = Error::new(ErrorKind::Unsupported, "this store has no search");
        return Err(error.hint("copy the sessions to an SQLite store").into());
    };
    let session = args.session.as_deref().map(SessionId::new);
    let query = SearchQuery { text: args.words.join(" "), session, limit: args.limit };
    catch_up(index)?;
    let hits = block_on(index.search(&query))?;
    if args.json {
        print_json(&object([("hits", Json::from(hits.iter().map(hit_json).collect::<Vec<_>>()))]))?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    for hit in &hits {
        let _ = writeln!(text, "{BOLD}{}{BOLD:#} {CYAN}{}{CYAN:#}", visible_line(hit.session.as_str()), hit.seq);
        let _ = writeln!(text, "  {}", marked(hit));
    }
    let _ = writeln!(text, "{}", counted(hits.len(), "hit", "hits"));
    print(&text)?;
    Ok(Exit::Ok)
}

/// Indexes what was appended since the last search. The first search of a large store takes a while: it shows how far it
/// is, and whoever stops it loses nothing of what is done.
fn catch_up(index: &dyn Search) -> Result<(), CliError> {
    let mut progress = None;
    let mut told = |Indexed { done, all }| {
        progress.get_or_insert_with(|| Progress::of("index", usize::try_from(all).unwrap_or(usize::MAX))).reach(done);
    };
    block_on(index.catch_up(&mut told))?;
    if let Some(progress) = progress {
        progress.end();
    }
    Ok(())
}

/// The snippet with its words marked.
fn marked(hit: &Hit) -> String {
    let (mut text, mut at) = (String::new(), 0);
    for mark in hit.marks.iter().filter(|mark| mark.start < mark.end) {
        if mark.start < at {
            continue;
        }
        text.push_str(&visible_line(hit.snippet.get(at..mark.start).unwrap_or_default()));
        let word = visible_line(hit.snippet.get(mark.clone()).unwrap_or_default());
        let _ = write!(text, "{YELLOW}{word}{YELLOW:#}");
        at = mark.end;
    }
    text.push_str(&visible_line(hit.snippet.get(at..).unwrap_or_default()));
    text
}

fn hit_json(hit: &Hit) -> Json {
    let mark =
        |mark: &std::ops::Range<usize>| Json::from(vec![Json::from(mark.start as u64), Json::from(mark.end as u64)]);
    object([
        ("session", hit.session.as_str().into()),
        ("seq", hit.seq.0.into()),
        ("snippet", hit.snippet.as_str().into()),
        ("marks", Json::from(hit.marks.iter().map(mark).collect::<Vec<_>>())),
    ])
}
