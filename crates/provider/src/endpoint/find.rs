//! Referring to endpoints.

use turnkeep_model::{Error, ErrorKind, Result};

use super::Endpoints;
use super::partial::Endpoint;
use super::table::nearest;

/// How an endpoint is referred to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// By its name, in upper or lower case.
    Name(String),
    /// By its id: `id:…`.
    Id(String),
    /// As the default for something: `default:…`.
    Default(String),
}

impl Reference {
    /// Reads a reference: `claude`, `id:7`, `default:chat`.
    ///
    /// # Errors
    /// `NotFound` where it is empty, or nothing follows its prefix.
    pub fn parse(text: &str) -> Result<Reference> {
        let text = text.trim();
        let (prefix, rest) = text.split_once(':').map_or(("", text), |(prefix, rest)| (prefix, rest.trim()));
        match (prefix.to_ascii_lowercase().as_str(), rest) {
            ("id", "") => Err(Error::new(ErrorKind::NotFound, "the id of an endpoint cannot be empty")),
            ("default", "") => Err(Error::new(ErrorKind::NotFound, "the category of a default cannot be empty")
                .hint("write it after the colon, as in `default:chat`")),
            ("id", id) => Ok(Reference::Id(id.to_owned())),
            ("default", category) => Ok(Reference::Default(category.to_owned())),
            (_, "") => Err(Error::new(ErrorKind::NotFound, "the name of an endpoint cannot be empty")),
            _ => Ok(Reference::Name(text.to_owned())),
        }
    }
}

impl Endpoints {
    /// The endpoint that a reference names.
    ///
    /// # Errors
    /// `NotFound`: there is no such name, no such id, or no default for the category; the hint says what comes near.
    pub fn find(&self, reference: &str) -> Result<&Endpoint> {
        let (found, what, known): (_, _, Vec<&str>) = match Reference::parse(reference)? {
            Reference::Name(name) => (
                self.all.iter().find(|endpoint| endpoint.name.to_lowercase() == name.to_lowercase()),
                format!("there is no endpoint `{name}`"),
                self.all.iter().map(|endpoint| endpoint.name.as_str()).collect(),
            ),
            Reference::Id(id) => (
                self.all.iter().find(|endpoint| endpoint.id.as_deref() == Some(&*id)),
                format!("no endpoint has the id `{id}`"),
                self.all.iter().filter_map(|endpoint| endpoint.id.as_deref()).collect(),
            ),
            Reference::Default(category) => (
                self.default_for(&category),
                format!("no endpoint is the default for `{category}`"),
                self.all.iter().flat_map(|endpoint| endpoint.categories.iter().map(String::as_str)).collect(),
            ),
        };
        found.ok_or_else(|| Error::new(ErrorKind::NotFound, what).hint(near(reference, &known)))
    }

    /// The default for a category: a project's before the user's.
    fn default_for(&self, category: &str) -> Option<&Endpoint> {
        let is_default =
            |endpoint: &&Endpoint| endpoint.categories.iter().any(|own| own.eq_ignore_ascii_case(category));
        self.all.iter().filter(is_default).max_by_key(|endpoint| endpoint.level)
    }

    /// References in the files lead somewhere, and to one place.
    pub(super) fn check(&self) -> Result<()> {
        for (index, endpoint) in self.all.iter().enumerate() {
            let before = self.all.get(..index).unwrap_or_default();
            let wrong = |what: String| {
                Error::new(ErrorKind::Corrupt, what)
                    .path(format!("endpoint.{}", endpoint.name))
                    .file(endpoint.place.0.display().to_string())
                    .line(endpoint.place.1)
            };
            if let Some(same) = before.iter().find(|other| other.id.is_some() && other.id == endpoint.id) {
                return Err(wrong(format!("it has the same id as `{}`", same.name)).hint("give it another `id`"));
            }
            let is_rival = |other: &&Endpoint| {
                other.level == endpoint.level && other.categories.iter().any(|own| endpoint.categories.contains(own))
            };
            if let Some(rival) = before.iter().find(is_rival) {
                let what = format!("it and `{}` are the default for the same category", rival.name);
                return Err(wrong(what).hint("take the category away from one of them"));
            }
            for name in &endpoint.fallback {
                let found = self.find(name).map_err(|error| {
                    let hint = error.remedy().unwrap_or_default().to_owned();
                    wrong(format!("its `fallback`: {}", error.what())).hint(hint)
                })?;
                if found.name == endpoint.name {
                    return Err(wrong("it falls back to itself".to_owned()).hint("take it out of `fallback`"));
                }
            }
        }
        Ok(())
    }
}

/// What comes near, or all there is.
fn near(reference: &str, known: &[&str]) -> String {
    let wanted = reference.rsplit(':').next().unwrap_or(reference).trim();
    match (nearest(wanted, known.iter().copied()), known) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => "no turnkeep.toml speaks of one; docs/endpoints.md says how to write it".to_owned(),
        (None, known) => format!("there are {}", known.join(", ")),
    }
}
