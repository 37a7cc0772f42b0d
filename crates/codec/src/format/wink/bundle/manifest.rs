//! The manifest of a bundle, and whether the files are those it speaks of.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use turnkeep_model::json::{Json, Nan, Object, parse_with};
use turnkeep_model::{Error, ErrorKind, Loss, LossKind, Result};

use super::files::{Files, MANIFEST};
use crate::codec::Mode;

/// Reads the manifest.
///
/// # Errors
/// `NotThisFormat` where there is none, `Corrupt` where it is no object.
pub(super) fn read(files: &Files<'_>) -> Result<Object> {
    let text = files.text(MANIFEST)?.ok_or_else(|| {
        Error::new(ErrorKind::NotThisFormat, "Bundle missing manifest.json")
            .hint("name the folder that holds it, or the zip file as it was written")
    })?;
    match parse_with(text, Nan::Accept).map_err(|error| error.locate(text).path(MANIFEST))?.into_json() {
        Json::Object(manifest) => Ok(manifest),
        other => Err(Error::new(ErrorKind::Corrupt, format!("expected an object, found {}", other.kind()))
            .path(MANIFEST)
            .hint("restore the bundle")),
    }
}

/// Checks the files against their sums. One that is missing is a loss; one that differs is damage, which the original
/// does not look for when it loads a bundle.
///
/// # Errors
/// `Corrupt` with the file that is not as it was written.
pub(super) fn verify(manifest: &Object, files: &Files<'_>, mode: Mode, losses: &mut Vec<Loss>) -> Result<()> {
    let integrity = manifest.get("integrity").and_then(Json::as_object);
    let known = integrity.is_none_or(|integrity| integrity.get_str("algorithm").as_deref() == Some("sha256"));
    if !known {
        losses.push(Loss::decode(
            LossKind::Dropped,
            "extra.wink.manifest.integrity",
            "the sums of the bundle are of an unknown kind; none was checked",
        ));
        return Ok(());
    }
    let sums = integrity.and_then(|integrity| integrity.get("checksums")).and_then(Json::as_object);
    for (path, sum) in sums.iter().flat_map(|sums| sums.iter()) {
        let path = path.to_str_lossy();
        match files.get(&path) {
            None => losses.push(missing(&path)),
            Some(bytes) if sum.as_str().as_deref() == Some(&hex(bytes)) => {}
            Some(_) if mode == Mode::Compat => {}
            Some(_) => {
                return Err(Error::new(ErrorKind::Corrupt, "the file does not match its checksum")
                    .path(path)
                    .hint("restore the bundle; or read what you need of it by itself"));
            }
        }
    }
    let listed = manifest.get("files").and_then(Json::as_array).unwrap_or_default();
    let unsummed = listed.iter().filter_map(Json::as_str).filter(|path| !sums.is_some_and(|sums| sums.contains(path)));
    losses.extend(unsummed.filter(|path| files.get(path).is_none()).map(|path| missing(&path)));
    Ok(())
}

fn missing(path: &str) -> Loss {
    Loss::decode(LossKind::Dropped, "extra.wink.files", format!("the manifest lists {path}, and it is not there"))
}

fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}
