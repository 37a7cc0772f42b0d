//! Who checks the arguments of tools against their schemas.

use turnkeep_model::Json;

use crate::schema;

/// Checks values against JSON Schemas.
///
/// The runtime's own checker ([`BuiltInSchemas`]) knows the keywords that tools are described with and refuses a schema
/// that says more. Who needs the rest of JSON Schema (`patternProperties`, `if`, references to other documents) puts a
/// library for it behind this trait and hands it to [`Tools::checked_by`](crate::Tools::checked_by).
pub trait SchemaChecker: Send + Sync {
    /// Whether every keyword of a schema can be checked. It is asked once, when a tool is added.
    ///
    /// # Errors
    /// What cannot be checked, and where in the schema it stands.
    fn accepts(&self, schema: &Json) -> Result<(), String>;

    /// Whether `value` follows `schema`.
    ///
    /// # Errors
    /// Where it does not, and why, for the model that wrote it.
    fn check(&self, schema: &Json, value: &Json) -> Result<(), String>;
}

/// The checker of the runtime: no dependency, and no keyword that is passed over in silence.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltInSchemas;

impl SchemaChecker for BuiltInSchemas {
    fn accepts(&self, schema: &Json) -> Result<(), String> {
        schema::check_schema(schema)
    }

    fn check(&self, schema: &Json, value: &Json) -> Result<(), String> {
        schema::check(schema, value)
    }
}
