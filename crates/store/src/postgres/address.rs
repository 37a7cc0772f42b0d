//! From a URL to where the database is. Nothing of the URL is shown in an error: it may hold a password.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use crate::error::{Error, ErrorKind, Result};
use crate::options::{Durability, Options};

/// The schema that holds the tables unless the URL names another.
const SCHEMA: &str = "turnkeep";

/// How long to wait for a server that does not answer.
const ANSWER: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(30);

/// Where the database is, and which schema of it is ours.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) schema: String,
}

impl Address {
    /// Reads what follows `postgres:` in a URL.
    pub(super) fn parse(place: &str, options: &Options) -> Result<Address> {
        let (server, parameters) = place.split_once('?').unwrap_or((place, ""));
        let (ours, theirs): (Vec<&str>, Vec<&str>) =
            parameters.split('&').filter(|part| !part.is_empty()).partition(|part| part.starts_with("schema="));
        let schema = ours.last().and_then(|part| part.strip_prefix("schema=")).unwrap_or(SCHEMA).to_owned();
        check_schema(&schema)?;
        let url = format!("postgres:{server}?{}", theirs.join("&"));
        let mut config: Config = url.parse().map_err(|_| unreadable())?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(unreadable());
        }
        complete(&mut config, &schema, options)?;
        Ok(Address { config, schema })
    }
}

fn complete(config: &mut Config, schema: &str, options: &Options) -> Result<()> {
    if config.get_ssl_mode() == SslMode::Require {
        let what = "this driver speaks to PostgreSQL without TLS";
        let hint = "use a Unix socket, a private network or a tunnel, and leave `sslmode` out";
        return Err(Error::new(ErrorKind::Unsupported, what).hint(hint));
    }
    if config.get_password().is_none()
        && let Ok(password) = std::env::var("PGPASSWORD")
    {
        config.password(password);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(ANSWER);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE);
    }
    if config.get_application_name().is_none() {
        config.application_name("turnkeep");
    }
    let commit = match options.durability {
        Durability::Power => "on",
        Durability::Process => "off",
    };
    let theirs = config.get_options().unwrap_or_default().to_owned();
    config.options(format!("{theirs} -c search_path={schema} -c synchronous_commit={commit}").trim_start());
    Ok(())
}

fn check_schema(schema: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let begins = schema.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    if begins && schema.len() < 64 && schema.chars().all(plain) && !schema.starts_with("pg_") {
        return Ok(());
    }
    let what = "the name of the schema is none that needs no quotes";
    Err(Error::new(ErrorKind::Unsupported, what).hint("use at most 63 of a-z, 0-9 and _, a letter first"))
}

fn unreadable() -> Error {
    Error::new(ErrorKind::Unsupported, "the URL of the PostgreSQL server cannot be read")
        .hint("postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for @ and the like in names and passwords")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(place: &str) -> Result<Address> {
        Address::parse(place, &Options::default())
    }

    #[test]
    fn the_schema_is_ours_and_the_rest_is_postgres() {
        let address = parse("//me:pw@db.example:5433/app?schema=mine&connect_timeout=3").unwrap();

        assert_eq!(address.schema, "mine");
        assert_eq!(address.config.get_dbname(), Some("app"));
        assert_eq!(address.config.get_connect_timeout(), Some(&Duration::from_secs(3)));
        assert_eq!(address.config.get_options(), Some("-c search_path=mine -c synchronous_commit=on"));
    }

    #[test]
    fn what_cannot_be_read_is_refused_and_never_shown() {
        for place in ["//", "", "//me:hunter2@host:port/db", "//me:hunter2@h/d?schema=Hunter2"] {
            let Err(error) = parse(place) else { panic!("{place} was read") };
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(!format!("{error:?} {:?}", error.remedy()).to_lowercase().contains("hunt"), "{error}");
        }
    }

    #[test]
    fn encryption_that_is_asked_for_is_not_silently_left_out() {
        assert!(parse("//host/db?sslmode=require").is_err_and(|error| error.what().contains("TLS")));
    }
}
