//! `turnkeep.toml`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use turnkeep_model::{Decimal, ErrorKind, Options};
use turnkeep_provider::endpoint::{Endpoints, HeaderSource, Level, Reference, Source};
use turnkeep_provider::{KeySource, Payload, Prices, Proxy, Retry, Streaming, Timeouts, WireModel};

use crate::stage::vendor;

fn source(level: Level, text: &str) -> Source {
    let folder = if level == Level::User { "/home/u/.config/turnkeep" } else { "/project" };
    Source { path: PathBuf::from(folder).join("turnkeep.toml"), level, text: text.to_owned() }
}

fn read(text: &str) -> turnkeep_model::Result<Endpoints> {
    Endpoints::read(&[source(Level::User, text)])
}

const ALL: &str = r#"
[endpoint.Claude]
id = "7"
provider = "anthropic"
model = "claude-sonnet-4-5"
family = "claude-opus-4-6"
account = "work"
system = "Be brief."
categories = ["chat", "exception"]
fallback = ["local"]
stream = false
payload = false
proxy = "none"
ca_file = "ca.pem"
max_body = 1000
key = { command = ["pass", "show", "claude"], timeout = 5 }
options = { temperature = 0.20, max_tokens = 1000, reasoning = "high", stop = ["END"] }
timeouts = { connect = 1, first_byte = 2.5, idle = 3 }
retry = { tries = 2, first = 1, longest = 2, patience = 3 }
prices = { input = 3, output = "15.00", cached_read = 0.30, cached_write = 3.75 }
headers = { X-Team = "a", X-Token = { env = "TOKEN" } }

[endpoint.local]
provider = "llamacpp"
model = "qwen"
"#;

#[test]
fn every_field_is_read() {
    let endpoints = read(ALL).unwrap();
    let claude = endpoints.find("claude").unwrap();

    assert_eq!((claude.name.as_str(), claude.id.as_deref(), claude.provider.name), ("Claude", Some("7"), "anthropic"));
    assert_eq!(
        (claude.wire.as_str(), claude.base_url.as_str()),
        ("anthropic.messages", "https://api.anthropic.com/v1")
    );
    let words = ["pass", "show", "claude"].map(str::to_owned).to_vec();
    assert_eq!(claude.key, Some(KeySource::Command { words, within: Duration::from_secs(5) }));
    let mut options =
        Options::default().with_max_tokens(1000).with_stop("END").with_reasoning(turnkeep_model::Effort::High);
    options.temperature = turnkeep_model::Number::parse("0.20");
    assert_eq!(claude.options, options);
    assert_eq!(
        claude.timeouts,
        Timeouts {
            connect: Duration::from_secs(1),
            first_byte: Duration::from_millis(2500),
            idle: Duration::from_secs(3)
        }
    );
    let second = Duration::from_secs(1);
    assert_eq!(claude.retry, Retry { tries: 2, first: second, longest: second * 2, patience: second * 3 });
    let price = |text: &str| Decimal::parse(text);
    assert_eq!(
        claude.prices,
        Some(Prices {
            input: price("3"),
            output: price("15.00"),
            cached_read: price("0.30"),
            cached_write: price("3.75")
        })
    );
    assert_eq!(
        claude.headers,
        [
            ("x-team".to_owned(), HeaderSource::Plain("a".to_owned())),
            ("x-token".to_owned(), HeaderSource::Secret(KeySource::Env("TOKEN".to_owned())))
        ]
    );
    assert_eq!((claude.streaming, claude.payload, &claude.proxy), (Streaming::Off, Payload::Drop, &Proxy::Direct));
    assert_eq!(claude.ca_file, Some(PathBuf::from("/home/u/.config/turnkeep/ca.pem")));
    assert_eq!(
        (claude.max_body, claude.account.as_deref(), claude.system.as_deref()),
        (1000, Some("work"), Some("Be brief."))
    );
    assert_eq!((&claude.fallback, claude.place.1), (&vec!["local".to_owned()], 2));
    assert_eq!(claude.family.as_deref(), Some("claude-opus-4-6"));
}

#[test]
fn a_family_that_no_table_knows_is_refused_with_its_place() {
    let text = "[endpoint.a]\nprovider = \"azure\"\nbase_url = \"https://a.b\"\nmodel = \"mine\"\nfamily = \"mine\"\n";
    let error = read(text).err().unwrap();

    assert_eq!(error.what(), "its `family` is not known: the table of models has no row for `mine`");
    assert!(error.to_string().contains("turnkeep.toml:1: endpoint.a"), "{error}");
    assert!(error.remedy().is_some_and(|remedy| remedy.contains("as its maker does")), "{error:?}");
}

