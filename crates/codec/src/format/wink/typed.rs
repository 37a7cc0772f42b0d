//! The typed reader: a snapshot whose types are known, checked as the original checks it.

use turnkeep_model::{Error, ErrorKind, Result};

use super::coerce::{self, Refusal};
use super::compat;
use super::document::{Entry, Snapshot};
use super::types::{Known, Types, moved};
use crate::codec::Mode;

/// Checks a snapshot against the types of a file. With `--compat` its items become what the original makes of them; by default
/// they stay, and types that the original cannot read back (generic ones, those of modules that moved) are accepted.
///
/// # Errors
/// `Corrupt` in the original's words; by default with the place and what to do.
pub(super) fn check(snapshot: &mut Snapshot<'_>, types: &Types, mode: Mode) -> Result<()> {
    compat::check_values(snapshot)?;
    for (index, entry) in snapshot.slices.iter_mut().flatten().enumerate() {
        check_slice(entry, index, types, mode)?;
    }
    for (id, _) in snapshot.policies.iter().flatten() {
        let path = format!("policies.{id}");
        if *resolve(types, id, &path, mode)? == Known::Class {
            return Err(Error::new(ErrorKind::Corrupt, "Snapshot policy keys must be dataclass types").path(path));
        }
    }
    Ok(())
}

fn resolve<'t>(types: &'t Types, id: &str, path: &str, mode: Mode) -> Result<&'t Known> {
    let id = if mode == Mode::Compat { id } else { moved(id) };
    let hint = "add the type to the types file, or leave the types file out";
    types.resolve(id).map_err(|error| error.path(path).hint(hint))
}

fn check_slice(entry: &mut Entry<'_>, index: usize, types: &Types, mode: Mode) -> Result<()> {
    let path = format!("slices[{index}]");
    let slice = resolve(types, &entry.slice_type, &format!("{path}.slice_type"), mode)?;
    let known = resolve(types, &entry.item_type, &format!("{path}.item_type"), mode)?;
    if [slice, known].contains(&&Known::Class) {
        return Err(Error::new(ErrorKind::Corrupt, "Snapshot types must be dataclasses").path(path));
    }
    let is_free = *known == Known::Generic && mode == Mode::Faithful;
    for (place, item) in entry.items.iter_mut().flatten().enumerate().filter(|_| !is_free) {
        let place = format!("{path}.items[{place}]");
        match (coerce::item(types, known, &item.clone().into_json(), ""), mode) {
            (Ok(made), Mode::Compat) => *item = made.to_node().into_owned(),
            (Ok(_), Mode::Faithful) => {}
            (Err(refusal), _) => return Err(refused(&entry.slice_type, &place, &refusal)),
        }
    }
    Ok(())
}

fn refused(slice_type: &str, place: &str, refusal: &Refusal) -> Error {
    let name = slice_type.split_once(':').map_or(slice_type, |(_, name)| name);
    let dot = if refusal.path.is_empty() || refusal.path.starts_with('[') { "" } else { "." };
    Error::new(ErrorKind::Corrupt, format!("Failed to restore slice {name}"))
        .path(format!("{place}{dot}{}", refusal.path))
        .hint(format!("{}; put the item or the types file right", refusal.words))
}
