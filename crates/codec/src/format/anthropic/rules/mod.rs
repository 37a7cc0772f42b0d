//! What the vendor demands of a request, by what the rules speak of.

mod content;
mod settings;
mod tools;

use super::Messages;
use crate::lint::rule::Rule;
use crate::lint::two_sides;
use crate::lint::view::RequestShape;

pub(super) static RULES: &[&[Rule]] = &[content::RULES, tools::RULES, settings::RULES];

pub(super) const SHAPE: RequestShape = RequestShape {
    is_request: |body| two_sides::is_request(&Messages, super::decode::REQUEST, body),
    lists: &["content"],
    kinds: content::kinds,
    call_key: tools::call_key,
    message_call: None,
    class: |_| 0,
};
