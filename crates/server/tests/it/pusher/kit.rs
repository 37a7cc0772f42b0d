//! A server on a free port, a client that says what it likes, and requests as they are on the wire.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt;
use data_encoding::HEXLOWER;
use futures_util::{SinkExt, StreamExt};
use md5::{Digest, Md5};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use turnkeep_provider::Secret;
use turnkeep_server::pusher::feed::NoSessions;
use turnkeep_server::pusher::signature::{self, SignedRequest};
use turnkeep_server::pusher::{App, Authorizer, Hub, NoAuthorizer, Origins, Pusher, SessionFeed};

/// Nothing takes so long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// The app of the tests.
pub(crate) fn app() -> App {
    let origins = Origins::new(["https://app.example"]);
    App { origins, ..App::new("app-id", "app-key", Secret::new("app-secret"), "tenant") }
}

pub(super) fn app_with(change: impl FnOnce(&mut App)) -> App {
    let mut app = app();
    change(&mut app);
    app
}

/// A server; it ends with this value.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) hub: Arc<Hub>,
    serving: JoinHandle<()>,
}

impl Server {
    pub(super) async fn start(apps: impl IntoIterator<Item = App>) -> Server {
        Server::with(Hub::new(apps, 1000), Arc::new(NoSessions), Arc::new(NoAuthorizer), 0).await
    }

    pub(super) async fn with(
        hub: Hub,
        feed: Arc<dyn SessionFeed>,
        authorizer: Arc<dyn Authorizer>,
        port: u16,
    ) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let (address, hub) = (listener.local_addr().unwrap(), Arc::new(hub));
        let router = Pusher::new(hub.clone(), feed, authorizer).router();
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Server { address, hub, serving }
    }

    /// Closes all connections and the port.
    pub(super) async fn stop(mut self) {
        self.hub.drain(Duration::ZERO).await;
        self.serving.abort();
        // The port is free when the task has ended.
        let _ = (&mut self.serving).await;
    }

    /// A client that is connected.
    pub(super) async fn connect(&self) -> Client {
        Client::connect(&self.address.to_string(), "app-key").await
    }

    /// Opens a WebSocket at `/app/…`.
    pub(super) async fn open(&self, path: &str, origin: Option<&str>) -> Client {
        Client::open(&self.address.to_string(), path, origin).await
    }

    /// Sends a request, and reads its answer.
    pub(super) async fn request(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let head = format!(
            "{method} {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n{lines}\r\n"
        );
        // A server that has refused does not read to the end.
        let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap();
        Answer::parse(&String::from_utf8(answer).unwrap())
    }

    /// Sends a signed request of the test's app.
    pub(super) async fn signed(&self, method: &str, path: &str, parameters: &[(&str, &str)], body: &str) -> Answer {
        self.request(method, &signed(&app(), method, path, parameters, body), &[], body).await
    }

    pub(super) async fn publish(&self, event: &Value) -> Answer {
        self.signed("POST", "/apps/app-id/events", &[], &event.to_string()).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A path with the parameters of its signature.
pub(crate) fn signed(app: &App, method: &str, path: &str, parameters: &[(&str, &str)], body: &str) -> String {
    let now = jiff::Timestamp::now().as_second();
    signed_at(app, method, path, parameters, body, now)
}

pub(super) fn signed_at(
    app: &App,
    method: &str,
    path: &str,
    parameters: &[(&str, &str)],
    body: &str,
    time: i64,
) -> String {
    let mut query: Vec<(String, String)> =
        parameters.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    query.push(("auth_key".to_owned(), app.key.clone()));
    query.push(("auth_timestamp".to_owned(), time.to_string()));
    query.push(("auth_version".to_owned(), "1.0".to_owned()));
    if !body.is_empty() {
        query.push(("body_md5".to_owned(), HEXLOWER.encode(&Md5::digest(body))));
    }
    let request = SignedRequest { method, path, query: &query, body: body.as_bytes() };
    query.push(("auth_signature".to_owned(), signature::sign(app.secret.reveal(), &signature::text_to_sign(request))));
    let encoded: String = form_urlencoded::Serializer::new(String::new()).extend_pairs(&query).finish();
    format!("{path}?{encoded}")
}

/// The answer to a request.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    fn parse(text: &str) -> Answer {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

/// One end of a WebSocket.
pub(crate) struct Client {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub(crate) socket_id: String,
}

/// What a client hears.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    Frame(Value),
    Close(u16),
    /// The connection broke.
    End,
}

