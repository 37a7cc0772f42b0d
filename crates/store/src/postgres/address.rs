//! From a URL to where the database is. Nothing of the URL is shown in an error: it may hold a password.

use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use super::tls::Trust;
use crate::error::{Error, ErrorKind, Result};
use crate::options::{Durability, Options};

/// The schema that holds the tables unless the URL names another.
const SCHEMA: &str = "turnkeep";

/// How long to wait for a server that does not answer.
const ANSWER: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(30);

/// Where the database is, which schema of it is ours, and whom we take for the server.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) schema: String,
    pub(super) trust: Trust,
}

/// The parameters of a URL that are not left to the driver.
#[derive(Default)]
struct Ours<'a> {
    schema: Option<&'a str>,
    sslmode: Option<&'a str>,
    sslrootcert: Option<&'a str>,
}

impl<'a> Ours<'a> {
    /// Takes a parameter, or gives it back.
    fn take(&mut self, part: &'a str) -> Option<&'a str> {
        match part.split_once('=') {
            Some(("schema", value)) => self.schema = Some(value),
            Some(("sslmode", value)) => self.sslmode = Some(value),
            Some(("sslrootcert", value)) => self.sslrootcert = Some(value),
            _ => return Some(part),
        }
        None
    }
}

impl Address {
    /// Reads what follows `postgres:` in a URL.
    pub(super) fn parse(place: &str, options: &Options) -> Result<Address> {
        let (server, parameters) = place.split_once('?').unwrap_or((place, ""));
        let mut ours = Ours::default();
        let parts = parameters.split('&').filter(|part| !part.is_empty());
        let theirs: Vec<&str> = parts.filter_map(|part| ours.take(part)).collect();
        let schema = ours.schema.unwrap_or(SCHEMA).to_owned();
        check_schema(&schema)?;
        let (mode, trust) = encryption(ours.sslmode, ours.sslrootcert)?;
        let url = format!("postgres:{server}?{}", theirs.join("&"));
        let mut config: Config = url.parse().map_err(|_| unreadable())?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(unreadable());
        }
        config.ssl_mode(mode);
        complete(&mut config, &schema, options);
        Ok(Address { config, schema, trust })
    }
}

/// What the words of PostgreSQL's own programs mean: whether the connection is encrypted, and whom we take for the server.
fn encryption(mode: Option<&str>, roots: Option<&str>) -> Result<(SslMode, Trust)> {
    let roots = roots.map(unescaped).transpose()?;
    match mode {
        None | Some("prefer") if roots.is_none() => Ok((SslMode::Prefer, Trust::Anyone)),
        Some("disable") => Ok((SslMode::Disable, Trust::Anyone)),
        Some("require") if roots.is_none() => Ok((SslMode::Require, Trust::Anyone)),
        // As there: whoever names certificates wants them checked.
        None | Some("prefer" | "require" | "verify-ca") => Ok((SslMode::Require, Trust::Issuer(roots))),
        Some("verify-full") => Ok((SslMode::Require, Trust::IssuerAndName(roots))),
        Some(_) => Err(Error::new(ErrorKind::Unsupported, "the URL has another `sslmode` than this program knows")
            .hint("use disable, prefer, require, verify-ca or verify-full")),
    }
}

/// A path as it stands in a URL. The decoder leaves an escape that is none as it is; a path that is not what was meant would
/// only be found missing later, so it is refused here.
fn unescaped(text: &str) -> Result<PathBuf> {
    let is_escape =
        |rest: &str| rest.get(..2).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if !text.split('%').skip(1).all(is_escape) {
        return Err(unreadable());
    }
    let path = percent_decode_str(text).decode_utf8().map_err(|_| unreadable())?;
    Ok(PathBuf::from(path.into_owned()))
}

fn complete(config: &mut Config, schema: &str, options: &Options) {
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
    // The compare-and-swap of an append is right under this level, whatever the server's default is.
    let ours = format!(
        "-c search_path={schema} -c synchronous_commit={commit} -c default_transaction_isolation=read\\ committed"
    );
    config.options(format!("{theirs} {ours}").trim_start());
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
        let options = "-c search_path=mine -c synchronous_commit=on -c default_transaction_isolation=read\\ committed";
        assert_eq!(address.config.get_options(), Some(options));
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
        let asked = |parameters: &str| {
            let address = parse(&format!("//host/db?{parameters}")).unwrap();
            (address.config.get_ssl_mode(), address.trust)
        };
        let roots = || Some(PathBuf::from("/a b.pem"));

        assert_eq!(asked(""), (SslMode::Prefer, Trust::Anyone));
        assert_eq!(asked("sslmode=prefer"), (SslMode::Prefer, Trust::Anyone));
        assert_eq!(asked("sslmode=disable"), (SslMode::Disable, Trust::Anyone));
        assert_eq!(asked("sslmode=require"), (SslMode::Require, Trust::Anyone));
        assert_eq!(asked("sslrootcert=/a%20b.pem"), (SslMode::Require, Trust::Issuer(roots())));
        assert_eq!(asked("sslmode=require&sslrootcert=/a%20b.pem"), (SslMode::Require, Trust::Issuer(roots())));
        assert_eq!(asked("sslmode=verify-ca"), (SslMode::Require, Trust::Issuer(None)));
        assert_eq!(asked("sslmode=verify-full"), (SslMode::Require, Trust::IssuerAndName(None)));
        assert!(parse("//host/db?sslmode=verify").is_err_and(|error| error.remedy().is_some()));
        assert!(parse("//host/db?sslmode=").is_err());
        assert!(parse("//host/db?sslmode=verify-full&sslrootcert=%zz").is_err());
    }
}
