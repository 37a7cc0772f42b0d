//! geppetto turn documents.
use crate::codec::*;
use crate::input::Input;
use crate::lint::{Finding, Strictness};
use crate::sniff::Guess;
use turnkeep_model::{Archive, Result};
pub struct TurnCodec;
pub struct FixtureCodec;
macro_rules! stub {
    ($t:ident, $id:literal) => {
        impl Codec for $t {
            fn spec(&self) -> &'static Spec {
                &Spec {
                    id: $id,
                    title: "geppetto",
                    variants: &["yaml", "json"],
                    extensions: &[".yaml"],
                    reads: true,
                    writes: true,
                    fidelity: Fidelity::FULL,
                }
            }
            fn sniff(&self, _: &Input<'_>) -> Guess {
                Guess::no()
            }
            fn decode(&self, _: Input<'_>, _: &DecodeOptions) -> Result<Decoded> {
                Ok(Decoded::default())
            }
            fn encode(&self, _: &Archive, _: &EncodeOptions) -> Result<Encoded> {
                Ok(Encoded::default())
            }
        }
    };
}
stub!(TurnCodec, "geppetto.turn");
stub!(FixtureCodec, "geppetto.fixture");
pub fn lint(_: Input<'_>, _: Strictness) -> Result<Vec<Finding>> {
    Ok(vec![])
}