#[test]
fn the_family_of_a_deployment_says_which_settings_are_sent() {
    let text = |family: &str| {
        format!(
            "[endpoint.a]\nprovider = \"openai-compatible\"\ndialect = \"azure\"\nbase_url = \"https://a.b\"\n\
             model = \"mine\"\n{family}\noptions = {{ temperature = 0.5 }}\n"
        )
    };
    let sent = |family: &str| {
        let mut session = turnkeep_model::Session::default();
        let blocks = vec![turnkeep_model::Block::text(turnkeep_model::Author::User, "Why?")];
        session.turns.push(turnkeep_model::Turn { blocks, ..turnkeep_model::Turn::default() });
        let endpoints = read(&text(family)).unwrap();
        let endpoint = endpoints.find("a").unwrap();
        let model = endpoint.model(Arc::new(vendor("openai.chat", "turnkeep_script: 1\nanswers: [hello]\n"))).unwrap();
        let options = &endpoint.options;
        let request = turnkeep_runtime::port::Request { session: &session, options, tools: &[], turn: 0 };
        model.prepare(&request).body.to_text()
    };
    assert!(!sent("").contains("temperature"));
    assert!(sent("family = \"gpt-4o\"").contains("\"temperature\":0.5"));
    assert!(!sent("family = \"gpt-5\"").contains("temperature"));
}

#[test]
fn the_projects_fields_win_one_by_one() {
    let user = source(Level::User, ALL);
    let project = source(Level::Project, "[endpoint.CLAUDE]\nmodel = \"claude-opus\"\noptions = { temperature = 1 }\n");
    let endpoints = Endpoints::read(&[user, project]).unwrap();
    let claude = endpoints.find("claude").unwrap();

    assert_eq!((claude.model.as_str(), claude.account.as_deref()), ("claude-opus", Some("work")));
    let of = |number: &Option<turnkeep_model::Number>| number.as_ref().map(ToString::to_string);
    assert_eq!(
        (of(&claude.options.temperature), of(&claude.options.max_tokens)),
        (Some("1".into()), Some("1000".into()))
    );
    assert_eq!(endpoints.all().len(), 2);
}

#[test]
fn an_endpoint_is_found_by_name_id_and_category() {
    let endpoints = read(ALL).unwrap();
    let found = |reference: &str| endpoints.find(reference).map(|endpoint| endpoint.name.clone());

    for reference in ["Claude", "CLAUDE", " claude ", "id:7", "default:chat", "default:EXCEPTION", "DEFAULT:chat"] {
        assert_eq!(found(reference).unwrap(), "Claude", "{reference}");
    }
}

#[test]
fn what_is_not_found_is_told_in_three_ways() {
    let endpoints = read(ALL).unwrap();
    let told = |reference: &str| {
        let error = endpoints.find(reference).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        (error.to_string(), error.remedy().unwrap_or_default().to_owned())
    };
    let pair = |what: &str, hint: &str| (what.to_owned(), hint.to_owned());

    assert_eq!(told("cluade"), pair("there is no endpoint `cluade`", "did you mean `Claude`?"));
    assert_eq!(told("gpt"), pair("there is no endpoint `gpt`", "there are Claude, local"));
    assert_eq!(told("id:8"), pair("no endpoint has the id `8`", "there are 7"));
    assert_eq!(
        told("default:exeption"),
        pair("no endpoint is the default for `exeption`", "did you mean `exception`?")
    );
    assert_eq!(told("default:").0, "the category of a default cannot be empty");
    assert_eq!(told("").0, "the name of an endpoint cannot be empty");
    assert_eq!(Reference::parse("id:7").unwrap(), Reference::Id("7".into()));
}

#[test]
fn a_projects_default_comes_before_the_users() {
    let user = source(Level::User, ALL);
    let project =
        source(Level::Project, "[endpoint.mine]\nprovider = \"ollama\"\nmodel = \"m\"\ncategories = [\"chat\"]\n");
    let endpoints = Endpoints::read(&[user, project]).unwrap();

    assert_eq!(endpoints.find("default:chat").unwrap().name, "mine");
}

