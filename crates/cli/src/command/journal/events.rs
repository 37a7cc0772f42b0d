//! `turnkeep events`

use turnkeep_file::Limits;
use turnkeep_model::{Error, ErrorKind, SessionId};
use turnkeep_runtime::envelope::InstructorEvents;

use super::super::CommandResult;
use crate::envelope_args::Events;
use crate::exit::Exit;
use crate::input_args::source_of;
use crate::terminal::print_json_text;

pub(crate) fn events(args: &Events) -> CommandResult {
    let source = source_of(&args.input, &Limits { max_bytes: args.max_bytes })?;
    let not_text = || {
        Error::new(ErrorKind::NotThisFormat, "it is not a text")
            .file(source.name())
            .hint("give it a file of events in JSON")
    };
    let text = std::str::from_utf8(source.input().bytes()).map_err(|_| not_text())?;
    let session = args.session.as_deref().map(SessionId::new);
    let mut events = InstructorEvents::new(session, args.envelopes.options(Some(args.preset))?);
    for envelope in events.read(text)? {
        print_json_text(&format!("{}\n", envelope.to_json().to_text()))?;
    }
    Ok(Exit::Ok)
}
