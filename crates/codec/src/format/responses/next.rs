//! The next request of any session: its history made valid, its settings made to fit.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, Loss, LossKind, Session};

use super::contract::LIMITS;
use super::profile::{OPENAI, Profile};
use super::{FORMAT, answer, fit, message, repair, request};
use crate::codec::EncodeOptions;
use crate::models::{self, Target};
use crate::wire;
use crate::wire::repair::{History, IdRule};

/// The longest name of a tool.
const LONGEST_NAME: usize = LIMITS.tool_name;

/// Whom a request is for.
pub(super) struct RequestTarget {
    /// The model.
    pub(super) model: String,
    /// What is known of it.
    pub(super) target: Target,
    /// Who runs it.
    pub(super) provider: String,
    /// What is particular about them.
    pub(super) profile: &'static Profile,
    /// Whether the session came from this wire and goes back to the vendor it came from.
    pub(super) is_home: bool,
    /// Whether it goes back to the model it came from.
    pub(super) is_same_model: bool,
    /// Whether the vendor keeps the items of its answers.
    pub(super) keeps_items: bool,
    /// Whether the vendor keeps items that this request refers to.
    pub(super) server_holds_items: bool,
    /// The account it is sent from, where known.
    pub(super) account: Option<String>,
}

/// Fields of a request that refer to what the vendor keeps.
const REFERRING: &[&str] = &["previous_response_id", "conversation", "prompt"];

/// Whether what is left of a request refers to what the vendor keeps.
pub(super) fn refers(fields: &Object) -> bool {
    REFERRING.iter().any(|key| fields.get(key).is_some_and(|value| *value != Json::Null))
}

/// The next request, and what is known of what it loses.
pub(super) fn request(session: &mut Session, options: &EncodeOptions) -> (Json, Vec<Loss>) {
    let (aim, mut losses) = aim(session, options);
    let mut head = session.head();
    losses.extend(fit::settings(&mut head, &aim));
    let (blocks, more) = history(session, &aim);
    losses.extend(more);
    let blocks: Vec<&Block> = blocks.iter().collect();
    let mut body = request::write(&head, &blocks, Some(aim.model));
    // An answer without its request asks nothing; a reader still has to see what this is.
    if let (Json::Object(body), false) = (&mut body, aim.server_holds_items)
        && !body.contains("input")
    {
        body.push("input", Vec::new());
    }
    (body, losses)
}

fn aim(session: &Session, options: &EncodeOptions) -> (RequestTarget, Vec<Loss>) {
    let own = session.extra.part(FORMAT).is_some() || session.turns.iter().any(answer::is_from_response);
    let named = options.variant.as_deref().and_then(Profile::by_name);
    let serves = |model: &String| named.is_none_or(|profile| profile.may_serve(model));
    // A variant is a vendor to write for: it never replaces the model that the source names.
    let asked = || request::model(session).filter(|_| own);
    let last = || last_model(session).filter(|model| own || serves(model));
    let said = options.model.clone().or_else(asked).or_else(last);
    let any_model = named.map_or(OPENAI.model, |profile| profile.model);
    let losses = if said.is_some() { Vec::new() } else { made_up(session, any_model) };
    let model = said.unwrap_or_else(|| any_model.to_owned());
    let answered = session.turns.iter().rev().find(|turn| turn.api.as_deref() == Some(FORMAT));
    let answered = answered.and_then(|turn| turn.provider.clone());
    let by_name = || of_model(&model);
    let home = wire::origin(session, FORMAT).or(answered);
    let home = home.unwrap_or_else(|| request::model(session).map_or_else(by_name, |model| of_model(&model)));
    let wanted = named.map(|profile| profile.name.to_owned());
    let provider = wanted.unwrap_or_else(|| if options.model.is_none() { home.clone() } else { by_name() });
    let profile = Profile::by_name(&provider).unwrap_or(&OPENAI);
    let is_home = own && provider == home;
    let is_same_model = own && options.model.is_none() && (named.is_none() || is_home);
    let fields = session.extra.fields(FORMAT);
    let is_reference = |block: &Block| matches!(&block.body, Body::Other { kind, .. } if kind == "item_reference");
    let server_holds_items = is_home
        && profile.keeps_items
        && (fields.is_some_and(refers) || session.blocks().any(|(_, block)| is_reference(block)));
    let is_stored = fields.and_then(|fields| fields.get("store")).and_then(Json::as_bool) != Some(false);
    let keeps_items = profile.keeps_items && is_stored;
    let account = options.account.clone();
    let target = models::asked(FORMAT, Some(profile.name), &model, options);
    (
        RequestTarget {
            model,
            target,
            provider,
            profile,
            is_home,
            is_same_model,
            keeps_items,
            server_holds_items,
            account,
        },
        losses,
    )
}

