//! Hides what must not be told in one batch after the other, as a journal grows.

use std::borrow::Cow;

use super::{Redact, RedactTarget, Rules, tools};
use crate::error::Result;
use crate::journal::{Batch, Journal};
use crate::json::{Json, Object, TreeSink};
use crate::policy::edit::Edit;
use crate::policy::encrypted;
use crate::shape::{Shape, ShapeReader};

/// Applies a [`Redact`] to the batches of one journal. Equal secrets get equal placeholders throughout.
#[derive(Debug, Clone)]
pub struct Redactor {
    hidden: Vec<RedactTarget>,
    rules: Option<Rules>,
}

/// What a piece of an answer on its way is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceOf {
    /// What the model says or thinks.
    Text,
    /// The arguments of a call.
    Arguments,
    /// The name of a tool.
    Name,
}

impl Redact {
    /// A journal without what is hidden: it tells the same story, of a session that is redacted at every record.
    ///
    /// # Errors
    /// Where a record cannot be redacted.
    pub fn journal(&self, journal: &Journal) -> Result<Journal> {
        let mut redactor = self.redactor();
        let batches =
            journal.batches.iter().map(|batch| redactor.batch(batch).map(Cow::into_owned)).collect::<Result<_>>()?;
        Ok(Journal { session: journal.session.clone(), batches, extra: journal.extra.clone() })
    }

    /// What applies this to a journal as it grows.
    pub fn redactor(&self) -> Redactor {
        Redactor { hidden: self.hidden.clone(), rules: self.rules() }
    }

    /// Whether texts are looked into. What is split over two of them is not found: whoever streams holds them until they are
    /// whole.
    pub fn looks_into_texts(&self) -> bool {
        self.rules().is_some()
    }
}

impl Redactor {
    /// A batch without what must not be told.
    ///
    /// # Errors
    /// `Corrupt` where what is left is no batch; nothing of it may be told then.
    pub fn batch<'a>(&mut self, batch: &'a Batch) -> Result<Cow<'a, Batch>> {
        if self.hidden.is_empty() && self.rules.is_none() {
            return Ok(Cow::Borrowed(batch));
        }
        let mut sink = TreeSink::default();
        batch.write(&mut sink);
        let mut tree = sink.into_json();
        self.tree(&mut tree);
        Batch::read(tree.to_node(), &mut ShapeReader::default()).map(Cow::Owned)
    }

    /// A text without secrets.
    pub fn text(&mut self, text: &str) -> String {
        let mut tree = Json::from(text);
        if let Some(rules) = &mut self.rules {
            rules.tree(&mut tree);
        }
        tree.as_str().map(Cow::into_owned).unwrap_or_default()
    }

    /// Whether this is hidden wherever it stands.
    pub fn hides(&self, hidden: RedactTarget) -> bool {
        self.hidden.contains(&hidden)
    }

    /// Whether a piece of an answer may be told before the answer is whole.
    pub fn lets_pass(&self, piece: PieceOf) -> bool {
        match piece {
            PieceOf::Text => self.rules.is_none(),
            PieceOf::Arguments => self.rules.is_none() && !self.hidden.contains(&RedactTarget::ToolArgs),
            PieceOf::Name => true,
        }
    }

    fn tree(&mut self, tree: &mut Json) {
        for hidden in &self.hidden {
            match hidden {
                RedactTarget::EncryptedContent => encrypted::hide_everywhere(tree),
                RedactTarget::ToolArgs => {
                    hide_edited(tree);
                    tools::Arguments.tree(tree);
                }
                RedactTarget::ToolResults => tools::Results.tree(tree),
                // The rules look for them.
                RedactTarget::Secrets => {}
            }
        }
        if let Some(rules) = &mut self.rules {
            rules.tree(tree);
        }
    }
}

/// Arguments that a person wrote in the place of a call's stand in no call.
fn hide_edited(tree: &mut Json) {
    let Json::Object(batch) = tree else { return };
    for (key, events) in batch.iter_mut() {
        if let Json::Array(events) = events
            && key.is("events")
        {
            events.iter_mut().for_each(hide_edited_in);
        }
    }
}

fn hide_edited_in(event: &mut Json) {
    if let Json::Object(event) = event
        && event.get_str("type").is_some_and(|kind| kind == "approval.given")
        && event.contains("arguments")
    {
        event.set("arguments", Json::Object(Object::new()).to_text());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ApprovalGiven, BlockAdded, Verdict};
    use crate::{Author, Block, CallId, Entry, Event, Seq, ToolCall};

    fn batch(events: Vec<Event>) -> Batch {
        Batch::new(Seq(1), events.into_iter().map(Entry::from).collect())
    }

    fn said(text: &str) -> Batch {
        batch(vec![BlockAdded { turn: 0, block: Block::text(Author::Assistant, text) }.into()])
    }

    #[test]
    fn equal_secrets_of_two_batches_have_one_placeholder() {
        let mut redactor = Redact::new([RedactTarget::Secrets]).redactor();

        let first = redactor.batch(&said("ada@example.com")).unwrap().into_owned();
        let other = redactor.batch(&said("bob@example.com, ada@example.com")).unwrap().into_owned();

        assert_eq!(first, said("[email-1]"));
        assert_eq!(other, said("[email-2], [email-1]"));
    }

    #[test]
    fn arguments_are_hidden_where_a_model_or_a_person_wrote_them() {
        let call = |arguments: &str| {
            let call = ToolCall { call: CallId::given("c"), name: "act".into(), arguments: arguments.into() };
            let given = ApprovalGiven {
                call: CallId::given("c"),
                digest: "d".into(),
                verdict: Verdict::Edit,
                arguments: Some(arguments.into()),
                by: None,
                reason: None,
                key: None,
            };
            batch(vec![BlockAdded { turn: 0, block: Block::new(Author::Assistant, call) }.into(), given.into()])
        };
        let mut redactor = Redact::new([RedactTarget::ToolArgs]).redactor();

        assert_eq!(*redactor.batch(&call(r#"{"q":"x"}"#)).unwrap(), call("{}"));
    }

    #[test]
    fn what_hides_nothing_changes_nothing() {
        let mut redactor = Redact::default().redactor();

        assert_eq!(*redactor.batch(&said("ada@example.com")).unwrap(), said("ada@example.com"));
        assert!(redactor.lets_pass(PieceOf::Text) && redactor.lets_pass(PieceOf::Arguments));
    }
}
