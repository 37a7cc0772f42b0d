//! The services that tests need, started here and stopped with everything else.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Outcome;
use crate::postgres_server::{Fsync, PostgresServer, effective_user, programs};

/// The environment variable with the URL of a PostgreSQL database for tests.
pub(crate) const POSTGRES: &str = "TURNKEEP_POSTGRES";

/// A PostgreSQL database, or why there is none.
pub(crate) enum Postgres {
    /// Someone else's.
    Given(String),
    /// Ours; it ends with this value.
    Started(PostgresServer),
    Missing(String),
}

impl Postgres {
    /// Takes the one that is named, or starts a throw-away one.
    pub(crate) fn find(sync: Fsync) -> Postgres {
        if let Some(url) = std::env::var(POSTGRES).ok().filter(|url| !url.is_empty()) {
            return Postgres::Given(url);
        }
        if programs().is_none() && effective_user() == Some(0) {
            install();
        }
        PostgresServer::start(sync).map_or_else(Postgres::Missing, Postgres::Started)
    }

    /// Its URL.
    pub(crate) fn url(&self) -> Option<String> {
        match self {
            Postgres::Given(url) => Some(url.clone()),
            Postgres::Started(server) => Some(server.url()),
            Postgres::Missing(_) => None,
        }
    }

    /// What is skipped for want of it. The continuous build skips nothing.
    pub(crate) fn skipped(&self, continuous: bool) -> Outcome<Option<String>> {
        match self {
            Postgres::Missing(reason) if continuous => Err(format!("no PostgreSQL: {reason}").into()),
            Postgres::Missing(reason) => Ok(Some(format!("postgres ({reason})"))),
            Postgres::Given(_) | Postgres::Started(_) => Ok(None),
        }
    }
}

/// The environment variable with the folder of the packages that run under Node.
pub(crate) const NODE: &str = "TURNKEEP_NODE";

/// Clients of the Pusher protocol that others wrote, with the versions that are tested.
const NODE_PACKAGES: [&str; 4] = ["pusher-js@8.6", "laravel-echo@2.5", "pusher@5.3", "ws@8"];

/// The folder with the packages that run under Node, installed unless they were before; `None` where Node or npm is missing.
pub(crate) fn node(target: &Path) -> Option<String> {
    if let Some(given) = std::env::var(NODE).ok().filter(|folder| !folder.is_empty()) {
        return Some(given);
    }
    let folder = target.join("external/node");
    let (done, wanted) = (folder.join("installed.txt"), NODE_PACKAGES.join("\n"));
    if !fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        fs::create_dir_all(&folder).ok()?;
        succeeds(Command::new("node").arg("--version")).then_some(())?;
        let install = ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"];
        succeeds(Command::new("npm").args(install).arg(&folder).args(NODE_PACKAGES)).then_some(())?;
        fs::write(done, wanted).ok()?;
    }
    folder.to_str().map(str::to_owned)
}

fn succeeds(command: &mut Command) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Whether this is the continuous build.
pub(crate) fn continuous() -> bool {
    std::env::var("CI").as_deref() == Ok("true")
}

/// Installs PostgreSQL where the system has packages and we may.
fn install() {
    let mut apt = Command::new("apt-get");
    apt.args(["install", "-y", "--no-install-recommends", "postgresql"]).env("DEBIAN_FRONTEND", "noninteractive");
    // Where that fails, the reason is that it is not installed.
    let _ = apt.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_continuous_build_insists_on_a_database() {
        let missing = Postgres::Missing("not installed".to_owned());

        assert_eq!(missing.skipped(false).unwrap(), Some("postgres (not installed)".to_owned()));
        assert!(missing.skipped(true).is_err());
        assert_eq!(Postgres::Given("postgres://h/d".to_owned()).skipped(true).unwrap(), None);
    }
}