fn of_model(model: &str) -> String {
    Profile::of_model(model).unwrap_or(&OPENAI).name.to_owned()
}

/// The last model of the session that speaks this wire.
fn last_model(session: &Session) -> Option<String> {
    let models = session.turns.iter().rev().filter_map(|turn| turn.model.as_deref());
    let asked = session.extra.parts().filter_map(|(_, part)| part.fields.get("model")?.as_str());
    let asked: Vec<_> = asked.collect();
    let mut all = models.chain(asked.iter().map(AsRef::as_ref));
    all.find(|model| Profile::of_model(model).is_some()).map(str::to_owned)
}

/// A model that nothing names has to be made up; a reader finds it in the turn that waits, or in what is left over.
fn made_up(session: &Session, model: &str) -> Vec<Loss> {
    let what = format!("nothing says which model to ask; `{model}` is named");
    let last = session.turns.len().saturating_sub(1);
    let places = [format!("turns[{last}].model"), "extra".to_owned(), format!("extra.{FORMAT}")];
    places.into_iter().map(|at| Loss::encode(LossKind::Synthesised, at, what.clone())).collect()
}

fn history(session: &mut Session, aim: &RequestTarget) -> (Vec<Block>, Vec<Loss>) {
    let ordinals = repair::ordinals(session);
    let mut history = History::take(session);
    repair::authors(&mut history);
    repair::bodies(&mut history, aim);
    history.describe_media(
        |media, block| block.author == Author::User && fit::takes(media, aim),
        |media| fit::takes(media, aim),
    );
    repair::name_files(&mut history);
    if !aim.is_home {
        repair::detail_images(&mut history);
    }
    repair::results(&mut history);
    repair::answers_together(&mut history);
    if aim.profile.calls_stand_together {
        repair::calls_last(&mut history);
    }
    history.limit_reasoning(session, |reasoning, turn| repair::sends(reasoning, turn, aim));
    let is_body = session.extra.spelling(FORMAT, "kind").is_some();
    if !is_body {
        repair::nameless_thinking(&mut history);
    }
    history.remove_empty_text(|text, _| text.is_empty());
    if aim.server_holds_items {
        repair::close_calls(&mut history);
    } else {
        history.pair_calls();
    }
    history.rename_calls(&IdRule { longest: aim.profile.longest_call_id, ..LIMITS.call_ids });
    history.rename_tools(LONGEST_NAME);
    repair::item_ids(&mut history, session, aim);
    repair::followers(&mut history, aim);
    repair::ids_without_reasoning(&mut history, session, aim);
    repair::followers(&mut history, aim);
    if !is_body {
        // Thinking may have lost its id since, and what it led to must not name it then.
        repair::nameless_thinking(&mut history);
        repair::ids_without_reasoning(&mut history, session, aim);
    }
    repair::own_messages(&mut history, &ordinals);
    // An answer without an id is a message of one text, by the vendor's types.
    let joins = |author: &Author| aim.is_home || *author != Author::Assistant;
    history.number_messages(|a, b| {
        let one = a.message.ordinal == b.message.ordinal && a.author == b.author && joins(&a.author);
        one && message::holds(a) && message::holds(b)
    });
    history.into_blocks()
}
