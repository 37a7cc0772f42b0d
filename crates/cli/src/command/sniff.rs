//! `turnkeep sniff`

use std::fmt::Write;

use turnkeep_codec::{Confidence, Sniffed};
use turnkeep_file::{Limits, Packed};

use super::CommandResult;
use crate::args::Sniff;
use crate::exit::Exit;
use crate::input_args::source_of;
use crate::report;
use crate::terminal::{BOLD, DIM, YELLOW, print, print_json};
use crate::visible::visible_line;

pub(super) fn run(args: &Sniff) -> CommandResult {
    let source = source_of(&args.input, &Limits { max_bytes: args.max_bytes })?;
    let found = turnkeep_codec::sniff(&source.input()).map_err(|error| error.file(source.name()))?;
    if args.json {
        print_json(&report::sniffed(&found, source.packed()))?;
    } else {
        print(&as_text(&found, source.packed()))?;
    }
    Ok(Exit::Ok)
}

fn as_text(found: &Sniffed, packed: Packed) -> String {
    let Sniffed { codec, guess, others } = found;
    let mut text = format!("{BOLD}{}{BOLD:#}", codec.spec().id);
    if let Some(generation) = &guess.generation {
        let _ = write!(text, " ({})", visible_line(generation));
    }
    if packed == Packed::Zstd {
        text.push_str(" compressed with zstd");
    }
    let sure = match guess.confidence {
        Confidence::Certain => "certain",
        Confidence::Likely | Confidence::No => "likely",
    };
    let _ = writeln!(text, "  {DIM}{sure}: {}{DIM:#}", visible_line(&guess.why));
    if !others.is_empty() {
        let _ = writeln!(text, "{YELLOW}ambiguous:{YELLOW:#} it may just as well be {}", others.join(" or "));
    }
    text
}
