//! What a person sees: styles, widths, errors.

use std::io::{self, IsTerminal, Write};

use anstream::AutoStream;
use comfy_table::{ColumnConstraint, ContentArrangement, Width, presets};
use turnkeep_model::Json;
use turnkeep_model::json::{JsonSink, Layout};

use crate::exit::{CliError, Exit};
pub(crate) use crate::style::{BOLD, CYAN, DIM, GREEN, PLAIN, RED, Style, YELLOW};
use crate::style::{ERROR, HELP, printable, printable_line};
use crate::visible::{visible, visible_line};

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
    out.write_all(printable(text).as_bytes())?;
    out.flush()
}

/// Prints a document: to a file or a pipe as it is, to a terminal so that it cannot drive it.
pub(crate) fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match (out.is_terminal(), std::str::from_utf8(bytes)) {
        (false, _) => out.write_all(bytes)?,
        (true, Ok(text)) => out.write_all(visible(text).as_bytes())?,
        (true, Err(_)) => {
            return Err(io::Error::other("it is binary, and a terminal cannot show it; write it to a file"));
        }
    }
    out.flush()
}

/// Prints a value for a program.
pub(crate) fn print_json(value: &Json) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(&json_bytes(value))?;
    out.flush()
}

/// Prints a JSON text, or lines of them. What a terminal would obey or not show is escaped, whoever reads it: the value
/// is the same.
pub(crate) fn print_json_text(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(visible(text).as_bytes())?;
    out.flush()
}

/// A value as a JSON text with a final line break; escaped as [`print_json_text`] escapes it.
pub(crate) fn json_bytes(value: &Json) -> Vec<u8> {
    let mut sink = JsonSink::new(Layout::Pretty);
    value.write(&mut sink);
    let mut text = visible(&sink.into_text());
    text.push('\n');
    text.into_bytes()
}

/// Says something on standard error, on one line. Nothing can be done where that fails.
pub(crate) fn print_note(line: &str) {
    let mut out = AutoStream::auto(io::stderr().lock());
    let _ = writeln!(out, "{}", printable_line(line));
}

/// Says why a command stopped.
pub(crate) fn print_error(error: &CliError) {
    if error.exit() == Exit::Ok {
        return;
    }
    match error {
        CliError::Error(error) => print_error_text(&error.to_string(), error.remedy()),
        CliError::Store(error) => print_error_text(&error.to_string(), error.remedy()),
        CliError::Run(error) => print_error_text(&error.to_string(), error.remedy()),
        CliError::Usage(what, remedy) => print_error_text(what, Some(remedy)),
        CliError::Losses(count) => {
            let lost = counted(*count, "loss", "losses");
            let what = format!("{lost} of content or settings, and --strict allows none; nothing was written");
            print_error_text(&what, Some("list them with --report FILE, or leave --strict out"));
        }
        CliError::Interrupted => print_error_text(&error.message(), Some("run it again")),
        CliError::Output(error) => print_error_text(&format!("cannot write the output: {error}"), None),
    }
}

/// Says what went wrong and what helps. Lines after the first are indented: none of them can pass for ours.
pub(crate) fn print_error_text(what: &str, remedy: Option<&str>) {
    let mut lines = what.lines();
    print_note(&format!("{ERROR}error:{ERROR:#} {}", lines.next().unwrap_or_default()));
    lines.for_each(|line| print_note(&format!("    {line}")));
    if let Some(remedy) = remedy {
        print_note(&format!("  {HELP}help:{HELP:#} {remedy}"));
    }
}

/// A number and what it counts.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A table without rules that fits the output. Every cell is on one line.
pub(crate) struct Table(comfy_table::Table);

impl Table {
    pub(crate) fn add_row<T: AsRef<str>, const N: usize>(&mut self, cells: [T; N]) {
        self.0.add_row(cells.map(|cell| visible_line(cell.as_ref())));
    }

    /// A column that becomes no narrower.
    pub(crate) fn at_least(&mut self, column: usize, width: u16) {
        self.constrain(column, ColumnConstraint::LowerBoundary(Width::Fixed(width)));
    }

    fn constrain(&mut self, column: usize, constraint: ColumnConstraint) {
        if let Some(column) = self.0.column_mut(column) {
            column.set_constraint(constraint);
        }
    }
}

/// An empty table.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = comfy_table::Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width()).unwrap_or(80)).set_header(header.to_vec());
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, 2));
    });
    let mut table = Table(table);
    // What the first column names is there to be copied.
    whole(&mut table, 0);
    table
}

/// Never breaks what stands in a column.
pub(crate) fn whole(table: &mut Table, column: usize) {
    table.constrain(column, ColumnConstraint::ContentWidth);
}

/// The lines of a table, without the space that pads them.
pub(crate) fn table_text(table: &Table) -> String {
    table.0.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
