//! The tools of an agent, by name.

use std::sync::Arc;

use turnkeep_model::event::Effect;
use turnkeep_model::{ErrorKind, Json, Session, ToolSpec};

use crate::error::{Error, Result};
use crate::port::{BuiltInSchemas, SchemaChecker, Tool};

/// The tools of an agent.
#[derive(Clone)]
pub struct Tools {
    tools: Vec<Arc<dyn Tool>>,
    specs: Vec<ToolSpec>,
    schemas: Arc<dyn SchemaChecker>,
}

impl Default for Tools {
    fn default() -> Tools {
        Tools::checked_by(Arc::new(BuiltInSchemas))
    }
}

impl Tools {
    /// These tools.
    ///
    /// # Errors
    /// `Unsupported` when two have one name, or a schema says something that is not checked here.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<Tools> {
        tools.into_iter().try_fold(Tools::default(), Tools::with)
    }

    /// No tools yet, and who checks the schemas and arguments of those that are added.
    pub fn checked_by(schemas: Arc<dyn SchemaChecker>) -> Tools {
        Tools { tools: Vec::new(), specs: Vec::new(), schemas }
    }

    /// And this one.
    ///
    /// # Errors
    /// Those of [`Tools::new`].
    pub fn with(mut self, tool: Arc<dyn Tool>) -> Result<Tools> {
        let spec = tool.spec();
        if self.specs.iter().any(|known| known.name == spec.name) {
            let what = format!("two tools are named `{}`", spec.name);
            return Err(Error::new(ErrorKind::Unsupported, what).hint("give one of them another name"));
        }
        self.schemas.accepts(&spec.parameters).map_err(|why| {
            let what = format!("the schema of the tool `{}` cannot be checked: {why}", spec.name);
            Error::new(ErrorKind::Unsupported, what).hint(
                "describe the arguments without it, or give the tools a checker that knows it (`Tools::checked_by`)",
            )
        })?;
        self.tools.push(tool);
        self.specs.push(spec);
        Ok(self)
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        let at = self.specs.iter().position(|spec| spec.name == name)?;
        self.tools.get(at)
    }

    /// What models are told of them.
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// What repeating a call of this tool would do.
    pub fn effect(&self, name: &str) -> Option<Effect> {
        self.get(name).map(Tool::effect)
    }

    /// The names of tools that a session was recorded with, and that are not here.
    pub fn missing<'a>(&self, session: &'a Session) -> Vec<&'a str> {
        let lacks = |name: &&str| self.get(name).is_none();
        session.tools.iter().map(|spec| spec.name.as_str()).filter(lacks).collect()
    }

    /// The arguments of a call, if they can be given to the tool.
    pub(crate) fn arguments(&self, name: &str, text: &str) -> std::result::Result<Json, String> {
        let Some(at) = self.specs.iter().position(|spec| spec.name == name) else {
            let known: Vec<&str> = self.specs.iter().map(|spec| spec.name.as_str()).collect();
            return Err(format!("there is no tool `{name}`; there are: {}", known.join(", ")));
        };
        let text = if text.trim().is_empty() { "{}" } else { text };
        let json = turnkeep_model::json::parse(text)
            .map_err(|error| format!("the arguments are not JSON: {error}"))?
            .into_json();
        let schema = self.specs.get(at).map(|spec| &spec.parameters).unwrap_or(&Json::Null);
        self.schemas.check(schema, &json).map_err(|why| format!("the arguments do not follow the schema: {why}"))?;
        Ok(json)
    }
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.specs.iter().map(|spec| &spec.name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::{CallInfo, FnTool};

    /// Knows every keyword, and takes nothing but `{"kind":"car"}`.
    struct OnlyCars;

    impl SchemaChecker for OnlyCars {
        fn accepts(&self, _: &Json) -> std::result::Result<(), String> {
            Ok(())
        }

        fn check(&self, _: &Json, value: &Json) -> std::result::Result<(), String> {
            if value.to_text() == r#"{"kind":"car"}"# { Ok(()) } else { Err("this is no car".to_owned()) }
        }
    }

    fn tool() -> Arc<dyn Tool> {
        let schema = turnkeep_model::json::parse(r#"{"if":{"required":["kind"]}}"#).unwrap().into_json();
        let answer = |_: serde_json::Value, _: CallInfo| Ok("ok".to_owned());
        Arc::new(FnTool::blocking("drive", "Drives.", schema, Effect::Pure, answer))
    }

    #[test]
    fn a_keyword_that_is_not_known_is_named() {
        let refused = Tools::new([tool()]).unwrap_err().to_string();

        assert!(refused.contains("the schema of the tool `drive` cannot be checked"), "{refused}");
        assert!(refused.contains("the keyword `if`"), "{refused}");
    }

    #[test]
    fn an_application_can_bring_its_own_checker() {
        let tools = Tools::checked_by(Arc::new(OnlyCars)).with(tool()).unwrap();

        assert!(tools.arguments("drive", r#"{"kind":"car"}"#).is_ok());
        let refused = tools.arguments("drive", r#"{"kind":"boat"}"#).unwrap_err();
        assert_eq!(refused, "the arguments do not follow the schema: this is no car");
    }
}
