//! Encrypted connections to PostgreSQL: what `sslmode` asks for is what happens.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use pollster::block_on;
use tempfile::TempDir;
use turnkeep_model::Seq;
use turnkeep_store::{ErrorKind, Result, StoreExt, open};
use turnkeep_testkit::laws::store::{id, said};
use turnkeep_testkit::postgres_server::{Fsync, PostgresServer};

/// Every connection has a schema of its own.
static TURN: AtomicU32 = AtomicU32::new(0);

/// A server that takes only encrypted connections, as `localhost`, and the certificate of who vouches for it.
struct Safe {
    server: PostgresServer,
    folder: TempDir,
}

fn openssl(folder: &Path, words: &[&str]) -> bool {
    let output = Command::new("openssl").current_dir(folder).args(words).output();
    output.is_ok_and(|output| output.status.success())
}

/// Makes an issuer, and a certificate of it for `localhost`.
fn certify(folder: &Path) -> bool {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let issuer =
        [&["req", "-x509", "-days", "2", "-subj", "/CN=issuer"][..], &key, &["-keyout", "ca.key", "-out", "ca.pem"]];
    let asked = [&["req", "-subj", "/CN=localhost"][..], &key, &["-keyout", "key.pem", "-out", "asked.pem"]];
    let signed = ["x509", "-req", "-in", "asked.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
    let signed = [&signed[..], &["-days", "2", "-extfile", "name.txt", "-out", "cert.pem"]];
    fs::write(folder.join("name.txt"), "subjectAltName=DNS:localhost\n").unwrap();
    openssl(folder, &issuer.concat()) && openssl(folder, &asked.concat()) && openssl(folder, &signed.concat())
}

fn safe() -> Option<Safe> {
    super::postgres::home()?;
    let folder = TempDir::new().unwrap();
    if !certify(folder.path()) {
        eprintln!("skipped: tls (openssl makes no certificates here)");
        return None;
    }
    let mut server = PostgresServer::start(Fsync::Off).unwrap();
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    server.encrypt(&read("cert.pem"), &read("key.pem")).unwrap();
    Some(Safe { server, folder })
}

impl Safe {
    /// Appends through a connection with these parameters.
    fn append(&self, host: &str, parameters: &str) -> Result<Seq> {
        let url = self.server.url().replace("127.0.0.1", host).replace("postgres@", "postgres:pw@");
        let schema = format!("s{}", TURN.fetch_add(1, Ordering::Relaxed));
        let store = open(&format!("{url}?schema={schema}&{parameters}"))?;
        block_on(store.append(&id("s"), Seq::START, &said(Seq(0), "a")))?;
        block_on(store.last(&id("s")))
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

#[test]
fn an_encrypted_connection_is_made_where_it_is_asked_for_or_offered() {
    let Some(safe) = safe() else { return };

    for parameters in ["sslmode=require", "sslmode=prefer", "connect_timeout=20"] {
        assert_eq!(safe.append("127.0.0.1", parameters).unwrap(), Seq(1), "{parameters}");
    }
    assert!(safe.append("127.0.0.1", "sslmode=disable").is_err(), "the server takes only encrypted ones");
}

#[test]
fn the_issuer_and_the_name_of_the_server_are_checked_where_that_is_asked_for() {
    let Some(safe) = safe() else { return };
    let (ours, theirs) = (safe.file("ca.pem"), safe.file("other/ca.pem"));
    fs::create_dir(safe.folder.path().join("other")).unwrap();
    assert!(certify(&safe.folder.path().join("other")));

    let accepted = [
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={ours}")),
        ("127.0.0.1", format!("sslmode=require&sslrootcert={ours}")),
        ("localhost", format!("sslmode=verify-full&sslrootcert={ours}")),
    ];
    for (host, parameters) in accepted {
        assert_eq!(safe.append(host, &parameters).unwrap(), Seq(1), "{host} {parameters}");
    }
    let refused = [
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={ours}")),
        ("localhost", format!("sslmode=verify-full&sslrootcert={theirs}")),
        ("localhost", format!("sslmode=verify-ca&sslrootcert={theirs}")),
        ("localhost", format!("sslmode=require&sslrootcert={theirs}")),
        ("localhost", "sslmode=verify-full".to_owned()),
    ];
    for (host, parameters) in refused {
        let error = safe.append(host, &parameters).expect_err(&parameters);
        assert!(error.remedy().is_some(), "{error}");
        assert_ne!(error.kind(), ErrorKind::Unavailable, "trying again does not help: {error}");
    }
    let missing = safe.append("localhost", "sslmode=verify-full&sslrootcert=/no/such/file").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Io);
}

#[test]
fn a_server_without_encryption_is_refused_where_that_is_asked_for() {
    let Some(home) = super::postgres::home() else { return };
    for mode in ["require", "verify-ca", "verify-full"] {
        let Err(error) = open(&format!("{}&sslmode={mode}", home.url())) else { panic!("{mode}: it was opened") };

        assert!(error.remedy().is_some_and(|remedy| remedy.contains("ssl")), "{mode}: {error}");
    }
    assert!(open(&format!("{}&sslmode=prefer", home.url())).is_ok());
    assert!(open(&format!("{}&sslmode=disable", home.url())).is_ok());
}
