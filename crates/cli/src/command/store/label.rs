//! `turnkeep tag`

use pollster::block_on;
use turnkeep_model::event::SessionChanged;
use turnkeep_model::{Batch, Event, Json, Object, SessionId, Time};
use turnkeep_store::{ErrorKind, Store, StoreExt, Summary};

use super::super::CommandResult;
use crate::exit::{CliError, Exit};
use crate::report::{object, text_or_null};
use crate::store_args::Tag;
use crate::terminal::{print, print_json};
use crate::visible::shortened;

/// How often someone else may come first before we give up.
const TRIES: usize = 20;

pub(crate) fn tag(args: &Tag) -> CommandResult {
    let store = args.store.open_existing()?;
    let session = SessionId::new(args.id.as_str());
    let mut summary = block_on(store.summary(&session))?;
    if args.changes() {
        summary = change(&*store, &session, args)?;
    }
    let kept = metadata(&*store, &session)?;
    if args.json {
        print_json(&as_json(&summary, kept))?;
    } else {
        print(&as_text(&summary, &kept))?;
    }
    Ok(Exit::Ok)
}

/// Appends the change; where someone else appended meanwhile, to what the session is then.
fn change(store: &dyn Store, session: &SessionId, args: &Tag) -> Result<Summary, CliError> {
    let mut tries = 0;
    loop {
        let summary = block_on(store.summary(session))?;
        let mut changed = changed(&summary, args);
        let before = metadata(store, session)?;
        let after = kept(&before, args);
        changed.metadata = (after != before).then_some(after);
        if changed == SessionChanged::default() {
            return Ok(summary);
        }
        let mut batch = Batch::new(summary.last.next(), vec![Event::from(changed).into()]);
        batch.time = Some(Time::from_instant(jiff::Timestamp::now()));
        tries += 1;
        match block_on(store.append(session, summary.last, &batch)) {
            Err(error) if error.kind() == ErrorKind::Conflict && tries < TRIES => {}
            done => {
                done?;
                return Ok(block_on(store.summary(session))?);
            }
        }
    }
}

/// What becomes different; nothing where the session is like that already.
fn changed(summary: &Summary, args: &Tag) -> SessionChanged {
    let mut tags = summary.tags.clone();
    tags.retain(|(key, _)| !args.remove.contains(key));
    for (key, value) in &args.set {
        match tags.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => known.clone_from(value),
            None => tags.push((key.clone(), value.clone())),
        }
    }
    SessionChanged {
        title: args.title.clone().filter(|title| summary.title.as_ref() != Some(title)),
        tags: Some(tags).filter(|tags| *tags != summary.tags),
        ..SessionChanged::default()
    }
}

/// What the application keeps with a session.
pub(super) fn metadata(store: &dyn Store, session: &SessionId) -> Result<Object, CliError> {
    Ok(block_on(store.load_window(session, 0))?.head.session.metadata)
}

fn kept(before: &Object, args: &Tag) -> Object {
    let mut after = before.clone();
    args.remove_meta.iter().for_each(|key| drop(after.remove(key)));
    args.meta.iter().for_each(|(key, value)| after.set(key.as_str(), value.clone()));
    after
}

fn as_json(summary: &Summary, kept: Object) -> Json {
    let tag = |(key, value): &(String, String)| Json::from(vec![Json::from(key.as_str()), Json::from(value.as_str())]);
    object([
        ("session", summary.id.as_str().into()),
        ("title", text_or_null(summary.title.as_deref())),
        ("tags", Json::from(summary.tags.iter().map(tag).collect::<Vec<_>>())),
        ("metadata", Json::Object(kept)),
        ("last", summary.last.0.into()),
    ])
}

fn as_text(summary: &Summary, kept: &Object) -> String {
    let line = |text: &str| shortened(text, usize::MAX);
    let title = summary.title.iter().map(|title| format!("title {}\n", line(title)));
    let tags = summary.tags.iter().map(|(key, value)| format!("{}={}\n", line(key), line(value)));
    let kept =
        kept.iter().map(|(key, value)| format!("meta {}={}\n", line(&key.to_str_lossy()), line(&value.to_text())));
    title.chain(tags).chain(kept).collect()
}
