//! Turns, sessions and archives.

use proptest::prelude::*;
use proptest::{collection, sample};
use turnkeep_model::{
    Archive, Author, Block, Body, CallId, EvaluationId, Parent, PromptId, Run, RunId, Seq, Session, SessionId, Slice,
    SlicePolicy, Text, ToolCall, ToolResult, Turn, TurnId,
};

use super::block::{author, block_of, plain_block, tool_call};
use super::status::turn_error;
use super::{
    block, body, continuation, extra, fields, finish, json, line, message_key, object, often, options, plain_json,
    rare, reasoning, response_format, status, stop_reason, text, time, timing, tool_result, tool_spec, usage, word,
};

/// The blocks of one message: they share its key.
type Message = Vec<Block>;

/// A turn as it will stand in a session: ordinals and positions are not settled yet.
#[derive(Debug, Clone)]
struct Plan {
    turn: Turn,
    messages: Vec<Message>,
    /// How many of the first messages are input.
    inputs: usize,
}

/// Any turn, numbered as if it were alone in its session.
pub fn turn() -> BoxedStrategy<Turn> {
    any_plan().prop_map(|plan| assemble(vec![plan]).pop().unwrap_or_default()).boxed()
}

/// Any session.
pub fn session() -> BoxedStrategy<Session> {
    let turns = (collection::vec(any_plan(), 0..4), rare(Just(()))).prop_map(|(plans, late)| {
        let mut turns = assemble(plans);
        if late.is_some() {
            let _ = delay_a_result(&mut turns);
        }
        turns
    });
    fields!(Session {
        id: often(session_id()),
        parent: rare(parent()),
        children: collection::vec(session_id(), 0..2),
        title: rare(text()),
        agent: rare(word()),
        prompt: rare(prompt()),
        initial_query: rare(text()),
        tools: collection::vec(tool_spec(), 0..2),
        response_format: rare(response_format()),
        options: options(),
        status: rare(status()),
        usage: usage(),
        timing: timing(),
        logs: collection::vec(text(), 0..2),
        tags: collection::vec((word(), text()), 0..3),
        metadata: object(),
        slices: collection::vec(slice(), 0..2),
        runs: collection::vec(run(), 0..2),
        turns: turns,
        extra: extra(),
    })
    .boxed()
}

fn session_id() -> BoxedStrategy<SessionId> {
    word().prop_map(SessionId::new).boxed()
}

fn parent() -> BoxedStrategy<Parent> {
    fields!(Parent { session: session_id(), seq: rare((0..9u64).prop_map(Seq)), extra: extra() }).boxed()
}

pub(super) fn prompt() -> BoxedStrategy<PromptId> {
    fields!(PromptId { ns: word(), key: word(), hash: rare(word()), extra: extra() }).boxed()
}

/// One execution.
pub(super) fn run() -> BoxedStrategy<Run> {
    fields!(Run {
        id: often(word().prop_map(RunId::new)),
        status: rare(status()),
        timing: timing(),
        stop_reason: rare(stop_reason()),
        attempt: rare(prop_oneof![1..4u32, Just(u32::MAX)]),
        process: rare(word()),
        extra: extra(),
    })
    .boxed()
}

fn slice() -> BoxedStrategy<Slice> {
    let known = sample::select(SlicePolicy::KNOWN).prop_map(SlicePolicy::from_word);
    let policy = prop_oneof![6 => known, 1 => word().prop_map(|word| SlicePolicy::from_word(&word))];
    fields!(Slice {
        name: word(),
        item_type: rare(word()),
        version: rare(word()),
        policy: rare(policy),
        items: collection::vec(json(), 0..3),
        extra: extra(),
    })
    .boxed()
}

fn any_plan() -> BoxedStrategy<Plan> {
    prop_oneof![3 => regular_plan(), 1 => wild_plan()].boxed()
}

/// All of a turn but its blocks.
fn head() -> BoxedStrategy<Turn> {
    let full = fields!(Turn {
        id: often(word().prop_map(TurnId::new)),
        run: rare(word().prop_map(RunId::new)),
        evaluation: rare(word().prop_map(EvaluationId::new)),
        provider: often(word()),
        api: rare(word()),
        model: often(word()),
        account: rare(word()),
        options: options(),
        usage: usage(),
        timing: timing(),
        finish: rare(finish()),
        errors: collection::vec(turn_error(), 0..2),
        continuation: rare(continuation()),
        provider_payload: json(),
        metadata: object(),
        data: object(),
        blocks: Just(Vec::new()),
        interrupted: collection::vec(block(), 0..2),
        extra: extra(),
    });
    prop_oneof![1 => Just(Turn::default()), 1 => full].boxed()
}

