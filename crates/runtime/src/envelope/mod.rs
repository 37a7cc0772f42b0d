//! What is sent to a screen: a pure function of records, and of the pieces of an answer with their times.

mod agent;
mod calls;
mod channel;
mod chunks;
mod coalesce;
mod event;
mod instructor;
mod native;
mod old_names;
mod options;
mod outline;
mod projection;
mod released;
mod specified;
mod summary;
mod writer;

use turnkeep_model::{Json, Object, RunId, Seq, SessionId, Time};

pub use agent::AgentEnvelopes;
pub use channel::{Channel, ChannelKind};
pub use coalesce::{Coalescer, Piece};
pub use instructor::InstructorEvents;
pub use native::{NativeEnvelopes, native};
pub use options::{Detail, Dialect, EnvelopeOptions, OldNames};
pub use projection::Projection;
pub(crate) use summary::result_text;
pub use summary::{of_arguments as summary_of_arguments, of_result as summary_of_result};

/// The name that a release of the original program gives to every event.
const RELEASED_EVENT: &str = "instructor.agent.event";

/// One message on a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// What happened.
    pub kind: String,
    /// To which session.
    pub session: SessionId,
    /// In which run.
    pub execution: Option<RunId>,
    /// When.
    pub time: Option<Time>,
    /// The record it comes from; pieces of an answer have none.
    pub seq: Option<Seq>,
    /// The details.
    pub payload: Object,
    /// In whose words it is written.
    pub dialect: Dialect,
}

impl Envelope {
    /// The channel it is sent on, as the specification has it: everybody may hear.
    pub fn channel(&self) -> Channel {
        Channel::public(&self.session)
    }

    /// The name under which a front end listens for it.
    pub fn event_name(&self) -> &str {
        match self.dialect {
            Dialect::Native | Dialect::Specified => &self.kind,
            Dialect::Released => RELEASED_EVENT,
        }
    }

    /// The envelope as JSON, its keys in the order of the specification. The released dialect knows no `seq`.
    pub fn to_json(&self) -> Json {
        let mut object = Object::new();
        object.set("type", self.kind.as_str());
        object.set("session_id", self.session.as_str());
        object.set("execution_id", self.execution.as_ref().map_or(Json::Null, |run| run.as_str().into()));
        object.set("timestamp", self.time.as_ref().map_or(Json::Null, |time| utc(time).into()));
        if let Some(seq) = self.seq.filter(|_| self.dialect != Dialect::Released) {
            object.set("seq", seq.0);
        }
        object.set("payload", Json::Object(self.payload.clone()));
        Json::Object(object)
    }
}

/// The moment in UTC with milliseconds; a text that names none stays as it is.
fn utc(time: &Time) -> String {
    time.instant().map_or_else(|| time.as_str().to_owned(), |at| Time::from_instant(at).as_str().to_owned())
}
