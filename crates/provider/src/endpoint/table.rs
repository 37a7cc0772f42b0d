//! A table of a configuration, taken apart field by field: what is left over is not known.

use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use turnkeep_model::{Decimal, Error, ErrorKind, Number, Result};

use super::load::Source;

/// A table, and where it stands.
pub struct Table<'a> {
    source: &'a Source,
    fields: Vec<(Spanned<String>, Spanned<DeValue<'a>>)>,
    /// The names that were asked for.
    known: Vec<&'static str>,
    path: String,
}

impl<'a> Table<'a> {
    /// The whole file.
    ///
    /// # Errors
    /// `Corrupt` with the file, the line and the path of what is wrong.
    pub fn of(source: &'a Source) -> Result<Table<'a>> {
        match DeTable::parse(&source.text) {
            Ok(table) => Ok(Table::new(source, table.into_inner(), String::new())),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                Err(wrong(source, at, "", error.message()))
            }
        }
    }

    fn new(source: &'a Source, table: DeTable<'a>, path: String) -> Table<'a> {
        let owned = |key: Spanned<std::borrow::Cow<'_, str>>| Spanned::new(key.span(), key.into_inner().into_owned());
        let fields = table.into_iter().map(|(key, value)| (owned(key), value)).collect();
        Table { source, fields, known: Vec::new(), path }
    }

    /// The tables in this one, by name, with the byte where each stands.
    ///
    /// # Errors
    /// `Corrupt` with the file, the line and the path of what is wrong.
    pub fn tables(self) -> Result<Vec<(String, usize, Table<'a>)>> {
        let Table { source, fields, path, .. } = self;
        let one = |(key, value): (Spanned<String>, Spanned<DeValue<'a>>)| {
            let (at, name) = (key.span().start, key.into_inner());
            let path = join(&path, &name);
            match value.into_inner() {
                DeValue::Table(table) => Ok((name, at, Table::new(source, table, path))),
                _ => Err(wrong(source, at, &path, "expected a table")),
            }
        };
        let mut tables = fields.into_iter().map(one).collect::<Result<Vec<_>>>()?;
        tables.sort_by_key(|(_, at, _)| *at);
        Ok(tables)
    }

    fn take(&mut self, key: &'static str) -> Option<(usize, DeValue<'a>)> {
        self.known.push(key);
        let place = self.fields.iter().position(|(name, _)| name.get_ref() == key)?;
        let (name, value) = self.fields.swap_remove(place);
        Some((name.span().start, value.into_inner()))
    }

    fn read<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        read: impl FnOnce(DeValue<'a>) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some((at, value)) = self.take(key) else { return Ok(None) };
        match read(value) {
            Some(value) => Ok(Some(value)),
            None => Err(wrong(self.source, at, &join(&self.path, key), &format!("expected {expected}"))),
        }
    }

    /// A text.
    ///
    /// # Errors
    /// `Corrupt` with the file, the line and the path of what is wrong.
    pub fn text(&mut self, key: &'static str) -> Result<Option<String>> {
        self.read(key, "a text", text)
    }

    /// A text that `read` understands.
    ///
    /// # Errors
    /// `Corrupt` with the file, the line and the path of what is wrong.
    pub fn word<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        self.read(key, expected, |value| text(value).and_then(|text| read(&text)))
    }

    /// Texts.
    ///
    /// # Errors
    /// `Corrupt` with the file, the line and the path of what is wrong.
    pub fn texts(&mut self, key: &'static str) -> Result<Option<Vec<String>>> {
        self.read(key, "a list of texts", texts)
    }

    /// Yes or no.
    ///
    /// # Errors
    /// `Corrupt` with the file, the line and the path of what is wrong.
    pub fn switch(&mut self, key: &'static str) -> Result<Option<bool>> {
        self.read(key, "true or false", |value| match value {
            DeValue::Boolean(is) => Some(is),
            _ => None,
        })
    }

    /// A number, as it is spelled.
    ///
    /// # Errors
    /// `Corrupt` with the file, the line and the path of what is wrong.
    pub fn number(&mut self, key: &'static str) -> Result<Option<Number>> {
        self.read(key, "a number", |value| spelled(&value).and_then(|text| Number::parse(&text)))
    }

    /// A whole number that is not negative.
    ///
    /// # Errors
    /// `Corrupt` with the file, the line and the path of what is wrong.
    pub fn count(&mut self, key: &'static str) -> Result<Option<u64>> {
        self.read(key, "a whole number", |value| spelled(&value).and_then(|text| text.parse().ok()))
    }

    /// Money: a number or a text, exact in both.
    ///
    /// # Errors
    /// `Corrupt` with the file, the line and the path of what is wrong.
    pub fn decimal(&mut self, key: &'static str) -> Result<Option<Decimal>> {
        self.read(key, "a decimal number that is not negative", |value| {
            let spelled = spelled(&value).or_else(|| text(value)).filter(|text| !text.starts_with('-'));
            spelled.and_then(|text| Decimal::parse(&text))
        })
    }

    /// Seconds.
    ///
    /// # Errors
    /// `Corrupt` with the file, the line and the path of what is wrong.
    pub fn seconds(&mut self, key: &'static str) -> Result<Option<Duration>> {
        self.read(key, "a number of seconds", |value| {
            let seconds: f64 = spelled(&value)?.parse().ok()?;
            Duration::try_from_secs_f64(seconds).ok()
        })
    }

    /// A table, or nothing.
    ///
    /// # Errors
    /// `Corrupt` with the file, the line and the path of what is wrong.
    pub fn table(&mut self, key: &'static str) -> Result<Option<Table<'a>>> {
        let (source, path) = (self.source, join(&self.path, key));
        self.read(key, "a table", |value| match value {
            DeValue::Table(table) => Some(Table::new(source, table, path)),
            _ => None,
        })
    }

    /// Every field of a table whose names are free: a text, or a table.
    ///
    /// # Errors
    /// `Corrupt` with the file, the line and the path of what is wrong.
    pub fn free(self) -> Result<Vec<(String, Free<'a>)>> {
        let Table { source, fields, path, .. } = self;
        let one = |(key, value): (Spanned<String>, Spanned<DeValue<'a>>)| {
            let (at, name) = (key.span().start, key.into_inner());
            let path = join(&path, &name);
            match value.into_inner() {
                DeValue::String(text) => Ok((name, Free::Text(text.into_owned()))),
                DeValue::Table(table) => Ok((name, Free::Table(Table::new(source, table, path)))),
                _ => Err(wrong(source, at, &path, "expected a text, or where it comes from")),
            }
        };
        fields.into_iter().map(one).collect()
    }

    /// The file that it stands in.
    pub fn source(&self) -> &'a Source {
        self.source
    }

    /// An error about a field, or about the table itself.
    pub fn error(&self, at: usize, what: &str) -> Error {
        wrong(self.source, at, &self.path, what)
    }

    /// Nothing may be left.
    ///
    /// # Errors
    /// `Corrupt` with the file, the line and the path of what is wrong.
    pub fn done(self) -> Result<()> {
        let Some((key, _)) = self.fields.iter().min_by_key(|(key, _)| key.span().start) else { return Ok(()) };
        let error = wrong(self.source, key.span().start, &self.path, &format!("`{}` is not known here", key.get_ref()));
        Err(error.hint(match nearest(key.get_ref(), self.known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", self.known.join(", ")),
        }))
    }
}

/// A field whose name is free.
pub enum Free<'a> {
    /// A text.
    Text(String),
    /// A table.
    Table(Table<'a>),
}

fn text(value: DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.into_owned()),
        _ => None,
    }
}

fn texts(value: DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::Array(items) => items.into_iter().map(|item| text(item.into_inner())).collect(),
        _ => None,
    }
}

/// A number as it is spelled; other bases than ten are not taken.
fn spelled(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn wrong(source: &Source, at: usize, path: &str, what: &str) -> Error {
    let error = Error::new(ErrorKind::Corrupt, what).path(path).offset(at).locate(&source.text);
    error.file(source.path.display().to_string())
}

/// The name that comes nearest, if one comes near.
pub(super) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let name = name.to_lowercase();
    let alike = known.map(|known| (strsim::jaro_winkler(&name, &known.to_lowercase()), known));
    alike.filter(|(score, _)| *score >= 0.8).max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, known)| known)
}
