//! Slices that follow from the rest of the session.
//!
//! A derived slice is made whenever someone looks: by [`query`](super::query), in every snapshot and checkpoint, and in the
//! view of a tool. It is never stored. A copy in the journal would have to be written anew at every turn, which is
//! quadratic; it would be out of date between the record that changes it and its own; and it would survive the erasure of
//! what it copies. What is made from the turns is current at every record, in every process, by construction.

use turnkeep_model::{Session, Slice};

#[cfg(feature = "weakincentives")]
use {
    super::SliceItem,
    crate::compat::weakincentives::{ConversationState, conversation::enable_if_held},
    crate::typed,
};

/// A slice that is made from the session.
struct Derived {
    name: &'static str,
    /// The slice, where the session has it.
    make: fn(&Session) -> Option<Slice>,
    /// Has a session go on with the slice where it came with one.
    restore: fn(&mut Session),
}

/// Every derived slice. This table is all that the runtime knows of the programs in `compat`.
const DERIVED: &[Derived] = &[
    #[cfg(feature = "weakincentives")]
    Derived::of::<ConversationState>(enable_if_held),
];

#[cfg(feature = "weakincentives")]
impl Derived {
    const fn of<T: SliceItem>(restore: fn(&mut Session)) -> Derived {
        Derived { name: T::NAME, make: make::<T>, restore }
    }
}

#[cfg(feature = "weakincentives")]
fn make<T: SliceItem>(session: &Session) -> Option<Slice> {
    let items = T::derived(session)?;
    Some(Slice {
        name: T::NAME.to_owned(),
        version: Some(T::VERSION.to_owned()),
        policy: Some(T::POLICY),
        items: items.iter().map(typed::to_json).collect::<Result<_, _>>().ok()?,
        ..Slice::default()
    })
}

/// Whether slices of this name are derived.
pub(super) fn is_derived(name: &str) -> bool {
    DERIVED.iter().any(|derived| derived.name == name)
}

/// The derived slices of a session whose names are wanted.
pub(super) fn derived_slices(session: &Session, wanted: impl Fn(&str) -> bool) -> Vec<Slice> {
    DERIVED.iter().filter(|derived| wanted(derived.name)).filter_map(|derived| (derived.make)(session)).collect()
}

/// Puts slices in the place of those of the same name, or at the end.
pub(super) fn put(slices: &mut Vec<Slice>, new: Vec<Slice>) {
    for slice in new {
        match slices.iter_mut().find(|other| other.name == slice.name) {
            Some(other) => other.items = slice.items,
            None => slices.push(slice),
        }
    }
}

/// The session with its derived slices, as snapshots hold it.
pub(crate) fn with_derived(mut session: Session) -> Session {
    let derived = derived_slices(&session, |_| true);
    put(&mut session.slices, derived);
    session
}

/// The session without what [`with_derived`] added, as journals hold it. Other items of these slices, which came with a
/// file, stay.
pub(crate) fn without_derived(mut session: Session) -> Session {
    for derived in derived_slices(&session, |_| true) {
        for slice in session.slices.iter_mut().filter(|slice| slice.name == derived.name) {
            slice.items.retain(|item| !derived.items.contains(item));
        }
        session.slices.retain(|slice| slice.name != derived.name || !slice.items.is_empty());
    }
    session
}

/// A session that was restored from a snapshot goes on with the derived slices that the snapshot held.
pub(crate) fn restore_derived(session: &mut Session) {
    DERIVED.iter().for_each(|derived| (derived.restore)(session));
}
