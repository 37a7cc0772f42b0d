//! Lines of JSON.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use pollster::block_on;
use turnkeep_broadcast::Ndjson;
use turnkeep_model::Json;
use turnkeep_runtime::envelope::Channel;
use turnkeep_runtime::port::Broadcaster;
use turnkeep_testkit::laws::broadcast::{Audience, Line, check_broadcaster};

use crate::kit::{envelope, json};

#[test]
fn an_envelope_is_a_line_with_its_channel_and_event() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.ndjson");
    for seq in 1..3 {
        let lines = Ndjson::append_to(&path).unwrap();
        block_on(lines.publish(&Channel::private(&"s/1".into()), &[envelope(seq, "a\nb")])).unwrap();
    }

    let line = |seq: u64| {
        format!(
            r#"{{"channel":"private-agent.s=2F1","event":"log.added","envelope":{{"type":"log.added","session_id":"s/1","execution_id":null,"timestamp":"2026-01-16T10:05:00.123Z","seq":{seq},"payload":{{"line":"a\nb"}}}}}}"#
        )
    };
    assert_eq!(std::fs::read_to_string(path).unwrap(), format!("{}\n{}\n", line(1), line(2)));
}

/// A file whose disk may be full.
#[derive(Clone)]
struct Disk(Arc<Mutex<(Vec<u8>, Line)>>);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (written, line) = &mut *self.0.lock().unwrap();
        match line {
            Line::Up => written.write(bytes),
            Line::Down => Err(io::Error::new(io::ErrorKind::StorageFull, "no space")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Lines(Disk, Arc<Ndjson<Disk>>);

impl Audience for Lines {
    fn broadcaster(&self) -> Arc<dyn Broadcaster> {
        self.1.clone()
    }

    fn heard(&self, channel: &Channel) -> Vec<Json> {
        let text = String::from_utf8(self.0.0.lock().unwrap().0.clone()).unwrap();
        let lines = text
            .lines()
            .map(json)
            .filter(|line| line.as_object().unwrap().get_str("channel").unwrap() == channel.as_str());
        lines.map(|line| line.as_object().unwrap().get("envelope").unwrap().clone()).collect()
    }

    fn set(&self, line: Line) {
        self.0.0.lock().unwrap().1 = line;
    }
}

#[test]
fn lines_keep_the_laws() {
    let disk = Disk(Arc::new(Mutex::new((Vec::new(), Line::Up))));
    let audience: Arc<dyn Audience> = Arc::new(Lines(disk.clone(), Arc::new(Ndjson::new(disk))));

    check_broadcaster(&audience);
}
