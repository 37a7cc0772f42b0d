//! The endpoints of a recording, as far as the requests to them tell: enough to ask them again without any configuration.

use std::sync::Arc;

use turnkeep_codec::wire::{Delivery, Wire};
use turnkeep_codec::{DecodeOptions, Input, format};
use turnkeep_model::json::Json;
use turnkeep_model::{Options, Result};

use super::exchange::Asked;
use super::tape::Tape;
use crate::address::{Streaming, apart};
use crate::model::WireModel;
use crate::providers::{PROVIDERS, Provider};
use crate::transport::Transport;

/// An endpoint that a recording was made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEndpoint {
    provider: &'static Provider,
    wire: &'static str,
    base_url: String,
    model: String,
    streaming: Streaming,
    options: Options,
}

impl Tape {
    /// The endpoints that the recorded requests went to, in the order in which they were first asked.
    pub fn endpoints(&self) -> Vec<RecordedEndpoint> {
        let mut found: Vec<RecordedEndpoint> = Vec::new();
        for endpoint in self.requests().iter().filter_map(RecordedEndpoint::of) {
            if !found.iter().any(|known| known.is_same(&endpoint)) {
                found.push(endpoint);
            }
        }
        found
    }
}

impl RecordedEndpoint {
    /// The model that answers there, over a transport and without a key.
    ///
    /// # Errors
    /// Where its wire is not known.
    pub fn model(&self, transport: Arc<dyn Transport>) -> Result<WireModel> {
        let model = WireModel::new(self.provider, self.model.clone(), transport)?.with_wire(self.wire)?;
        let model = model.with_base_url(self.base_url.clone()).with_streaming(self.streaming);
        Ok(model.with_defaults(self.options.clone()))
    }

    fn of(asked: &Asked) -> Option<RecordedEndpoint> {
        let body = asked.body.to_bytes();
        let fields = match &asked.body {
            super::content::Content::Json(Json::Object(fields)) => fields.clone(),
            _ => return None,
        };
        let (base, in_address, wire, delivery) = taken_apart(&asked.url)?;
        let model = in_address.or_else(|| Some(fields.get_str("model")?.into_owned()))?;
        let told = fields.get("stream").and_then(Json::as_bool).map(|streams| match streams {
            true => Delivery::Stream,
            false => Delivery::Whole,
        });
        let streaming = delivery.or(told).unwrap_or(wire.contract().default_delivery).into();
        let wire = wire.spec().id;
        let decoded = format::by_id(wire).ok()?.decode(Input::new(&body), &DecodeOptions::default()).ok()?;
        let options = decoded.archive.main_session().map(|session| session.options.clone()).unwrap_or_default();
        let provider = provider(base, wire)?;
        Some(RecordedEndpoint { provider, wire, base_url: base.to_owned(), model, streaming, options })
    }

    fn is_same(&self, other: &RecordedEndpoint) -> bool {
        (self.base_url.as_str(), &self.model, self.wire) == (other.base_url.as_str(), &other.model, other.wire)
    }
}

/// The base of an address, the model in it, its wire, and how the answer is wanted where the address says so.
type Address<'a> = (&'a str, Option<String>, &'static dyn Wire, Option<Delivery>);

/// What the wire of an address is, by how addresses of each wire end.
fn taken_apart(url: &str) -> Option<Address<'_>> {
    format::wires().find_map(|wire| {
        let route = wire.contract().route;
        let (base, model) = apart(url, route.stream).or_else(|| apart(url, route.whole))?;
        Some((base, model, wire, route.delivery(url)))
    })
}

/// The provider at an address, or else the first that speaks the wire.
fn provider(base: &str, wire: &str) -> Option<&'static Provider> {
    let at = |provider: &&Provider| !provider.base_url.is_empty() && base.starts_with(provider.base_url);
    let speaks = |provider: &&Provider| provider.wire == wire;
    PROVIDERS.iter().find(at).or_else(|| PROVIDERS.iter().find(speaks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::address;

    #[test]
    fn every_address_is_taken_apart_again() {
        let wires = format::wires().flat_map(|wire| [(wire, Delivery::Whole), (wire, Delivery::Stream)]);
        for (wire, delivery) in wires {
            let (id, contract) = (wire.spec().id, wire.contract());
            let url = address(provider("", id).unwrap(), contract, "https://host/v1", "a/b:1", None, delivery.into());

            let found = taken_apart(&url).unwrap();

            assert_eq!((found.0, found.2.spec().id), ("https://host/v1", id), "{url}");
            assert_eq!(found.1.unwrap_or_else(|| "a/b:1".into()), "a/b:1", "{url}");
            assert_eq!(found.3.unwrap_or(delivery), delivery, "{url}");
        }
    }
}
