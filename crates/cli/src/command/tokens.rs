//! `turnkeep tokens`

use std::fmt::Write;

use turnkeep_model::policy::tokens::{TokenCount, TokenCounter};
use turnkeep_model::{Error, ErrorKind, Json};

use super::CommandResult;
use crate::exit::Exit;
use crate::input_args::open_any;
use crate::policy_args::{Tokens, counting};
use crate::report::{object, with_ambiguous};
use crate::terminal::{print, print_json};

pub(super) fn run(args: &Tokens) -> CommandResult {
    let opened = open_any(&args.input, &args.reading, &args.store)?;
    let counting = counting(args.model.as_deref(), &opened.archive)?;
    let session =
        opened.archive.main_session().ok_or_else(|| Error::new(ErrorKind::NotFound, "there is no session in it"))?;
    let count = counting.session(session);
    if args.json {
        print_json(&with_ambiguous(as_json(counting, &count), &opened.ambiguous))?;
    } else {
        print(&as_text(counting, &count))?;
    }
    Ok(Exit::Ok)
}

fn as_json(counting: TokenCounter, count: &TokenCount) -> Json {
    let turn = |(index, tokens): (usize, &u64)| object([("turn", (index as u64).into()), ("tokens", (*tokens).into())]);
    object([
        ("counting", counting.label().into()),
        ("exact", counting.is_exact().into()),
        ("turns", Json::Array(count.turns.iter().enumerate().map(turn).collect())),
        ("tools", count.tools.into()),
        ("total", count.total().into()),
    ])
}

fn as_text(counting: TokenCounter, count: &TokenCount) -> String {
    let mut text = String::new();
    for (index, tokens) in count.turns.iter().enumerate() {
        let _ = writeln!(text, "{:<12} {tokens:>9}", format!("turns[{index}]"));
    }
    if count.tools > 0 {
        let _ = writeln!(text, "{:<12} {:>9}", "tools", count.tools);
    }
    let how = if counting.is_exact() { format!("exact, {}", counting.label()) } else { "an estimate".to_owned() };
    let _ = writeln!(text, "{:<12} {:>9}  {how}", "in all", count.total());
    text
}