/// A turn as formats group it: input, one answer with its calls, results; some calls have none.
fn regular_plan() -> BoxedStrategy<Plan> {
    let asking = prop_oneof![4 => Just(Author::User), 1 => Just(Author::System), 1 => Just(Author::Developer)];
    let input = message(asking.boxed(), text().prop_map(|text| Text { text }.into()).boxed(), 1..3);
    let thought = rare(answer_block(reasoning().prop_map(Body::from).boxed()));
    let said = often(answer_block(text().prop_map(|text| Text { text }.into()).boxed()));
    let answer = (message_key(), thought, said);
    (head(), collection::vec(input, 1..3), answer, collection::vec(call_and_result(), 0..3), any::<bool>())
        .prop_map(|(turn, mut messages, (key, thought, said), calls, together)| {
            let inputs = messages.len();
            let (calls, results): (Vec<_>, Vec<_>) = calls.into_iter().enumerate().map(tied).unzip();
            let mut answer: Message = thought.into_iter().chain(said).chain(calls).collect();
            answer.iter_mut().for_each(|block| block.message = key.clone());
            if answer.is_empty() {
                answer.push(plain_block(Author::Assistant, Text::default()));
            }
            messages.push(answer);
            messages.extend(result_messages(results.into_iter().flatten().collect(), together));
            Plan { turn, messages, inputs }
        })
        .boxed()
}

fn answer_block(body: BoxedStrategy<Body>) -> BoxedStrategy<Block> {
    block_of(Just(Author::Assistant), message_key(), body)
}

/// A call with its result, if it has one. The position is filled in by [`tied`].
fn call_and_result() -> BoxedStrategy<(Block, Option<Block>)> {
    let id = || Just(CallId::Minted(0)).boxed();
    let call = answer_block(tool_call(id()).prop_map(Body::from).boxed());
    let result = block_of(Just(Author::Tool), message_key(), tool_result(id()).prop_map(Body::from));
    (call, prop::option::weighted(0.8, result), any::<bool>())
        .prop_map(|(mut call, mut result, given)| {
            if given {
                // Unlike positions, given ids repeat from turn to turn, as some vendors' do.
                set_call(&mut call, CallId::given("call_"));
                result.iter_mut().for_each(|result| set_call(result, CallId::given("call_")));
            }
            (call, result)
        })
        .boxed()
}

/// Ties a call and its result at a position of their turn.
fn tied((position, (mut call, mut result)): (usize, (Block, Option<Block>))) -> (Block, Option<Block>) {
    let id = match call_of(&call) {
        Some(CallId::Given(start)) => CallId::given(format!("{start}{position}")),
        _ => CallId::Minted(u32::try_from(position).unwrap_or_default()),
    };
    set_call(&mut call, id.clone());
    result.iter_mut().for_each(|result| set_call(result, id.clone()));
    (call, result)
}

fn call_of(block: &Block) -> Option<&CallId> {
    match &block.body {
        Body::ToolCall(ToolCall { call, .. }) | Body::ToolResult(ToolResult { call, .. }) => Some(call),
        _ => None,
    }
}

fn set_call(block: &mut Block, id: CallId) {
    if let Body::ToolCall(ToolCall { call, .. }) | Body::ToolResult(ToolResult { call, .. }) = &mut block.body {
        *call = id;
    }
}

fn result_messages(results: Vec<Block>, together: bool) -> Vec<Message> {
    if !together {
        return results.into_iter().map(|result| vec![result]).collect();
    }
    let key = results.first().map(|block| block.message.clone()).unwrap_or_default();
    let message: Message = results.into_iter().map(|block| Block { message: key.clone(), ..block }).collect();
    if message.is_empty() { Vec::new() } else { vec![message] }
}

/// A turn of anything: orphan results, repeated ids, answers before questions.
fn wild_plan() -> BoxedStrategy<Plan> {
    let message = message(author(), body(), 1..4);
    (head(), collection::vec(message, 0..4))
        .prop_map(|(turn, messages)| Plan { turn, inputs: messages.len(), messages })
        .boxed()
}

fn message(
    author: BoxedStrategy<Author>,
    body: BoxedStrategy<Body>,
    blocks: std::ops::Range<usize>,
) -> BoxedStrategy<Message> {
    (author, message_key(), collection::vec(block_of(Just(Author::User), Just(Default::default()), body), blocks))
        .prop_map(|(author, message, blocks)| {
            let joined = |block| Block { author: author.clone(), message: message.clone(), ..block };
            blocks.into_iter().map(joined).collect()
        })
        .boxed()
}

