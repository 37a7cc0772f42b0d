//! Tenants, apart by construction: each has a store of its own, and only [`Tenants::of`] leads from a token to one.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;
use turnkeep_model::{Error, ErrorKind, Result};
use turnkeep_runtime::{Hub, Ports};
use turnkeep_store::Store;

use crate::auth::Token;
use crate::config::Config;
use crate::live::Live;

/// The name of a tenant: small letters, digits and `_`, so that it is a file name and a schema of a database as it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TenantName(String);

/// The tenant whose store is the one that the server was started with.
const DEFAULT: &str = "default";

/// The longest name: a schema of PostgreSQL has 63 bytes, and the base comes before it.
const LONGEST: usize = 32;

impl TenantName {
    /// Checks a name.
    ///
    /// # Errors
    /// `Unsupported` where it has other characters, or too many.
    pub fn new(name: &str) -> Result<TenantName> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
        if begins && name.len() <= LONGEST && name.chars().all(plain) {
            return Ok(TenantName(name.to_owned()));
        }
        let what = "a tenant's name begins with a small letter and has at most 32 small letters, digits and `_`";
        Err(Error::new(ErrorKind::Unsupported, what).hint("as in `acme` or `team_2`"))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for TenantName {
    fn default() -> TenantName {
        TenantName(DEFAULT.to_owned())
    }
}

impl fmt::Display for TenantName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One tenant: its store, and who hears of it.
pub struct Tenant {
    /// Its name.
    pub name: TenantName,
    /// Its store. No other tenant's sessions are in it.
    pub store: Arc<dyn Store>,
    /// Who hears of what this process records there.
    pub hub: Hub,
    /// Its sessions as they happen.
    pub live: Arc<Live>,
}

impl Tenant {
    pub(crate) fn new(name: TenantName, store: Arc<dyn Store>) -> Tenant {
        let hub = Hub::default();
        let live = Arc::new(Live::new(store.clone(), hub.clone()));
        Tenant { name, store, hub, live }
    }

    /// The clock, the ids and the hub of whoever writes here.
    pub fn ports(&self) -> Ports {
        Ports { hub: self.hub.clone(), ..Ports::default() }
    }
}

/// Every tenant that someone has asked for since the server started.
pub(crate) struct Tenants {
    config: Arc<Config>,
    open: Mutex<HashMap<TenantName, Arc<OnceCell<Arc<Tenant>>>>>,
}

impl Tenants {
    /// None is open yet.
    pub(crate) fn new(config: Arc<Config>) -> Tenants {
        Tenants { config, open: Mutex::default() }
    }

    /// The tenant of a token. There is no other way from a request to a store.
    ///
    /// # Errors
    /// What the store says when it is opened.
    pub(crate) async fn of(&self, token: &Token) -> turnkeep_store::Result<Arc<Tenant>> {
        self.named(&token.tenant).await
    }

    /// The tenant of this name, for the server's own work and for apps, which are configured with one.
    ///
    /// # Errors
    /// What the store says when it is opened.
    pub(crate) async fn named(&self, name: &TenantName) -> turnkeep_store::Result<Arc<Tenant>> {
        let cell = self.cell(name);
        cell.get_or_try_init(|| async {
            let store = open_store(&self.config, name).await?;
            Ok(Arc::new(Tenant::new(name.clone(), store)))
        })
        .await
        .cloned()
    }

    fn cell(&self, name: &TenantName) -> Arc<OnceCell<Arc<Tenant>>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.entry(name.clone()).or_default().clone()
    }
}

async fn open_store(config: &Config, name: &TenantName) -> turnkeep_store::Result<Arc<dyn Store>> {
    let url = store_url(config, name)?;
    let opened = tokio::task::spawn_blocking(move || open_private(&url)).await;
    opened.unwrap_or_else(|_| Err(turnkeep_store::Error::new(turnkeep_store::ErrorKind::Io, "opening was cut off")))
}

/// Where a tenant's sessions are kept.
///
/// # Errors
/// `Unsupported` where the base store has no place for others beside it.
pub fn store_url(config: &Config, name: &TenantName) -> turnkeep_store::Result<String> {
    let configured = config.tenants.iter().find(|tenant| tenant.name == *name);
    match configured {
        Some(tenant) => Ok(tenant.store.clone()),
        None if name.as_str() == DEFAULT => Ok(config.store.clone()),
        None => beside(&config.store, name.as_str()),
    }
}

