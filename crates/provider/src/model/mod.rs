//! A vendor's model, over any transport.

mod answer;
mod ask;
mod reading;
mod request;
mod wait;
mod wire_model;

pub use request::Prepared;
pub use wire_model::{Payload, Timeouts, WireModel};

use turnkeep_runtime::port::BoxFuture;
use turnkeep_runtime::port::{Answer, Deltas, Identity, Model, ModelError, Request};

impl Model for WireModel {
    fn identity(&self) -> Identity {
        Identity {
            provider: Some(self.provider.name.to_owned()),
            api: Some(self.wire.spec().id.to_owned()),
            model: Some(self.model.clone()),
            account: self.account.clone(),
            defaults: self.defaults.clone(),
        }
    }

    fn answer<'a>(
        &'a self,
        request: Request<'a>,
        deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, std::result::Result<Answer, ModelError>> {
        Box::pin(async move { self.ask(request, deltas).await.map_err(ModelError::from) })
    }
}
