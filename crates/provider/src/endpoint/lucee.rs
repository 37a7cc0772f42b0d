//! Endpoints as Lucee's LoadAISession looks them up.

use turnkeep_codec::format::lucee;

use super::{Endpoint, Endpoints};

impl lucee::Endpoints for Endpoints {
    fn by_name(&self, name: &str) -> Option<lucee::Endpoint> {
        let named = self.all().iter().find(|endpoint| endpoint.name.to_lowercase() == name.to_lowercase());
        named.map(as_lucee)
    }

    fn by_id(&self, id: &str) -> Option<lucee::Endpoint> {
        self.find(&format!("id:{id}")).ok().map(as_lucee)
    }

    fn by_category(&self, category: &str) -> Option<lucee::Endpoint> {
        self.find(&format!("default:{category}")).ok().map(as_lucee)
    }

    fn names(&self) -> Vec<String> {
        self.all().iter().map(|endpoint| endpoint.name.clone()).collect()
    }
}

fn as_lucee(endpoint: &Endpoint) -> lucee::Endpoint {
    lucee::Endpoint { name: endpoint.name.clone(), options: endpoint.options.clone(), system: endpoint.system.clone() }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use turnkeep_codec::Mode;
    use turnkeep_codec::format::lucee::{Data, load};

    use super::super::{Level, Source};
    use super::*;

    const CONFIG: &str = r#"
        [endpoint.Claude]
        id = "7"
        provider = "anthropic"
        model = "m"
        system = "Be brief."
        categories = ["exception"]
        options = {temperature = 0.5}
    "#;

    #[test]
    fn a_session_of_lucee_is_taken_up_by_a_configured_endpoint() {
        let source = Source { path: PathBuf::from("turnkeep.toml"), level: Level::User, text: CONFIG.to_owned() };
        let endpoints = Endpoints::read(&[source]).unwrap();
        let data = r#"{"history":[{"question":"Hi?","answer":"Hi!"}]}"#;

        let loaded = ["claude", "id:7", "default:exception"]
            .map(|reference| load(reference, Data::Text(data), &endpoints, Mode::default()).unwrap());

        for loaded in loaded {
            assert_eq!(loaded.endpoint.name, "Claude");
            assert_eq!(loaded.session.options.temperature.as_ref().map(turnkeep_model::Number::as_f64), Some(0.5));
            assert_eq!(loaded.session.turns[0].blocks[0].body.as_text(), Some("Be brief."));
        }
        let told = |reference: &str| {
            load(reference, Data::Text(data), &endpoints, Mode::default()).unwrap_err().what().to_owned()
        };
        assert_eq!(told("id:8"), "there is no AIEngine stored with id [8]");
        assert_eq!(told("default:chat"), "no match for default [chat] found.");
        assert_eq!(told("clod"), "there is no AI endpoint with name [clod]");
    }
}
