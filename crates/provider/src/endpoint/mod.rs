//! Endpoints: models as a configuration describes them.
//!
//! `turnkeep.toml` stands in the user's configuration folder and in a project's; where both speak of an endpoint, the
//! project's fields win, one by one. Keys never stand in it, only where they come from.

mod file;
mod find;
mod load;
mod lucee;
mod open;
mod partial;
mod table;

pub use file::key_source;
pub use find::Reference;
pub use load::{Level, Source};
#[cfg(feature = "http")]
pub use open::endpoint;
pub use open::{Carry, HeaderSource};
pub use partial::{AwsSource, Endpoint};
pub use table::{Free, Table};

use turnkeep_model::Result;

use crate::key::KeySource;
use crate::secret::Secret;

/// The endpoints of a configuration, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Endpoints {
    all: Vec<Endpoint>,
}

impl Endpoints {
    /// Reads some files, the more general first.
    ///
    /// # Errors
    /// `Corrupt` with the file and the line where something cannot be read or is not known.
    pub fn read(sources: &[Source]) -> Result<Endpoints> {
        let mut merged: Vec<partial::Partial> = Vec::new();
        for source in sources {
            for own in file::read(source)? {
                match merged.iter_mut().find(|base| base.name.eq_ignore_ascii_case(&own.name)) {
                    Some(base) => *base = own.over(std::mem::take(base)),
                    None => merged.push(own),
                }
            }
        }
        let mut all = merged.into_iter().map(partial::Partial::resolved).collect::<Result<Vec<_>>>()?;
        all.sort_by_key(|endpoint| endpoint.name.to_lowercase());
        let endpoints = Endpoints { all };
        endpoints.check()?;
        Ok(endpoints)
    }

    /// The variables that their keys are in.
    pub fn key_variables(&self) -> impl Iterator<Item = String> + '_ {
        self.key_sources().filter_map(|source| match source {
            KeySource::Env(name) => Some(name.clone()),
            KeySource::File(_) | KeySource::Command { .. } => None,
        })
    }

    /// The keys that can be read without running anything: those in variables and files. What cannot be read is no key.
    pub fn stored_keys(&self) -> impl Iterator<Item = Secret> + '_ {
        let is_stored = |source: &&KeySource| !matches!(source, KeySource::Command { .. });
        self.key_sources().filter(is_stored).filter_map(|source| source.read().ok())
    }

    fn key_sources(&self) -> impl Iterator<Item = &KeySource> {
        self.all.iter().flat_map(Endpoint::key_sources)
    }

    /// All of them.
    pub fn all(&self) -> &[Endpoint] {
        &self.all
    }
}
