//! Reads the table, key by key; what is left over is refused by name.

use std::time::Duration;

use turnkeep_model::{Error, ErrorKind, Result};
use turnkeep_provider::endpoint::{Endpoints, Free, Level, Source, Table};

use super::{Config, Limits, TenantConfig, app};
use crate::tenant::TenantName;

/// The configuration that some files make up, the more general first. Endpoints come from all of them.
///
/// # Errors
/// `Corrupt` with the file and the line of what is wrong; `Unsupported` where a project's file configures a server.
pub fn read(sources: &[Source]) -> Result<Config> {
    let mut config = Config { endpoints: Endpoints::read(sources)?, ..Config::default() };
    for source in sources {
        let mut file = Table::of(source)?;
        file.table("endpoint")?;
        if let Some(table) = file.table("server")? {
            trusted(source)?;
            server(table, &mut config)?;
        }
    }
    Ok(config)
}

fn trusted(source: &Source) -> Result<()> {
    if source.level == Level::User {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Unsupported, "a project's file may not configure a server")
        .file(source.path.display().to_string())
        .hint("name the file with --config: whoever can change the project could start programs"))
}

fn server(mut table: Table<'_>, config: &mut Config) -> Result<()> {
    let source = table.source();
    if let Some(store) = table.text("store")? {
        config.store = store;
    }
    config.hosts.extend(table.texts("hosts")?.unwrap_or_default());
    config.origins.extend(table.texts("origins")?.unwrap_or_default());
    if let Some(limits) = table.table("limits")? {
        config.limits = self::limits(limits)?;
    }
    if let Some(tools) = table.table("tools")? {
        for (name, value) in tools.free()? {
            let Free::Text(path) = value else {
                return Err(table.error(0, &format!("`tools.{name}` is the path of a manifest")));
            };
            config.tools.push((name, source.path_of(&path)));
        }
    }
    for (name, at, tenant) in tables(&mut table, "tenant")? {
        config.tenants.push(self::tenant(&name, at, tenant)?);
    }
    for (name, at, found) in tables(&mut table, "app")? {
        app::add(&mut config.apps, name, at, found)?;
    }
    table.done()
}

fn tables<'a>(table: &mut Table<'a>, key: &'static str) -> Result<Vec<(String, usize, Table<'a>)>> {
    Ok(table.table(key)?.map(Table::tables).transpose()?.unwrap_or_default())
}

fn limits(mut table: Table<'_>) -> Result<Limits> {
    let usual = Limits::default();
    let mut count = |key, usual: usize| {
        let given = table.count(key)?;
        Ok::<usize, Error>(given.map_or(usual, |count| usize::try_from(count).unwrap_or(usize::MAX)))
    };
    let (body, connections) = (count("body", usual.body)?, count("connections", usual.connections)?);
    let (streams, runs) = (count("streams", usual.streams)?, count("runs", usual.runs)?);
    let requests = count("requests", usual.requests as usize)?;
    let window = table.seconds("window")?.filter(|window| *window >= Duration::from_secs(1)).unwrap_or(usual.window);
    table.done()?;
    Ok(Limits { body, requests: u32::try_from(requests).unwrap_or(u32::MAX), window, connections, streams, runs })
}

fn tenant(name: &str, at: usize, mut table: Table<'_>) -> Result<TenantConfig> {
    let name = TenantName::new(name).map_err(|error| table.error(at, error.what()))?;
    let store = table.text("store")?.ok_or_else(|| table.error(at, "a tenant that is configured has a `store`"))?;
    table.done()?;
    Ok(TenantConfig { name, store })
}
