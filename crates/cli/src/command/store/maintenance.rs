//! `turnkeep verify`, `du` and `gc`

use pollster::block_on;
use turnkeep_model::json::Node;
use turnkeep_model::{Json, SessionId};
use turnkeep_store::{
    Copying, Error, ErrorKind, Finding, Repair, Repaired, Retention, Store, StoreExt, Usage, Verified,
};

use super::super::CommandResult;
use crate::exit::{CliError, Exit};
use crate::progress::Progress;
use crate::report::{object, texts};
use crate::store::cleared;
use crate::store_args::{Du, Gc, Verify};
use crate::terminal::{DIM, GREEN, RED, counted, print, print_json, print_note, table, table_text};
use crate::visible::visible_line;

pub(crate) fn verify(args: &Verify) -> CommandResult {
    let store = args.store.open_existing()?;
    if args.repair {
        return repair(&*store, args);
    }
    if args.clear {
        return clear(&*store, args);
    }
    let ids = match &args.id {
        Some(id) => vec![SessionId::new(id.as_str())],
        None => block_on(Copying::all(&*store))?.sessions().iter().map(|summary| summary.id.clone()).collect(),
    };
    let mut progress = Progress::of("verify", ids.len());
    let mut verified = Vec::new();
    for id in &ids {
        match block_on(store.verify(id)) {
            // Someone removed it since it was listed.
            Err(error) if args.id.is_none() && error.kind() == ErrorKind::NotFound => {}
            checked => verified.push(checked?),
        }
        progress.step();
    }
    progress.end();
    let inside = match (&args.id, store.repair()) {
        (None, Some(repair)) => block_on(repair.check(None))?,
        _ => Vec::new(),
    };
    let sound = inside.is_empty() && verified.iter().all(|verified| verified.findings.is_empty());
    if args.json {
        let sessions = verified.iter().map(as_json).collect::<Vec<_>>();
        let findings = inside.iter().map(words).collect::<Vec<_>>();
        print_json(&object([
            ("sound", sound.into()),
            ("sessions", Json::from(sessions)),
            ("findings", texts(&findings)),
        ]))?;
    } else {
        print(&as_text(&verified, &inside))?;
    }
    Ok(if sound { Exit::Ok } else { Exit::Corrupt })
}

/// Saves what can be saved, and says what that is.
fn repair(store: &dyn Store, args: &Verify) -> CommandResult {
    let Some(repair) = store.repair() else {
        return Err(cannot("this store cannot be repaired"));
    };
    let cleared = clear_findings(repair)?;
    let repaired = block_on(repair.repair())?;
    if args.json {
        let one = |one: &Repaired| {
            object([
                ("session", one.session.as_str().into()),
                ("saved_until", one.last.0.into()),
                ("lost", one.lost.as_deref().map_or(Json::Null, Json::from)),
                ("made_anew", texts(&one.anew)),
            ])
        };
        let repaired = Json::from(repaired.iter().map(one).collect::<Vec<_>>());
        print_json(&object([("repaired", repaired), ("cleared", texts(&cleared))]))?;
        return Ok(Exit::Ok);
    }
    let mut text: String = cleared.iter().map(|what| cleared_text(what)).collect();
    text.extend(repaired.iter().map(repaired_text));
    text.push_str(&format!("repaired {}\n", counted(repaired.len(), "session", "sessions")));
    print(&text)?;
    Ok(Exit::Ok)
}

/// Clears findings that are kept until someone has dealt with them, and says which they were.
fn clear(store: &dyn Store, args: &Verify) -> CommandResult {
    let Some(repair) = store.repair() else {
        return Err(cannot("this store keeps no findings"));
    };
    let cleared = clear_findings(repair)?;
    if args.json {
        print_json(&object([("cleared", texts(&cleared))]))?;
        return Ok(Exit::Ok);
    }
    let mut text: String = cleared.iter().map(|what| cleared_text(what)).collect();
    text.push_str(&format!("cleared {}\n", counted(cleared.len(), "finding", "findings")));
    print(&text)?;
    Ok(Exit::Ok)
}

fn clear_findings(repair: &dyn Repair) -> Result<Vec<String>, CliError> {
    let findings = block_on(repair.clear())?;
    cleared();
    Ok(findings.iter().map(words).collect())
}

fn cleared_text(what: &str) -> String {
    format!("cleared: {}\n", visible_line(what))
}

fn repaired_text(Repaired { session, last, lost, anew }: &Repaired) -> String {
    let session = visible_line(session.as_str());
    let lost = lost.iter().map(|lost| format!("{session}: saved up to record {last}; lost {}\n", visible_line(lost)));
    let anew = anew.iter().map(|what| format!("{session}: made anew {}\n", visible_line(what)));
    lost.chain(anew).collect()
}

fn words(finding: &Finding) -> String {
    match finding {
        Finding::TornTail { bytes, .. } => {
            format!("{bytes} bytes of a batch that was never acknowledged are at its end")
        }
        Finding::Gap { due, found, .. } => format!("record {found} stands where {due} is due"),
        Finding::Damaged { seq: Some(seq), what, .. } => format!("record {seq}: {what}"),
        Finding::Damaged { what, .. } | Finding::Stale { what } => what.clone(),
        other => format!("{other:?}"),
    }
}

fn as_json(verified: &Verified) -> Json {
    object([
        ("session", verified.session.as_str().into()),
        ("last", verified.last.0.into()),
        ("batches", verified.batches.into()),
        ("digest", verified.digest.as_str().into()),
        ("findings", texts(&verified.findings.iter().map(words).collect::<Vec<_>>())),
    ])
}

