//! Webhooks.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pollster::block_on;
use turnkeep_broadcast::{WebhookRetry, WebhookTarget, Webhooks, webhook_signature};
use turnkeep_model::{ErrorKind, Json};
use turnkeep_provider::{HttpRequest, Secret};
use turnkeep_runtime::envelope::Channel;
use turnkeep_runtime::port::Broadcaster;
use turnkeep_testkit::laws::broadcast::{Audience, Line, check_broadcaster};

use crate::kit::{Peer, StoppedClock, body, envelope, header};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn target(name: &str) -> WebhookTarget {
    WebhookTarget { name: name.into(), url: format!("https://{name}.example/hook"), secrets: vec![Secret::new(SECRET)] }
}

fn webhooks(peer: &Arc<Peer>, folder: &Path, clock: &Arc<StoppedClock>) -> Webhooks {
    let retry = WebhookRetry { times: 2, wait: Duration::from_secs(1) };
    Webhooks::new(vec![target("a"), target("b")], peer.clone(), folder)
        .unwrap()
        .with_retry(retry)
        .with_clock(clock.clone())
}

fn channel() -> Channel {
    Channel::public(&"s/1".into())
}

fn is_of(request: &HttpRequest, name: &str) -> bool {
    request.url == format!("https://{name}.example/hook")
}

#[test]
fn the_signature_is_that_of_the_standards_example() {
    let body = br#"{"test": 2432232314}"#;

    assert_eq!(
        webhook_signature(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body).unwrap(),
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    );
    assert_eq!(webhook_signature("whsec_not base64", "i", 0, body), None);
}

#[test]
fn every_target_gets_every_envelope_signed_under_an_id_of_its_own() {
    let (peer, folder) = (Arc::new(Peer::new(|_| Some(204))), tempfile::tempdir().unwrap());
    let hooks = webhooks(&peer, folder.path(), &Arc::default());
    block_on(hooks.publish(&channel(), &[envelope(1, "x"), envelope(2, "y")])).unwrap();
    block_on(hooks.publish(&channel(), &[envelope(1, "x")])).unwrap();

    let got: Vec<HttpRequest> = peer.taken().into_iter().filter(|request| is_of(request, "a")).collect();
    assert_eq!(
        got.iter().map(body).collect::<Vec<_>>(),
        [1, 2, 1].map(|seq| envelope(seq, if seq == 1 { "x" } else { "y" }).to_json())
    );
    let ids: Vec<String> = got.iter().map(|request| header(request, "webhook-id")).collect();
    assert!(ids[0] == ids[2] && ids[0] != ids[1], "{ids:?}");
    for request in &got {
        let time: i64 = header(request, "webhook-timestamp").parse().unwrap();
        let right = webhook_signature(SECRET, &header(request, "webhook-id"), time, &request.body).unwrap();
        assert_eq!(header(request, "webhook-signature"), right);
        assert_eq!(header(request, "content-type"), "application/json");
    }
    assert!(hooks.dead_letters().unwrap().is_empty());
}

#[test]
fn two_secrets_are_two_signatures_while_one_is_replaced() {
    let (peer, folder) = (Arc::new(Peer::new(|_| Some(200))), tempfile::tempdir().unwrap());
    let both = WebhookTarget { secrets: vec![Secret::new(SECRET), Secret::new("whsec_bmV3")], ..target("a") };
    let hooks = Webhooks::new(vec![both], peer.clone(), folder.path()).unwrap();
    block_on(hooks.publish(&channel(), &[envelope(1, "x")])).unwrap();

    assert_eq!(header(&peer.taken()[0], "webhook-signature").split(' ').count(), 2);
}

