//! A server on a port of its own, and those who use it.

use std::path::Path;
use std::sync::Arc;

use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::{Notify, oneshot};
use turnkeep_server::auth::{NewToken, Scope, Tokens};
use turnkeep_server::config::Config;
use turnkeep_server::{Control, Log, Reach, Server, TenantName, control_url, open_private};

/// A server, and the folder of its stores.
pub(crate) struct Stage {
    pub(crate) base: String,
    pub(crate) config: Config,
    tokens: Tokens,
    stop: Arc<Notify>,
    serving: Option<tokio::task::JoinHandle<()>>,
    _folder: Arc<TempDir>,
}

impl Stage {
    pub(crate) async fn new() -> Stage {
        Stage::with(|_| {}).await
    }

    /// A server whose configuration is changed before it starts.
    pub(crate) async fn with(change: impl FnOnce(&mut Config)) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config { store: usual_store(folder.path()), ..Config::default() };
        change(&mut config);
        Stage::over(Arc::new(folder), config).await
    }

    async fn over(folder: Arc<TempDir>, config: Config) -> Stage {
        let store = open_private(&control_url(&config.store).unwrap()).unwrap();
        let tokens = Tokens::new(Control::new(store));
        let server = Server::open(config.clone(), Reach::Loopback, Log::default()).await.unwrap();
        let (tell, started) = oneshot::channel();
        let stop = Arc::new(Notify::new());
        let stopped = stop.clone();
        let serving = tokio::spawn(async move {
            let addr = "127.0.0.1:0".parse().unwrap();
            server.serve(addr, |addr| tell.send(addr).unwrap(), stopped.notified()).await.unwrap();
        });
        let base = format!("http://{}", started.await.unwrap());
        Stage { base, config, tokens, stop, serving: Some(serving), _folder: folder }
    }

    /// The same stores behind another server, after this one has drained.
    pub(crate) async fn restarted(mut self) -> Stage {
        self.stop.notify_one();
        self.serving.take().unwrap().await.unwrap();
        Stage::over(self._folder.clone(), self.config.clone()).await
    }

    /// The text of a new token.
    pub(crate) async fn token(&self, scope: Scope, tenant: &str) -> String {
        let tenant = TenantName::new(tenant).unwrap();
        let new = NewToken { name: Some(format!("{scope}-{tenant}")), scope, tenant, expires: None };
        self.tokens.create(new).await.unwrap().1
    }

    pub(crate) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Someone without a token.
    pub(crate) fn anyone(&self) -> Client {
        Client::at(&self.base)
    }

    /// Someone with a token of this scope.
    pub(crate) async fn client(&self, scope: Scope, tenant: &str) -> Client {
        Client { token: Some(self.token(scope, tenant).await), ..self.anyone() }
    }
}

/// A store of the kind that is built in.
pub(crate) fn usual_store(folder: &Path) -> String {
    let path = folder.display();
    if cfg!(feature = "sqlite") {
        format!("sqlite:{path}/sessions.db?durability=process")
    } else {
        format!("file:{path}/sessions?durability=process")
    }
}

/// A client without any certificates: everything here is on the loopback interface.
fn http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// Someone who uses the server.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("{} is not JSON", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The word of a problem.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), "application/problem+json", "{self:?}");
        self.json()["type"].as_str().unwrap().rsplit(':').next().unwrap().to_owned()
    }

    /// The same answer, which must have this status.
    pub(crate) fn must(self, status: u16) -> Answer {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self
    }
}

impl Client {
    /// Someone without a token, at this address.
    pub(crate) fn at(base: &str) -> Client {
        Client { http: http(), base: base.to_owned(), token: None }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        send(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send_json(Method::POST, path, body, &[]).await
    }

    pub(crate) async fn send_json(&self, method: Method, path: &str, body: Value, headers: &[(&str, &str)]) -> Answer {
        let request = self.request(method, path).header("content-type", "application/json").body(body.to_string());
        send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        send(self.request(Method::DELETE, path)).await
    }

    /// Appends events after a record.
    pub(crate) async fn append(&self, id: &str, after: u64, events: Value) -> Answer {
        let body = serde_json::json!({ "events": events });
        let path = format!("/v1/sessions/{id}/records");
        self.send_json(Method::POST, &path, body, &[("if-match", &format!("\"{after}\""))]).await
    }
}

pub(crate) async fn send(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    Answer { status, headers, text: response.text().await.unwrap() }
}

/// A log line as an event: the smallest there is.
pub(crate) fn line(text: &str) -> Value {
    serde_json::json!({ "type": "log.added", "line": text })
}
