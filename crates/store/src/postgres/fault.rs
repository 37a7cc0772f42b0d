//! What PostgreSQL says, as one of our kinds. Neither passwords nor content get into a message.

use std::fmt;

use deadpool_postgres::PoolError;
use tokio_postgres::error::{DbError, SqlState};

use crate::error::{Error, ErrorKind};
use crate::packed::pack::damaged;

/// What the server said, as far as it speaks of itself and not of content.
#[derive(Debug)]
struct Said(String);

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Said {}

/// What went wrong on a connection.
pub(super) fn failed(error: tokio_postgres::Error) -> Error {
    if let Some(told) = error.as_db_error() {
        return refused(told);
    }
    let text = error.to_string();
    if text.starts_with("error deserializing") || text.starts_with("invalid column") {
        return damaged("a row has another shape");
    }
    if text.starts_with("authentication") || text.starts_with("invalid configuration") {
        return Error::new(ErrorKind::Io, "PostgreSQL wants other credentials").hint("check the user and the password");
    }
    if text.starts_with("error performing TLS handshake") {
        return Error::new(ErrorKind::Io, "no encrypted connection to PostgreSQL could be made")
            .hint("the server must offer TLS, with a certificate that `sslmode` and `sslrootcert` of the URL accept")
            .because(error);
    }
    Error::new(ErrorKind::Unavailable, "the connection to PostgreSQL failed")
        .hint("check that it runs and can be reached, then try again")
        .because(error)
}

/// What went wrong while getting a connection.
pub(super) fn no_connection(error: PoolError) -> Error {
    match error {
        PoolError::Backend(error) => failed(error),
        other => Error::new(ErrorKind::Unavailable, "no connection to PostgreSQL is free").because(other),
    }
}

/// Whether the server itself refused, rather than nobody answering.
pub(super) fn from_server(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<Said>)
}

fn refused(told: &DbError) -> Error {
    let code = told.code();
    let (kind, hint) = kind_of(code);
    // Messages of these classes speak of the server; others may quote what was sent.
    let speaks_of_itself = ["08", "28", "3D", "53", "57", "58"].iter().any(|class| code.code().starts_with(class));
    let said = if speaks_of_itself {
        format!("{} (SQLSTATE {})", told.message(), code.code())
    } else {
        format!("SQLSTATE {}", code.code())
    };
    Error::new(kind, "PostgreSQL refused").hint(hint).because(Said(said))
}

fn kind_of(code: &SqlState) -> (ErrorKind, &'static str) {
    match code.code() {
        "3D000" => (ErrorKind::NotFound, "make the database, or name another one"),
        "42501" => (ErrorKind::Io, "the user needs the rights to create and use the schema"),
        "53100" => (ErrorKind::Io, "nothing was recorded; make room and try again"),
        "54000" | "22001" => (ErrorKind::TooLarge, "keep large data elsewhere"),
        "25006" => (
            ErrorKind::Io,
            "the server only takes reads: name the primary, or a user whose `default_transaction_read_only` is off",
        ),
        "40001" | "40P01" | "55P03" => (ErrorKind::Unavailable, "others write at the same time; try again"),
        code if ["08", "53", "57P"].iter().any(|class| code.starts_with(class)) => {
            (ErrorKind::Unavailable, "the server stops, starts or is full; try again")
        }
        code if code.starts_with("28") => (ErrorKind::Io, "check the user and the password"),
        code if code.starts_with("XX") => (ErrorKind::Corrupt, "check the server's log and disks, then restore"),
        _ => (ErrorKind::Io, "nothing was recorded; see the server's log"),
    }
}