#[test]
fn a_target_that_does_not_answer_is_tried_again_then_its_messages_are_kept_and_can_be_delivered() {
    let is_back = Arc::new(Mutex::new(false));
    let back = is_back.clone();
    let peer = Arc::new(Peer::new(move |request| match is_of(request, "b") && !*back.lock().unwrap() {
        true => None,
        false => Some(200),
    }));
    let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::<StoppedClock>::default());
    let hooks = webhooks(&peer, folder.path(), &clock);

    let error = block_on(hooks.publish(&channel(), &[envelope(1, "x")])).unwrap_err();

    assert_ne!(error.kind(), ErrorKind::Unavailable, "a relay would try again what is kept");
    assert_eq!(*clock.0.lock().unwrap(), [Duration::from_secs(1), Duration::from_secs(2)]);
    let letters = hooks.dead_letters().unwrap();
    assert_eq!((letters.len(), letters[0].target.as_str(), letters[0].attempts), (1, "b", 3));
    assert_eq!(letters[0].body, envelope(1, "x").to_json().to_text());
    assert_eq!(block_on(hooks.redeliver()).unwrap(), 0);
    *is_back.lock().unwrap() = true;
    assert_eq!(block_on(hooks.redeliver()).unwrap(), 1);
    assert!(hooks.dead_letters().unwrap().is_empty());
    let last = peer.taken().pop().unwrap();
    assert_eq!((is_of(&last, "b"), header(&last, "webhook-id")), (true, letters[0].id.clone()));
}

#[test]
fn a_target_that_refuses_is_not_asked_again() {
    let (peer, folder) = (Arc::new(Peer::new(|_| Some(410))), tempfile::tempdir().unwrap());
    let hooks = webhooks(&peer, folder.path(), &Arc::default());
    block_on(hooks.publish(&channel(), &[envelope(1, "x")])).unwrap_err();

    assert_eq!(peer.taken().len(), 2);
    assert!(hooks.dead_letters().unwrap().iter().all(|letter| letter.attempts == 1));
}

#[test]
fn targets_that_cannot_be_used_are_refused_by_name() {
    let wrong = [
        WebhookTarget { name: "../x".into(), ..target("a") },
        WebhookTarget { name: String::new(), ..target("a") },
        WebhookTarget { url: "file:///etc/passwd".into(), ..target("a") },
        WebhookTarget { secrets: vec![], ..target("a") },
        WebhookTarget { secrets: vec![Secret::new("whsec_")], ..target("a") },
    ];
    for target in wrong {
        let name = target.name.clone();
        let error = Webhooks::new(vec![target], Arc::new(Peer::new(|_| None)), "x").err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains(&format!("`{name}`")) && error.remedy().is_some(), "{error}");
    }
}

struct Receiver {
    peer: Arc<Peer>,
    line: Arc<Mutex<Line>>,
    folder: tempfile::TempDir,
}

impl Receiver {
    fn new() -> Receiver {
        let line = Arc::new(Mutex::new(Line::Up));
        let own = line.clone();
        let peer = Peer::new(move |_| Some(if *own.lock().unwrap() == Line::Up { 200 } else { 500 }));
        Receiver { peer: Arc::new(peer), line, folder: tempfile::tempdir().unwrap() }
    }
}

impl Audience for Receiver {
    fn broadcaster(&self) -> Arc<dyn Broadcaster> {
        let hooks = Webhooks::new(vec![target("a")], self.peer.clone(), self.folder.path()).unwrap();
        Arc::new(hooks.with_clock(Arc::new(StoppedClock::default())))
    }

    fn heard(&self, channel: &Channel) -> Vec<Json> {
        let session = channel.session().unwrap();
        let all = self.peer.taken().iter().map(body).collect::<Vec<Json>>();
        all.into_iter()
            .filter(|json| json.as_object().unwrap().get_str("session_id").unwrap() == session.as_str())
            .collect()
    }

    fn set(&self, line: Line) {
        *self.line.lock().unwrap() = line;
        if line == Line::Up {
            // What was refused did not arrive.
            self.peer.got.lock().unwrap().clear();
        }
    }
}

#[test]
fn webhooks_keep_the_laws() {
    let audience: Arc<dyn Audience> = Arc::new(Receiver::new());

    check_broadcaster(&audience);
}
