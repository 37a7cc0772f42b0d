//! A server with apps, and a page that folds what it hears.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use turnkeep_provider::endpoint::{Level, Source};
use turnkeep_server::config::{Config, read};

use crate::pusher::kit::{Client, Heard};
use crate::stage::{self, Stage};
use crate::vendor::Vendor;

/// Two apps: the one whose signatures [`Client::subscribe`] makes, and one of another tenant.
const APPS: &str = r#"
[server.tools]
shop = "tools.yaml"
[server.app.web]
id = "app-id"
key = "app-key"
secret = { file = "app-secret" }
[server.app.other]
key = "other-key"
secret = { file = "app-secret" }
tenant = "acme"
"#;

/// Writes the configuration of a server whose only endpoint is this vendor.
pub(super) fn write_config(folder: &Path, vendor: &Vendor) {
    let endpoint = vendor.config().replace("{ env = \"TURNKEEP_TEST_KEY\" }", "{ file = \"key\" }");
    let tools = "tools:\n  - {name: charge, command: \"echo paid\"}\n";
    for (name, text) in [
        ("turnkeep.toml", format!("{endpoint}{APPS}").as_str()),
        ("key", "sk-test"),
        ("app-secret", "app-secret"),
        ("tools.yaml", tools),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

/// What the file in this folder configures, over a store.
pub(super) fn configured(folder: &Path, store: &str) -> Config {
    let path = folder.join("turnkeep.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    Config { store: store.to_owned(), ..read(&[Source { path, level: Level::User, text }]).unwrap() }
}

pub(super) async fn stage(vendor: &Vendor) -> Stage {
    stage_with(vendor, |_| {}).await
}

pub(super) async fn stage_with(vendor: &Vendor, change: impl FnOnce(&mut Config)) -> Stage {
    Stage::with(|config| {
        let place = config.store.split(':').nth(1).unwrap().split('?').next().unwrap();
        let folder = Path::new(place).parent().unwrap().to_owned();
        write_config(&folder, vendor);
        *config = configured(&folder, &config.store);
        change(config);
    })
    .await
}

/// The address in `http://ADDRESS`.
pub(super) fn address(base: &str) -> &str {
    base.strip_prefix("http://").unwrap()
}

/// What a page shows that hears the seven envelopes. Hearing one twice changes nothing.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Page {
    /// The last record that was heard.
    pub(super) last: u64,
    pub(super) status: String,
    pub(super) step_count: u64,
    /// The answer that is being written.
    pub(super) answer: String,
    steps: BTreeMap<u64, Value>,
    calls: BTreeMap<u64, Vec<Value>>,
    step: u64,
}

impl Page {
    /// Where it begins again: before the last record, of which it may have heard a part.
    pub(super) fn place(&self) -> u64 {
        self.last.saturating_sub(1)
    }

    pub(super) fn take(&mut self, frame: &Value) {
        let envelope: Value = serde_json::from_str(frame["data"].as_str().unwrap()).unwrap();
        assert_eq!(frame["event"], envelope["type"]);
        let payload = &envelope["payload"];
        let number = |key: &str| payload[key].as_u64().unwrap();
        self.last = envelope["seq"].as_u64().unwrap_or(self.last);
        match frame["event"].as_str().unwrap() {
            "agent.status" => {
                self.status = payload["status"].as_str().unwrap().to_owned();
                self.step_count = number("step_count");
            }
            "agent.step.started" => self.step = number("step_number"),
            "agent.step.completed" => drop(self.steps.insert(number("step_number"), payload.clone())),
            "agent.tool.started" => {
                let call = json!({"id": payload["tool_call_id"], "name": payload["tool_name"]});
                let calls = self.calls.entry(self.step).or_default();
                if !calls.contains(&call) {
                    calls.push(call);
                }
            }
            "agent.stream.chunk" => {
                if number("index") == 0 {
                    self.answer.clear();
                }
                self.answer.push_str(payload["chunk"].as_str().unwrap());
            }
            "agent.tool.completed" => {}
            other => panic!("{other} has no place on a page"),
        }
    }

    /// Hears until the run has ended after so many steps; `false` where the connection ends before.
    pub(super) async fn hear(&mut self, client: &mut Client, steps: u64) -> bool {
        while !self.is_done(steps) {
            match client.hear().await {
                Heard::Frame(frame) => self.take(&frame),
                Heard::Close(_) | Heard::End => return false,
            }
        }
        true
    }

    pub(super) fn is_done(&self, steps: u64) -> bool {
        self.status == "completed" && self.step_count == steps
    }

    /// What of it the slim view says, too.
    pub(super) fn shown(&self) -> Value {
        let step = |(number, told): (&u64, &Value)| {
            let calls = self.calls.get(number).cloned().unwrap_or_default();
            shown_step(told, &json!(calls))
        };
        let steps: Vec<Value> = self.steps.iter().map(step).collect();
        json!({"status": self.status, "step_count": self.step_count, "steps": steps})
    }
}

fn shown_step(told: &Value, calls: &Value) -> Value {
    let mut shown = json!({"tool_calls": calls, "usage": told["usage"]["total"]});
    // A page knows no difference between 6 and 6.0.
    shown["duration_ms"] = json!(told["duration_ms"].as_f64());
    for key in ["step_number", "has_tool_calls", "finish_reason", "errors"] {
        shown[key] = told[key].clone();
    }
    shown
}

/// The slim view of a stored session, as far as pages can show it.
pub(super) async fn stored(client: &stage::Client, id: &str) -> Value {
    shown(&client.get(&format!("/v1/sessions/{id}/slim?preset=full")).await.must(200).json())
}

/// What pages show, of a document that may say more.
pub(super) fn shown(slim: &Value) -> Value {
    let step = |step: &Value| shown_step(step, &step["tool_calls"]);
    let steps: Vec<Value> = slim["steps"].as_array().unwrap().iter().map(step).collect();
    json!({"status": slim["status"], "step_count": slim["step_count"], "steps": steps})
}