fn as_text(verified: &[Verified], inside: &[Finding]) -> String {
    let mut text = String::new();
    let wrong = |what: String| format!("  {RED}{}{RED:#}\n", visible_line(&what));
    for one in verified.iter().filter(|one| !one.findings.is_empty()) {
        text.push_str(&format!("{}\n", visible_line(one.session.as_str())));
        one.findings.iter().for_each(|finding| text.push_str(&wrong(words(finding))));
    }
    inside.iter().for_each(|finding| text.push_str(&wrong(words(finding))));
    let batches: u64 = verified.iter().map(|one| one.batches).sum();
    let sessions = counted(verified.len(), "session", "sessions");
    if text.is_empty() {
        return format!("{GREEN}sound{GREEN:#}: {sessions}, {batches} batches\n");
    }
    text
}

/// How many sessions an account shows, the largest first.
const LISTED: usize = 20;

pub(crate) fn du(args: &Du) -> CommandResult {
    let store = args.store.open_existing()?;
    let Some(accounting) = store.accounting() else {
        return Err(cannot("this store keeps no account"));
    };
    let usage = block_on(accounting.usage())?;
    if args.json {
        print_json(&usage_json(&usage))?;
        return Ok(Exit::Ok);
    }
    let mut rows = table(&["WHAT", "BYTES"]);
    for (what, bytes) in parts(&usage) {
        rows.add_row([what.to_owned(), bytes.to_string()]);
    }
    let mut sessions = table(&["SESSION", "OWN", "RAW", "SHARED"]);
    for one in usage.sessions.iter().take(LISTED) {
        let id = visible_line(one.session.as_str());
        sessions.add_row([id, one.own.to_string(), one.raw.to_string(), one.shared.to_string()]);
    }
    let amplification = format!("\nstored / raw, without search: {:.2}\n\n", usage.amplification());
    print(&format!("{}{amplification}{}", table_text(&rows), table_text(&sessions)))?;
    if usage.sessions.len() > LISTED {
        print_note(&format!("{DIM}… and {} more; --json lists them all{DIM:#}", usage.sessions.len() - LISTED));
    }
    Ok(Exit::Ok)
}

fn parts(usage: &Usage) -> [(&'static str, u64); 8] {
    [
        ("raw", usage.raw),
        ("journals", usage.journals),
        ("bodies", usage.bodies),
        ("listing", usage.listing),
        ("dictionaries", usage.dictionaries),
        ("search", usage.search),
        ("free", usage.free),
        ("total", usage.total),
    ]
}

fn usage_json(usage: &Usage) -> Json {
    let one = |one: &turnkeep_store::SessionUse| {
        object([
            ("session", one.session.as_str().into()),
            ("own", one.own.into()),
            ("raw", one.raw.into()),
            ("shared", one.shared.into()),
        ])
    };
    let sessions = ("sessions", Json::from(usage.sessions.iter().map(one).collect::<Vec<_>>()));
    let amplification = format!("{:.4}", usage.amplification());
    let amplification = turnkeep_model::json::parse(&amplification).map_or(Json::Null, Node::into_json);
    let amplification = ("amplification", amplification);
    object(parts(usage).into_iter().map(|(what, bytes)| (what, bytes.into())).chain([amplification, sessions]))
}

pub(crate) fn gc(args: &Gc) -> CommandResult {
    let store = args.store.open_existing()?;
    let Some(maintenance) = store.maintenance() else {
        return Err(cannot("this store cannot be cleaned"));
    };
    let retention =
        Retention { age: args.age(), count: args.keep_count, bytes: args.keep_bytes, rehearse: args.dry_run };
    let freed = block_on(maintenance.gc(&retention))?;
    let ids: Vec<&str> = freed.sessions.iter().map(SessionId::as_str).collect();
    if args.json {
        print_json(&object([
            ("sessions", texts(&ids)),
            ("batches", freed.batches.into()),
            ("bodies", freed.bodies.into()),
            ("bytes", freed.bytes.into()),
        ]))?;
        return Ok(Exit::Ok);
    }
    let (verb, less) = if args.dry_run {
        ("would remove", String::new())
    } else {
        ("removed", format!("; {} bytes less", freed.bytes))
    };
    let mut text: String = ids.iter().map(|id| format!("{verb} {}\n", visible_line(id))).collect();
    text.push_str(&format!("{verb} {}{less}\n", counted(ids.len(), "session", "sessions")));
    print(&text)?;
    Ok(Exit::Ok)
}

pub(super) fn cannot(what: &str) -> CliError {
    Error::new(ErrorKind::Unsupported, what).hint("copy the sessions to an SQLite store").into()
}

#[cfg(test)]
mod tests {
    use turnkeep_model::Seq;

    use super::*;

    #[test]
    fn a_repair_tells_what_was_lost_and_what_was_made_anew() {
        let one = |lost: Option<&str>, anew: &[&str]| Repaired {
            session: SessionId::new("talk"),
            last: Seq(7),
            lost: lost.map(str::to_owned),
            anew: anew.iter().map(|&what| what.to_owned()).collect(),
        };

        assert_eq!(
            repaired_text(&one(Some("records 8 to 9"), &[])),
            "talk: saved up to record 7; lost records 8 to 9\n"
        );
        assert_eq!(
            repaired_text(&one(None, &["the title in the listing"])),
            "talk: made anew the title in the listing\n"
        );
    }
}