impl Client {
    /// Opens a WebSocket at `/app/…`.
    pub(crate) async fn open(address: &str, path: &str, origin: Option<&str>) -> Client {
        let mut request = format!("ws://{address}/app/{path}").into_client_request().unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        let (stream, _) = connect_async(request).await.unwrap();
        Client { stream, socket_id: String::new() }
    }

    /// A client of the app with this key.
    pub(crate) async fn connect(address: &str, key: &str) -> Client {
        let mut client = Client::open(address, &format!("{key}?protocol=7&client=js&version=8.6.0"), None).await;
        let established = client.next("pusher:connection_established").await;
        let data: Value = serde_json::from_str(established["data"].as_str().unwrap()).unwrap();
        client.socket_id = data["socket_id"].as_str().unwrap().to_owned();
        client
    }

    pub(crate) async fn say(&mut self, frame: &Value) {
        self.send(Message::text(frame.to_string())).await;
    }

    pub(crate) async fn send(&mut self, message: Message) {
        self.stream.send(message).await.unwrap();
    }

    pub(crate) async fn hear(&mut self) -> Heard {
        loop {
            match tokio::time::timeout(PATIENCE, self.stream.next()).await.expect("nothing was heard") {
                Some(Ok(Message::Text(text))) => return Heard::Frame(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(frame))) => return Heard::Close(frame.map_or(1005, |frame| frame.code.into())),
                Some(Ok(_)) => {}
                Some(Err(Error::ConnectionClosed)) | None => return Heard::End,
                Some(Err(_)) => return Heard::End,
            }
        }
    }

    pub(crate) async fn frame(&mut self) -> Value {
        match self.hear().await {
            Heard::Frame(frame) => frame,
            other => panic!("{other:?}"),
        }
    }

    /// The next frame, which is this event.
    pub(crate) async fn next(&mut self, event: &str) -> Value {
        let frame = self.frame().await;
        assert_eq!(frame["event"], event, "{frame}");
        frame
    }

    /// The next frame, which is an error of this code; its message comes back.
    pub(crate) async fn error(&mut self, code: u16) -> String {
        let frame = self.next("pusher:error").await;
        let data: Value = serde_json::from_str(frame["data"].as_str().unwrap()).unwrap();
        assert_eq!(data["code"], code, "{data}");
        data["message"].as_str().unwrap().to_owned()
    }

    /// An error of this code, and a close with it.
    pub(crate) async fn refused(&mut self, code: u16) {
        self.error(code).await;
        assert_eq!(self.hear().await, Heard::Close(code));
    }

    /// Listens on a channel, with a signature where it needs one.
    pub(crate) async fn subscribe(&mut self, channel: &str, user: Option<&str>) -> Value {
        let data = user.map(|user| format!(r#"{{"user_id":"{user}","user_info":{{"name":"{user}"}}}}"#));
        let auth = signature::channel_auth(&app(), &self.socket_id, channel, data.as_deref());
        let data = serde_json::json!({ "channel": channel, "auth": auth, "channel_data": data });
        self.say(&serde_json::json!({ "event": "pusher:subscribe", "data": data })).await;
        self.next("pusher_internal:subscription_succeeded").await
    }

    /// Everything that was said before this was heard, for the next answer is that to this ping.
    pub(crate) async fn until_pong(&mut self) -> Vec<Value> {
        self.say(&serde_json::json!({ "event": "pusher:ping", "data": {} })).await;
        let mut heard = Vec::new();
        loop {
            let frame = self.frame().await;
            if frame["event"] == "pusher:pong" {
                return heard;
            }
            heard.push(frame);
        }
    }
}
