//! Everything here is held to the laws of turnkeep's own.

mod store {
    use std::sync::Arc;

    use turnkeep::store::url::Keeps;
    use turnkeep_external::store::MapStore;

    turnkeep_testkit::own_store_laws!(Keeps::WhileOpen, |_, options| Arc::new(MapStore::new(options)));
}

mod codec {
    use turnkeep::codec::{DecodeOptions, EncodeOptions, Input};
    use turnkeep::{Archive, Author, Block, Session, Turn};
    use turnkeep_external::codec::ChatLog;

    turnkeep_testkit::own_codec_laws!(&ChatLog);

    #[test]
    fn what_a_chat_log_cannot_hold_is_told() {
        use turnkeep::codec::Codec;
        let said = vec![Block::text(Author::User, "Hello\nthere"), Block::text(Author::Assistant, "Hi!")];
        let turn = Turn { blocks: said, model: Some("parrot-1".to_owned()), ..Turn::default() };
        let session = Session { turns: vec![turn], ..Session::default() };

        let written = ChatLog.encode(&Archive::from(session), &EncodeOptions::default()).unwrap();
        let read = ChatLog.decode(Input::new(&written.bytes), &DecodeOptions::default()).unwrap();

        assert_eq!(written.bytes, b"#chatlog\nuser: Hello\\nthere\nassistant: Hi!\n");
        assert_eq!(written.losses.iter().map(|loss| loss.at.as_str()).collect::<Vec<_>>(), ["turns[0].model"]);
        assert_eq!(read.archive.sessions[0].blocks().count(), 2);
    }
}

mod model {
    use turnkeep_external::model::Parrot;

    turnkeep_testkit::own_model_laws!(&Parrot);
}

mod broadcaster {
    use std::io::{self, Write};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex};

    use turnkeep::Json;
    use turnkeep::runtime::envelope::Channel;
    use turnkeep::runtime::port::Broadcaster;
    use turnkeep_external::broadcaster::LineWriter;
    use turnkeep_testkit::laws::broadcast::{Audience, Line, check_broadcaster};

    /// Bytes that can be looked at, and that cannot be written while the line is down.
    #[derive(Clone, Default)]
    struct Wire(Arc<Mutex<Vec<u8>>>, Arc<AtomicBool>);

    impl Write for Wire {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.1.load(Ordering::SeqCst) {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Lines {
        wire: Wire,
        writer: Arc<LineWriter<Wire>>,
    }

    impl Audience for Lines {
        fn broadcaster(&self) -> Arc<dyn Broadcaster> {
            self.writer.clone()
        }

        fn heard(&self, channel: &Channel) -> Vec<Json> {
            let text = String::from_utf8(self.wire.0.lock().unwrap().clone()).unwrap();
            let lines = text.lines().filter_map(|line| line.split_once('\t'));
            lines.filter(|(name, _)| *name == channel.to_string()).map(|(_, json)| json.parse().unwrap()).collect()
        }

        fn set(&self, line: Line) {
            self.wire.1.store(line == Line::Down, Ordering::SeqCst);
        }
    }

    #[test]
    fn holds_the_laws_of_broadcasters() {
        let wire = Wire::default();
        let audience: Arc<dyn Audience> = Arc::new(Lines { writer: Arc::new(LineWriter::new(wire.clone())), wire });
        check_broadcaster(&audience);
    }
}

mod together {
    use std::sync::Arc;

    use turnkeep::Agent;
    use turnkeep::store::Options;
    use turnkeep_external::model::Parrot;
    use turnkeep_external::store::MapStore;

    #[test]
    fn an_agent_runs_on_a_store_and_a_model_of_ones_own() {
        let store = Arc::new(MapStore::new(Options::default()));
        let agent = Agent::builder().model(Parrot).store_in(store).build().unwrap();
        let talk = agent.open("talk").unwrap();

        let stopped = pollster::block_on(talk.ask("Hello!")).unwrap();

        assert_eq!(stopped.text.as_deref(), Some("Hello!"));
        assert_eq!(pollster::block_on(talk.resume()).unwrap().text.as_deref(), Some("Hello!"));
    }
}
