//! From URLs to stores: the table of drivers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::file::FileStore;
use crate::memory::MemoryStore;
use crate::options::{Durability, Options};
use crate::store::Store;

/// A way to store journals.
pub struct Driver {
    /// The scheme of its URLs.
    pub scheme: &'static str,
    /// What its URLs look like.
    pub usage: &'static str,
    /// What it is, for listings.
    pub about: &'static str,
    /// Whether what is stored is still there when the store is opened again.
    pub keeps: Keeps,
    parameters: Parameters,
    open: fn(&str, Options) -> Result<Arc<dyn Store>>,
}

/// How long a driver keeps what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// As long as the store is open.
    WhileOpen,
    /// Until it is deleted.
    Forever,
}

/// Who understands what follows the `?` of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameters {
    /// Only what every store understands.
    Ours,
    /// The driver, as to the rest.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "no driver of this build has its own"))]
    Theirs,
}

/// Every driver that is built in.
pub const DRIVERS: &[Driver] = &[
    Driver {
        scheme: "memory",
        usage: "memory:",
        about: "in memory, until the process ends",
        keeps: Keeps::WhileOpen,
        parameters: Parameters::Ours,
        open: |_, options| Ok(Arc::new(MemoryStore::new(options))),
    },
    Driver {
        scheme: "file",
        usage: "file:DIR",
        about: "one journal file a session",
        keeps: Keeps::Forever,
        parameters: Parameters::Ours,
        open: |folder, options| Ok(Arc::new(FileStore::open(&path(folder)?, options)?)),
    },
    #[cfg(feature = "sqlite")]
    Driver {
        scheme: "sqlite",
        usage: "sqlite:PATH",
        about: "one SQLite file",
        keeps: Keeps::Forever,
        parameters: Parameters::Ours,
        open: |file, options| Ok(Arc::new(crate::sqlite::SqliteStore::open(&path(file)?, options)?)),
    },
    #[cfg(feature = "postgres")]
    Driver {
        scheme: "postgres",
        usage: "postgres://USER:PASSWORD@HOST/DATABASE",
        about: "PostgreSQL, for many processes at once",
        keeps: Keeps::Forever,
        parameters: Parameters::Theirs,
        open: |place, options| Ok(Arc::new(crate::postgres::PostgresStore::open(place, options)?)),
    },
];

/// Drivers that exist, with the feature that builds them.
const FEATURES: &[(&str, &str)] = &[("sqlite", "sqlite"), ("postgres", "postgres")];

/// Opens a store by its URL: `memory:`, `file:DIR`, `sqlite:PATH`, `postgres://…`. `?durability=process` trades the loss of power
/// against speed.
///
/// # Errors
/// `Unsupported` if no driver takes the URL, and what the driver says.
pub fn open(url: &str) -> Result<Arc<dyn Store>> {
    open_with(url, Options::default())
}

/// Opens a store by its URL; what the URL says goes over `options`.
///
/// # Errors
/// As [`open`].
pub fn open_with(url: &str, mut options: Options) -> Result<Arc<dyn Store>> {
    let Some((scheme, rest)) = url.split_once(':') else {
        return Err(Error::new(ErrorKind::Unsupported, "a store is named by a URL").hint(known()));
    };
    let scheme = if scheme == "postgresql" { "postgres" } else { scheme };
    let Some(driver) = DRIVERS.iter().find(|driver| driver.scheme == scheme) else {
        return Err(unknown(scheme));
    };
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let mut theirs = Vec::new();
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        if driver.parameters == Parameters::Theirs && !parameter.starts_with("durability=") {
            theirs.push(parameter);
        } else {
            set(&mut options, parameter)?;
        }
    }
    let place = if theirs.is_empty() { place.to_owned() } else { format!("{place}?{}", theirs.join("&")) };
    (driver.open)(&place, options)
}

fn set(options: &mut Options, parameter: &str) -> Result<()> {
    let refuse = || {
        Error::new(ErrorKind::Unsupported, "the URL of the store has a parameter that is not known")
            .hint("`durability=process` or `durability=power`")
    };
    let durability = parameter.strip_prefix("durability=").and_then(Durability::from_word);
    options.durability = durability.ok_or_else(refuse)?;
    Ok(())
}

fn unknown(scheme: &str) -> Error {
    let feature = FEATURES.iter().find(|(name, _)| *name == scheme);
    let what = format!("no store here has URLs that begin with `{}:`", scheme.escape_debug());
    let hint = feature.map_or_else(known, |(_, feature)| format!("build with the feature `{feature}`"));
    Error::new(ErrorKind::Unsupported, what).hint(hint)
}

fn known() -> String {
    let usages: Vec<&str> = DRIVERS.iter().map(|driver| driver.usage).collect();
    format!("use one of {}", usages.join(", "))
}

fn path(place: &str) -> Result<PathBuf> {
    // `sqlite:///var/x.db` and `sqlite:/var/x.db` are the same file.
    let place = place.strip_prefix("//").unwrap_or(place);
    if place.is_empty() {
        return Err(Error::new(ErrorKind::Unsupported, "the URL of the store names no file").hint(known()));
    }
    Ok(Path::new(place).to_owned())
}