/// Numbers messages and positions over the whole session. A turn after results needs no new input.
fn assemble(plans: Vec<Plan>) -> Vec<Turn> {
    let (mut ordinal, mut calls, mut after_results) = (0, 0, false);
    let mut turns = Vec::new();
    for Plan { mut turn, mut messages, inputs } in plans {
        if after_results && inputs < messages.len() {
            messages.drain(..inputs);
        }
        after_results = messages.last().is_some_and(|last| last.iter().all(is_result));
        let own_calls = messages.iter().flatten().filter(|block| matches!(block.body, Body::ToolCall(_))).count();
        for message in messages {
            turn.blocks.extend(message.into_iter().map(|block| shifted(block.in_message(ordinal), calls)));
            ordinal += 1;
        }
        calls += u32::try_from(own_calls).unwrap_or_default();
        turns.push(turn);
    }
    turns
}

/// A position in a turn becomes one in the session.
fn shifted(mut block: Block, calls: u32) -> Block {
    if let Some(CallId::Minted(position)) = call_of(&block) {
        let position = calls + position;
        set_call(&mut block, CallId::Minted(position));
    }
    block
}

fn is_result(block: &Block) -> bool {
    matches!(block.body, Body::ToolResult(_))
}

/// Lets a result come after the next turn began: it joins its call's turn all the same.
fn delay_a_result(turns: &mut [Turn]) -> Option<()> {
    let last = turns.iter().flat_map(|turn| &turn.blocks).map(|block| block.message.ordinal).max()?;
    let [turn, _, ..] = turns else {
        return None;
    };
    let late = turn.blocks.last_mut().filter(|block| is_result(block))?;
    let alone = late.message.ordinal;
    late.message.ordinal = last + 1;
    turn.blocks.iter_mut().filter(|block| block.message.ordinal == alone).for_each(|block| {
        block.message.ordinal = last + 1;
    });
    Some(())
}

/// One or more sessions, with what stands around them.
pub fn archive() -> BoxedStrategy<Archive> {
    (collection::vec(session(), 1..4), any::<sample::Index>(), rare((0..9u64).prop_map(Seq)), extra())
        .prop_map(|(sessions, main, seq, extra)| {
            let main = u32::try_from(main.index(sessions.len())).unwrap_or_default();
            Archive { sessions, main, seq, journal: None, extra }
        })
        .boxed()
}

/// What one would find in an ordinary chat.
pub fn plain_session() -> BoxedStrategy<Session> {
    let call = (word(), plain_json(), line());
    let turn = (line(), rare(line()), line(), rare(call), often(time()));
    (rare(line()), collection::vec(turn, 0..5), often("[a-z0-9]{8}"), rare(line()))
        .prop_map(|(system, turns, id, title)| {
            let mut plans = Vec::new();
            for (index, (question, thought, answer, call, time)) in turns.into_iter().enumerate() {
                let mut messages = vec![vec![plain_block(Author::User, Text { text: question })]];
                if let (0, Some(text)) = (index, &system) {
                    messages.insert(0, vec![plain_block(Author::System, Text { text: text.clone() })]);
                }
                let inputs = messages.len();
                messages.extend(plain_answer(thought, answer, call));
                for (message, time) in messages.iter_mut().flatten().zip(std::iter::repeat(time)) {
                    message.message.time = time;
                }
                plans.push(Plan { turn: Turn::default(), messages, inputs });
            }
            Session { id: id.map(SessionId::new), title, turns: assemble(plans), ..Session::default() }
        })
        .boxed()
}

type PlainCall = (String, turnkeep_model::Json, String);

fn plain_answer(thought: Option<String>, answer: String, call: Option<PlainCall>) -> Vec<Message> {
    let thought = thought.map(|text| turnkeep_model::Reasoning { text: Some(text), ..Default::default() });
    let mut message: Message = thought.into_iter().map(|thought| plain_block(Author::Assistant, thought)).collect();
    message.push(plain_block(Author::Assistant, Text { text: answer }));
    let Some((name, arguments, result)) = call else {
        return vec![message];
    };
    let id = CallId::given("call_1");
    message.push(plain_block(Author::Assistant, ToolCall { call: id.clone(), name, arguments: arguments.to_text() }));
    let parts = vec![Text { text: result }.into()];
    let result = ToolResult { call: id, name: None, parts, error: None, is_error: None, outcome: None };
    vec![message, vec![plain_block(Author::Tool, result)]]
}
