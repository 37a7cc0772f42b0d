//! What a person sees: styles, widths, errors.

use std::io::{self, IsTerminal, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use turnkeep_model::Json;
use turnkeep_model::json::{JsonSink, Layout};

use crate::exit::{Exit, Stop};
use crate::visible::visible;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const RED: Style = AnsiColor::Red.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default().bold();

/// The widest text that still reads well.
const MAX_WIDTH: usize = 100;

/// How wide the output may be. What is not a terminal gets one fixed width, so that output does not depend on who reads it.
pub(crate) fn width() -> usize {
    let columns = terminal_size::terminal_size().map(|(columns, _)| usize::from(columns.0));
    columns.filter(|_| io::stdout().is_terminal()).unwrap_or(MAX_WIDTH).clamp(30, MAX_WIDTH)
}

/// Prints text with styles; they are left out where nobody sees colours.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = AutoStream::auto(io::stdout().lock());
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints bytes as they are.
pub(crate) fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Prints a value for a program.
pub(crate) fn print_json(value: &Json) -> io::Result<()> {
    print_bytes(&json_bytes(value))
}

/// A value as a JSON text with a final line break.
pub(crate) fn json_bytes(value: &Json) -> Vec<u8> {
    let mut sink = JsonSink::new(Layout::Pretty);
    value.write(&mut sink);
    let mut bytes = sink.into_bytes();
    bytes.push(b'\n');
    bytes
}

/// Says something on standard error. Nothing can be done where that fails.
pub(crate) fn say(text: &str) {
    let mut out = AutoStream::auto(io::stderr().lock());
    let _ = writeln!(out, "{text}");
}

/// Says why a command stopped.
pub(crate) fn complain(stop: &Stop) {
    if stop.exit() == Exit::Ok {
        return;
    }
    match stop {
        Stop::Error(error) => complain_of(&error.to_string(), error.remedy()),
        Stop::Store(error) => complain_of(&error.to_string(), error.remedy()),
        Stop::Run(error) => complain_of(&error.to_string(), error.remedy()),
        Stop::Usage(what, remedy) => complain_of(what, Some(remedy)),
        Stop::Losses(count) => {
            let lost = counted(*count, "loss", "losses");
            let what = format!("{lost} of content or settings, and --strict allows none; nothing was written");
            complain_of(&what, Some("list them with --report FILE, or leave --strict out"));
        }
        Stop::Output(error) => complain_of(&format!("cannot write the output: {error}"), None),
    }
}

/// Says what went wrong and what helps.
pub(crate) fn complain_of(what: &str, remedy: Option<&str>) {
    say(&format!("{ERROR}error:{ERROR:#} {}", visible(what)));
    if let Some(remedy) = remedy {
        say(&format!("  {HELP}help:{HELP:#} {}", visible(remedy)));
    }
}

/// A number and what it counts.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A table without rules that fits the output.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width()).unwrap_or(80)).set_header(header.to_vec());
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, 2));
    });
    // What the first column names is there to be copied.
    whole(&mut table, 0);
    table
}

/// Never breaks what stands in a column.
pub(crate) fn whole(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
}

/// The lines of a table, without the space that pads them.
pub(crate) fn table_text(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
