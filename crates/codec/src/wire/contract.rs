//! What a wire knows of itself, as data.
//!
//! Lint, the table of models, sniffing, clients and mocks need facts about a wire: where requests go, how streams are cut,
//! where settings stand. Each of them asks the wire for its [`Contract`] and none knows the wires by name, so that a wire
//! is one folder and one row of the table of formats.

use super::frame::Framing;
use super::outgoing::{Delivery, Naming};
use super::repair::IdRule;
use crate::lint::rule::Rule;
use crate::lint::view::RequestShape;
use crate::models::{Settings, Unlisted};
use crate::sniff::outline::Outline;

/// The facts of a wire.
pub struct Contract {
    /// Where requests go.
    pub route: Route,
    /// How streams are cut into events.
    pub framing: Framing,
    /// Where a request names its model.
    pub naming: Naming,
    /// How an answer comes where neither the address nor the body of a request says how it is wanted.
    pub default_delivery: Delivery,
    /// Fields of a request that refer to what the vendor holds, and may have forgotten.
    pub held: &'static [&'static str],
    /// The key under which a request has its history.
    pub history: &'static str,
    /// The role of the model's answers in it.
    pub answer_role: &'static str,
    /// Which ids and names repair may send.
    pub limits: Limits,
    /// How the models are named that are usually spoken to over the wire.
    pub(crate) model_names: ModelNames,
    /// The keys by which its documents are described where they cannot be read.
    pub(crate) outlines: &'static [Outline],
    /// Fields of a request that stand for content which no block holds, each with what is told where it goes.
    pub(crate) request_content: &'static [(&'static str, &'static str)],
    /// Fields of an answer that do so.
    pub(crate) answer_content: &'static [(&'static str, &'static str)],
    /// Fields of an answer that repeat what was asked, and count where nothing else says it.
    pub(crate) repeated_content: &'static [(&'static str, &'static str)],
    /// How its requests are walked.
    pub(crate) request_shape: RequestShape,
    /// What its vendors demand of a request.
    pub(crate) rules: &'static [&'static [Rule]],
    /// Its settings that not every model takes.
    pub(crate) settings: Settings,
    /// What is believed of models that the table of models does not list, by dialect.
    pub(crate) unlisted: &'static [Unlisted],
}

/// Which ids and names the vendor takes; a dialect may take fewer. Repair makes others fit.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The ids of calls.
    pub call_ids: IdRule,
    /// The most characters of a tool's name.
    pub tool_name: usize,
}

/// Where requests go, below the base address of an endpoint. `*` stands for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The usual path of a base address that has none.
    pub base: &'static str,
    /// Where an answer is asked for that comes in one body.
    pub whole: &'static str,
    /// Where one is asked for that comes piece by piece.
    pub stream: &'static str,
}

impl Route {
    /// A route where the body says how the answer is wanted.
    pub(crate) const fn one(base: &'static str, path: &'static str) -> Route {
        Route { base, whole: path, stream: path }
    }

    /// The path of a request.
    pub fn path(&self, delivery: Delivery) -> &'static str {
        match delivery {
            Delivery::Whole => self.whole,
            Delivery::Stream => self.stream,
        }
    }

    /// How the answer to a request at `url` is wanted, where the address says so.
    pub fn delivery(&self, url: &str) -> Option<Delivery> {
        let path = |address: &str| address.split('?').next().unwrap_or_default().to_owned();
        let ending = path(self.stream);
        let ending = ending.rsplit('*').next().unwrap_or_default();
        let streams = path(url).ends_with(ending);
        (self.whole != self.stream).then_some(if streams { Delivery::Stream } else { Delivery::Whole })
    }
}

/// How the models are named that are usually spoken to over a wire.
pub(crate) struct ModelNames {
    /// How their names begin. Of the beginnings of all wires that fit, the longest decides.
    pub(crate) prefixes: &'static [&'static str],
    /// Whether names have parts.
    pub(crate) style: NameStyle,
}

/// The parts of a model's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameStyle {
    /// One word.
    Plain,
    /// A vendor and a model, as routers name them: `anthropic/claude-sonnet-4`.
    VendorSlashModel,
    /// A model and a tag: `llama3.2:1b`. One with an owner before it is somebody's own build.
    ModelColonTag,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format;

    #[test]
    fn an_address_tells_how_an_answer_is_wanted_or_the_body_does() {
        for wire in format::wires() {
            let route = wire.contract().route;
            let url = |delivery| format!("https://a.test{}{}", route.base, route.path(delivery).replace('*', "m"));
            let told = [Delivery::Whole, Delivery::Stream].map(|delivery| route.delivery(&url(delivery)));
            let by_address = [Some(Delivery::Whole), Some(Delivery::Stream)];

            assert!(told == by_address || told == [None, None], "{}: {told:?}", wire.spec().id);
        }
    }
}