/// What is wrong with a configuration, and what helps.
fn wrong(text: &str) -> (String, String) {
    let error = read(text).unwrap_err();
    (error.to_string().replace("/home/u/.config/turnkeep/", ""), error.remedy().unwrap_or_default().to_owned())
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_what_was_meant() {
    let pair = |what: &str, hint: &str| (what.to_owned(), hint.to_owned());
    let head = "[endpoint.a]\nprovider = \"openai\"\nmodel = \"m\"\n";

    assert_eq!(
        wrong(&format!("{head}base_ulr = \"x\"\n")),
        pair("turnkeep.toml:4:1: endpoint.a: `base_ulr` is not known here", "did you mean `base_url`?")
    );
    assert_eq!(
        wrong(&format!("{head}[endpoint.a.options]\ntemprature = 1\n")),
        pair("turnkeep.toml:5:1: endpoint.a.options: `temprature` is not known here", "did you mean `temperature`?")
    );
    assert_eq!(
        wrong("[endpiont.a]\nmodel = \"m\"\n"),
        pair("turnkeep.toml:1:2: `endpiont` is not known here", "did you mean `endpoint`?")
    );
    assert_eq!(
        wrong("[endpoint.a]\nprovider = \"opnai\"\nmodel = \"m\"\n"),
        pair("turnkeep.toml:1: endpoint.a: there is no provider `opnai`", "did you mean `openai`?")
    );
    assert_eq!(wrong(&format!("{head}model = 3\n")).0, "turnkeep.toml:4:1: duplicate key");
    assert_eq!(wrong("[endpoint.a]\nmodel = 3\n").0, "turnkeep.toml:2:1: endpoint.a.model: expected a text");
    assert_eq!(wrong("[endpoint.a]\nprovider = \"openai\"\n").0, "turnkeep.toml:1: endpoint.a: it has no `model`");
    assert_eq!(
        wrong("[endpoint.a]\nprovider = \"azure\"\nmodel = \"m\"\n").0,
        "turnkeep.toml:1: endpoint.a: it has no `base_url`"
    );
    assert_eq!(
        wrong(&format!("{head}fallback = [\"b\"]\n")).0,
        "turnkeep.toml:1: endpoint.a: its `fallback`: there is no endpoint `b`"
    );
    assert_eq!(
        wrong(&format!("{head}[endpoint.A]\n")).0,
        "turnkeep.toml:4:11: endpoint.A: it is called as `a` of line 1 is"
    );
    assert_eq!(
        wrong(&format!("{head}prices = {{ input = -1 }}\n")).0,
        "turnkeep.toml:4:12: endpoint.a.prices.input: expected a decimal number that is not negative"
    );
}

#[test]
fn a_project_may_not_run_commands() {
    let text = "[endpoint.a]\nprovider = \"openai\"\nmodel = \"m\"\nkey = { command = [\"rm\", \"-r\"] }\n";

    let error = Endpoints::read(&[source(Level::Project, text)]).unwrap_err();

    assert_eq!(error.what(), "a project's file may not run a command for a key");
}

#[test]
fn a_region_gives_the_address_of_bedrock() {
    let text = "[endpoint.b]\nprovider = \"bedrock\"\nmodel = \"m\"\nregion = \"eu-west-1\"\n";

    let endpoints = read(text).unwrap();

    assert_eq!(endpoints.all()[0].base_url, "https://bedrock-runtime.eu-west-1.amazonaws.com");
}

fn open(endpoints: &Endpoints) -> turnkeep_model::Result<Vec<Arc<WireModel>>> {
    endpoints.open("a", &|_| Ok(Arc::new(vendor("ollama.chat", "turnkeep_script: 1\nanswers: [hello]\n"))))
}

#[test]
fn a_key_that_is_not_there_is_told_when_the_model_is_opened() {
    let text = "[endpoint.a]\nprovider = \"openai\"\nmodel = \"m\"\nkey = { env = \"TURNKEEP_NO_SUCH_KEY\" }\n";
    let endpoints = read(text).unwrap();

    let error = open(&endpoints).unwrap_err();

    assert_eq!(error.to_string(), "the variable TURNKEEP_NO_SUCH_KEY is not set");
}

#[test]
fn a_model_comes_with_those_it_falls_back_to() {
    let text = "[endpoint.a]\nprovider = \"ollama\"\nmodel = \"m\"\nfallback = [\"id:2\"]\n[endpoint.b]\nid = \"2\"\nprovider = \"vllm\"\nmodel = \"n\"\n";

    let models = open(&read(text).unwrap()).unwrap();

    let names: Vec<&str> = models.iter().map(|model| model.name()).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn the_example_of_the_documentation_is_read() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/endpoints.md")).unwrap();
    let blocks = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());

    let mut read_some = false;
    for text in blocks {
        read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        read_some = true;
    }
    assert!(read_some);
}
