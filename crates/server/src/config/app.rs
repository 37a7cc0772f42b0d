//! `[server.app.NAME]`: an app of the Pusher protocol.

use turnkeep_model::Result;
use turnkeep_provider::endpoint::{Table, key_source};

use super::App;
use crate::live::View;
use crate::pusher::{ClientEvents, Limits};
use crate::tenant::TenantName;

/// The longest id or key.
const LONGEST: usize = 64;

/// Adds the app that a table describes. No other has its id or its key: requests find an app by them.
pub(super) fn add(apps: &mut Vec<App>, name: String, at: usize, mut table: Table<'_>) -> Result<()> {
    let app = app(name, at, &mut table)?;
    for (what, taken) in
        [("id", apps.iter().any(|one| one.id == app.id)), ("key", apps.iter().any(|one| one.key == app.key))]
    {
        if taken {
            return Err(table.error(at, &format!("another app has this `{what}`")));
        }
    }
    table.done()?;
    apps.push(app);
    Ok(())
}

fn app(name: String, at: usize, table: &mut Table<'_>) -> Result<App> {
    let id = table.text("id")?.unwrap_or_else(|| name.clone());
    let key = table.text("key")?.ok_or_else(|| table.error(at, "an app has a `key`"))?;
    for (what, text) in [("id", &id), ("key", &key)] {
        if !is_plain(text) {
            let what = format!("the `{what}` of an app has 1 to {LONGEST} letters, digits, `-`, `_` and `.`");
            return Err(table.error(at, &what));
        }
    }
    let no_secret = "an app has a `secret`, as in { env = \"APP_SECRET\" }";
    let secret = table.table("secret")?.ok_or_else(|| table.error(at, no_secret))?;
    Ok(App {
        id,
        key,
        secret: key_source(secret, at)?,
        tenant: tenant(at, table)?,
        view: view(at, table)?,
        origins: table.texts("origins")?.unwrap_or_default(),
        client_events: table.word("client_events", "`off`, `members` or `all`", mode)?.unwrap_or_default(),
        enabled: table.switch("enabled")?.unwrap_or(true),
        subscription_counts: table.switch("subscription_counts")?.unwrap_or(false),
        public_sessions: table.switch("public_sessions")?.unwrap_or(false),
        limits: table.table("limits")?.map(limits).transpose()?.unwrap_or_default(),
        name,
    })
}

/// What stands in a path as it is.
fn is_plain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(plain)
}

fn tenant(at: usize, table: &mut Table<'_>) -> Result<TenantName> {
    let name = table.text("tenant")?;
    let name = name.map_or(Ok(TenantName::default()), |name| TenantName::new(&name));
    name.map_err(|error| table.error(at, error.what()))
}

/// Pages that listen on channels know the seven envelopes, so these are told unless the app says otherwise.
fn view(at: usize, table: &mut Table<'_>) -> Result<View> {
    let (view, preset) = (table.text("view")?, table.text("preset")?);
    let found = View::of(Some(view.as_deref().unwrap_or("agent")), preset.as_deref());
    let what = "`view` is `agent`, `released` or `native`, `preset` is `minimal`, `standard` or `debug`";
    found.ok_or_else(|| table.error(at, what))
}

fn mode(word: &str) -> Option<ClientEvents> {
    match word {
        "off" => Some(ClientEvents::Nobody),
        "members" => Some(ClientEvents::Members),
        "all" => Some(ClientEvents::Everybody),
        _ => None,
    }
}

fn limits(mut table: Table<'_>) -> Result<Limits> {
    let mut limits = Limits::default();
    let counts = [
        ("connections", &mut limits.connections),
        ("channels", &mut limits.channels),
        ("message", &mut limits.message),
        ("request", &mut limits.request),
        ("event", &mut limits.data),
        ("members", &mut limits.members),
        ("queue", &mut limits.queue),
    ];
    for (key, limit) in counts {
        if let Some(count) = table.count(key)? {
            *limit = usize::try_from(count).unwrap_or(usize::MAX);
        }
    }
    if let Some(count) = table.count("client_events")? {
        limits.client_events = u32::try_from(count).unwrap_or(u32::MAX);
    }
    for (key, limit) in [("activity", &mut limits.activity), ("pong", &mut limits.pong)] {
        *limit = table.seconds(key)?.unwrap_or(*limit);
    }
    table.done()?;
    Ok(limits)
}

#[cfg(test)]
mod tests;
