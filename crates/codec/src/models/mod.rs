//! What is known of models: one table, used by encoding, repair and lint on every wire.
//!
//! A [`Row`] says what the models of a family take, since when, and how that is known. [`of`] finds the row of a model by
//! its name, however a host spells it. A model that no row is for gets the conservative row of its wire: what every model
//! of that wire takes. A [`Vendor`] takes less than some of its models do, and both decide. Encoding fits settings to the row (`fit`), takes out what is left that the model refuses
//! (`settle`), and lint tells the same places of a body as given (`lint`): both ask `check`.

mod check;
pub(crate) mod fit;
mod lint;
mod name;
mod row;
mod settings;
pub(crate) mod settle;
mod table;
pub(crate) mod vendor;

pub(crate) use check::BreachKind;
pub(crate) use lint::{findings, rules};
pub use row::{Budget, Forced, Medium, Row, Sampling, Thinks};
pub(crate) use settings::{Setting, Settings, Terms, part, slot, snake};
pub use table::ROWS;
pub(crate) use table::UNLISTED;
pub use vendor::{VENDORS, Vendor};

use turnkeep_model::{Error, ErrorKind, Result};

use crate::codec::EncodeOptions;
use crate::format;
use crate::wire::contract::NameStyle;

/// The dialects that a row on unlisted models is for, empty for all, and the row.
pub(crate) type Unlisted = (&'static [&'static str], Row);

/// The row of a model, and whether it is the model's own.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// What the model takes.
    pub row: &'static Row,
    /// Whether the table has a row for the model. Otherwise `row` is the conservative one of the wire.
    pub is_known: bool,
    /// What the vendor takes of any model.
    pub vendor: &'static Vendor,
}

/// What is known of a model on a wire. `dialect` is the profile of the wire's own vendor or of another one.
///
/// ```
/// use turnkeep_codec::models;
///
/// let bedrock = models::of("bedrock.converse", None, "us.anthropic.claude-sonnet-4-5-20250929-v1:0");
/// let vertex = models::of("anthropic.messages", None, "claude-sonnet-4-5@20250929");
///
/// assert!(bedrock.is_known);
/// assert_eq!(bedrock.row, vertex.row);
/// assert!(!models::of("openai.chat", Some("azure"), "my-deployment").is_known);
/// ```
pub fn of(wire: &str, dialect: Option<&str>, model: &str) -> Target {
    let names = name::Names::of(model);
    let style = format::wire(wire).map(|wire| wire.contract().model_names.style);
    // A name with an owner is somebody's own build, which can do less than the library's model of that name.
    let is_library = style != Some(NameStyle::ModelColonTag) || !model.contains('/');
    let found = ROWS.iter().copied().flatten().find(|row| names.fit(row.models)).filter(|_| is_library);
    let row = found.unwrap_or_else(|| conservative(wire, dialect));
    Target { row, is_known: found.is_some(), vendor: vendor::of(dialect) }
}

/// What is known of the model that a request is for: of the family that `options` name, else by the model's name.
pub(crate) fn asked(wire: &str, dialect: Option<&str>, model: &str, options: &EncodeOptions) -> Target {
    of(wire, dialect, options.family.as_deref().unwrap_or(model))
}

/// Checks that the table has a row for a model that somebody names as a family.
///
/// # Errors
/// `NotFound` where it has none.
pub fn check_family(model: &str) -> Result<()> {
    let is_known = || ROWS.iter().copied().flatten().any(|row| name::Names::of(model).fit(row.models));
    if is_known() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::NotFound, format!("the table of models has no row for `{model}`"))
        .hint("name a model as its maker does, as in `gpt-5` or `claude-sonnet-4-5`; docs/models.md lists the rows"))
}

/// What every model of a wire takes.
pub fn conservative(wire: &str, dialect: Option<&str>) -> &'static Row {
    let rows = format::wire(wire).map_or(&[][..], |wire| wire.contract().unlisted);
    let found = rows.iter().find(|(dialects, _)| serves(dialects, dialect));
    found.map_or(&table::NOTHING_KNOWN, |(_, row)| row)
}

/// The conservative rows: the wire, its dialects that the row is for (empty for all), and the row.
pub fn unlisted() -> impl Iterator<Item = (&'static str, &'static [&'static str], &'static Row)> {
    let rows = |wire: &'static dyn crate::wire::Wire| {
        let id = wire.spec().id;
        wire.contract().unlisted.iter().map(move |(dialects, row)| (id, *dialects, row))
    };
    format::wires().flat_map(rows)
}

fn serves(dialects: &[&str], dialect: Option<&str>) -> bool {
    dialects.is_empty() || dialect.is_none_or(|dialect| dialects.contains(&dialect))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_patterns_a_date_and_evidence() {
        let rows = ROWS.iter().copied().flatten().chain(unlisted().map(|(_, _, row)| row));
        for row in rows {
            let date: Vec<&str> = row.since.split('-').collect();
            let is_date =
                matches!(date.as_slice(), [year, month] | [year, month, _] if year.len() == 4 && month.len() == 2);
            let says = row.evidence.split_whitespace().count() >= 6 && row.evidence.ends_with(['.', '"']);

            assert!(is_date, "{:?}: `{}` is no date", row.models, row.since);
            assert!(says, "{:?}: no sentence of evidence: `{}`", row.models, row.evidence);
            assert!(!row.models.is_empty() && !row.maker.is_empty(), "{row:?}");
        }
    }

    #[test]
    fn no_row_stands_behind_one_that_takes_its_models() {
        let rows: Vec<&Row> = ROWS.iter().copied().flatten().collect();
        for (index, row) in rows.iter().enumerate() {
            for pattern in row.models {
                let sample = pattern.trim_end_matches('*').replace('*', "x");
                let names = name::Names::of(&sample);
                let first = rows.iter().position(|row| names.fit(row.models));
                assert_eq!(first, Some(index), "`{pattern}` is never reached: `{:?}`", rows[first.unwrap_or(0)].models);
            }
        }
    }

    #[test]
    fn a_row_is_consistent_with_itself() {
        for row in ROWS.iter().copied().flatten() {
            let asks = !row.efforts.is_empty() || row.budget.is_some() || row.adaptive;
            assert!(!(row.thinks == Thinks::Never && asks), "{:?} does not think, but has settings for it", row.models);
            assert!(row.budget.is_none_or(|budget| budget.least <= budget.most), "{:?}", row.models);
        }
    }

    #[test]
    fn a_model_is_found_by_every_host_s_spelling() {
        let spellings = [
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "anthropic/claude-sonnet-4.5",
            "claude-sonnet-4-5@20250929",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "global.anthropic.claude-sonnet-4-5-20250929-v1%3A0",
            "arn:aws:bedrock:us-east-1:012345678901:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "arn%3Aaws%3Abedrock%3Aus-east-1%3A012345678901%3Ainference-profile%2Fus.anthropic.claude-sonnet-4-5-20250929-v1%3A0",
            "CLAUDE-SONNET-4-5",
        ];
        let rows: Vec<_> = spellings.map(|model| of("anthropic.messages", None, model)).to_vec();

        assert!(rows.iter().all(|found| found.is_known && found.row == rows[0].row), "{rows:#?}");
    }
}
