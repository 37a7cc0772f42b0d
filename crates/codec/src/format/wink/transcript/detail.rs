//! What an entry tells, taken out of its detail and put back.
//!
//! Adapters word details in their own ways. What is understood is taken out and leaves a hole (a null); where the holes
//! are is noted, unless the detail is worded as this format's own entries are.

use turnkeep_model::json::{Json, Number, Object};

/// A detail with holes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DetailTemplate {
    pub detail: Object,
    /// What was taken, and where it stood.
    pub holes: Vec<(&'static str, Vec<PathSegment>)>,
}

/// One step into a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PathSegment {
    Key(String),
    At(usize),
}

impl DetailTemplate {
    /// A detail in which nothing was found yet.
    pub(super) fn new(detail: Object) -> DetailTemplate {
        DetailTemplate { detail, holes: Vec::new() }
    }

    /// Takes the value at the first of these places that holds a fitting one.
    pub(super) fn take(&mut self, slot: &'static str, places: &[&str], fits: impl Fn(&Json) -> bool) -> Option<Json> {
        for place in places {
            let steps: Vec<PathSegment> = place.split('.').map(PathSegment::parse).collect();
            if let Some(found) = find(&mut self.detail, &steps).filter(|found| fits(found)) {
                let taken = std::mem::take(found);
                self.holes.push((slot, steps));
                return Some(taken);
            }
        }
        None
    }

    /// Takes a text.
    pub(super) fn take_text(&mut self, slot: &'static str, places: &[&str]) -> Option<String> {
        let text = self.take(slot, places, |value| value.as_str().is_some())?;
        text.as_str().map(std::borrow::Cow::into_owned)
    }

    /// Takes a count.
    pub(super) fn take_count(&mut self, slot: &'static str, places: &[&str]) -> Option<u64> {
        let count = self.take(slot, places, |value| value.as_number().and_then(Number::as_u64).is_some())?;
        count.as_number().and_then(Number::as_u64)
    }

    /// The places of the holes as a note.
    pub(super) fn note(&self) -> Json {
        let place = |steps: &[PathSegment]| Json::Array(steps.iter().map(PathSegment::to_json).collect());
        Json::Object(self.holes.iter().map(|(slot, steps)| (*slot, place(steps))).collect())
    }

    /// Puts values back into the holes that a note tells of.
    pub(super) fn fill(mut detail: Object, note: &Object, value: impl Fn(&str) -> Option<Json>) -> Object {
        for (slot, place) in note.iter() {
            let steps: Option<Vec<PathSegment>> =
                place.as_array().map(|steps| steps.iter().filter_map(PathSegment::of).collect());
            let hole = steps.and_then(|steps| find(&mut detail, &steps).map(|hole| (hole, ())));
            if let (Some((hole, ())), Some(value)) = (hole, value(&slot.to_str_lossy())) {
                *hole = value;
            }
        }
        detail
    }
}

impl PathSegment {
    fn parse(text: &str) -> PathSegment {
        text.parse().map_or_else(|_| PathSegment::Key(text.to_owned()), PathSegment::At)
    }

    fn to_json(&self) -> Json {
        match self {
            PathSegment::Key(key) => key.as_str().into(),
            PathSegment::At(index) => Json::from(*index as u64),
        }
    }

    fn of(json: &Json) -> Option<PathSegment> {
        match json {
            Json::Number(index) => usize::try_from(index.as_u64()?).ok().map(PathSegment::At),
            other => other.as_str().map(|key| PathSegment::Key(key.into_owned())),
        }
    }
}

/// The value at the end of some steps.
fn find<'d>(detail: &'d mut Object, steps: &[PathSegment]) -> Option<&'d mut Json> {
    let (first, rest) = steps.split_first()?;
    let PathSegment::Key(first) = first else { return None };
    let mut value = detail.iter_mut().filter(|(key, _)| key.to_str_lossy() == *first).last().map(|(_, value)| value)?;
    for step in rest {
        value = match (step, value) {
            (PathSegment::Key(key), Json::Object(object)) => {
                object.iter_mut().filter(|(own, _)| own.to_str_lossy() == *key).last().map(|(_, value)| value)?
            }
            (PathSegment::At(index), Json::Array(items)) => items.get_mut(*index)?,
            _ => return None,
        };
    }
    Some(value)
}