/// Where the server keeps what is its own. No tenant has a name that begins with `_`.
///
/// # Errors
/// As [`store_url`].
pub fn control_url(base: &str) -> turnkeep_store::Result<String> {
    beside(base, "_server")
}

/// A store beside the base: a file in a folder of its own, a folder, or a schema of the same database.
fn beside(base: &str, name: &str) -> turnkeep_store::Result<String> {
    let (scheme, rest) = base.split_once(':').unwrap_or((base, ""));
    let (place, parameters) = rest.split_once('?').map_or((rest, None), |(place, rest)| (place, Some(rest)));
    let folder = |path: &Path| path.with_extension("tenants").display().to_string();
    let joined = |place: String| match parameters {
        Some(parameters) => format!("{scheme}:{place}?{parameters}"),
        None => format!("{scheme}:{place}"),
    };
    match scheme {
        "memory" => Ok(base.to_owned()),
        "sqlite" => Ok(joined(format!("{}/{name}.db", folder(Path::new(place))))),
        "file" => Ok(joined(format!("{}/{name}", folder(Path::new(place.trim_end_matches('/')))))),
        "postgres" | "postgresql" => Ok(format!("{scheme}:{place}?{}", schema(parameters.unwrap_or(""), name))),
        _ => {
            let what = "tenants of this store cannot be derived from its URL";
            Err(turnkeep_store::Error::new(turnkeep_store::ErrorKind::Unsupported, what)
                .hint("configure each with [server.tenant.NAME] store = URL"))
        }
    }
}

fn schema(parameters: &str, name: &str) -> String {
    let (own, others): (Vec<&str>, Vec<&str>) =
        parameters.split('&').filter(|one| !one.is_empty()).partition(|one| one.starts_with("schema="));
    let base = own.first().and_then(|own| own.strip_prefix("schema=")).unwrap_or("turnkeep");
    let schema = format!("schema={base}_{name}");
    others.into_iter().chain([schema.as_str()]).collect::<Vec<_>>().join("&")
}

/// Opens a store that only its owner can read, where it is a file that is made now.
///
/// # Errors
/// What the store says.
pub fn open_private(url: &str) -> turnkeep_store::Result<Arc<dyn Store>> {
    if let Some(folder) = folder_of(url) {
        make_private(&folder).map_err(|error| turnkeep_store::Error::io("make the folder", &folder, error))?;
    }
    turnkeep_store::open(url)
}

/// The folder that a derived store stands in.
fn folder_of(url: &str) -> Option<PathBuf> {
    let (scheme, rest) = url.split_once(':')?;
    let place = rest.split('?').next().unwrap_or(rest);
    let place = Path::new(place.strip_prefix("//").unwrap_or(place));
    let parent = ["sqlite", "file"].contains(&scheme).then(|| place.parent()).flatten()?;
    parent.extension().is_some_and(|ending| ending == "tenants").then(|| parent.to_owned())
}

#[cfg(unix)]
fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_driver_has_a_place_of_its_own_for_each_tenant() {
        let table = [
            ("sqlite:/d/sessions.db", "sqlite:/d/sessions.tenants/acme.db"),
            ("sqlite:/d/s.db?durability=process", "sqlite:/d/s.tenants/acme.db?durability=process"),
            ("file:/d/journals/", "file:/d/journals.tenants/acme"),
            ("postgres://me:pw@h/db", "postgres://me:pw@h/db?schema=turnkeep_acme"),
            ("postgres://h/db?schema=mine&sslmode=require", "postgres://h/db?sslmode=require&schema=mine_acme"),
        ];
        for (base, wanted) in table {
            assert_eq!(beside(base, "acme").unwrap(), wanted);
        }
    }

    #[test]
    fn names_are_file_names_and_schemas_as_they_are() {
        for name in ["", "_server", "Acme", "a/b", "..", "a-b", "a b", &"a".repeat(33)] {
            assert!(TenantName::new(name).is_err(), "{name:?}");
        }
        assert_eq!(TenantName::new("team_2").unwrap().as_str(), "team_2");
    }
}
