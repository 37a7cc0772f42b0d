//! The codec.

use turnkeep_model::{Archive, ErrorKind, Loss, LossKind, Result};

use super::database::{Database, MAGIC};
use super::write::write;
use super::{decode, encode, wal};
use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Mode, Spec};
use crate::input::Input;
use crate::loss_report;
use crate::sniff::Guess;

/// `geppetto.store`: pinocchio's database of turns.
pub(crate) struct StoreCodec;

impl Codec for StoreCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "geppetto.store",
            title: "geppetto turn store (SQLite)",
            extensions: &[".sqlite", ".sqlite3", ".db"],
            fidelity: super::super::codec::FIDELITY,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        if !input.bytes().starts_with(MAGIC) {
            return Guess::no();
        }
        match open(input, &mut Vec::new()) {
            Ok(_) => Guess::certain("it is an SQLite database with the tables of a turn store"),
            Err(error) if error.kind() == ErrorKind::NotThisFormat => Guess::no(),
            Err(_) => Guess::likely("it is an SQLite database that does not open as it should"),
        }
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        let mut losses = Vec::new();
        let (rows, found) = open(&input, &mut losses)?.rows()?;
        losses.extend(found);
        let (archive, found) = decode::archive(&rows, options.mode)?;
        losses.extend(found);
        Ok(Decoded { archive, losses })
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let rows = encode::rows(archive, options);
        let (back, _) = decode::archive(&rows, Mode::Faithful)?;
        let losses = loss_report::losses(archive, &back, "a geppetto turn store");
        Ok(Encoded { bytes: write(&rows)?, losses })
    }
}

/// The database with its log, if one stands beside it.
fn open(input: &Input<'_>, losses: &mut Vec<Loss>) -> Result<Database> {
    let mut bytes = input.bytes().to_vec();
    let beside = |ending: &str| input.files().iter().find(|(name, _)| name.ends_with(ending)).map(|(_, bytes)| bytes);
    if let Some(log) = beside("-wal") {
        bytes = wal::apply(bytes, log, losses)?;
    }
    if beside("-journal").is_some_and(|journal| !journal.is_empty()) {
        let what = "a rollback journal stands beside the database: a write was cut off and is not undone here";
        losses.push(Loss::decode(LossKind::Repaired, "", what));
    }
    Database::open(bytes)
}
