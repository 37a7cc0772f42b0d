"""Compares the responses that we make of recorded streams with what the vendors' own SDKs make of them.

Reads lines {"id", "wire", "events", "body"}; prints counts by wire; exits 1 where they say different things.
"""

import collections
import json
import sys
import warnings

warnings.simplefilter("ignore")


def anthropic_messages():
    from anthropic.lib.streaming import _beta_messages, _messages
    import inspect

    def accumulate(events):
        events = [event for event in events if event.get("type") not in ("ping", "error")]
        if sum(event.get("type") == "message_start" for event in events) > 1:
            raise ValueError("several messages in one recording")
        blocks = {event["content_block"]["type"] for event in events if event.get("type") == "content_block_start"}
        beta = any(kind.startswith("mcp_") or kind == "compaction" for kind in blocks)
        one = (_beta_messages if beta else _messages).accumulate_event
        wanted = inspect.signature(one).parameters
        more = {"json_bufs": {}} if "json_bufs" in wanted else {}
        if "request_headers" in wanted:
            import httpx
            more["request_headers"] = httpx.Headers()
        snapshot = None
        for event in events:
            snapshot = one(event=event, current_snapshot=snapshot, **more)
        return snapshot.to_dict(mode="json")

    def said(body):
        keys = ("type", "text", "thinking", "signature", "data", "id", "name", "input")
        blocks = [{key: block.get(key) for key in keys if block.get(key) is not None} for block in body["content"]]
        return {"content": blocks, "stop_reason": body.get("stop_reason"), "output": body["usage"].get("output_tokens")}

    return accumulate, said


def openai_chat():
    from openai._models import construct_type
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    def accumulate(events):
        if shares_index(events):
            raise ValueError("calls share an index, which the SDK takes for one call")
        state = ChatCompletionStreamState()
        for event in events:
            state.handle_chunk(construct_type(type_=ChatCompletionChunk, value=event))
        return state.current_completion_snapshot.to_dict(mode="json")

    def shares_index(events):
        seen = collections.Counter()
        for event in events:
            for choice in event.get("choices") or []:
                delta = choice.get("delta") or {}
                if isinstance(delta.get("content"), list):
                    raise ValueError("content is a list, which is no content of this vendor's")
                for call in delta.get("tool_calls") or []:
                    seen[choice.get("index"), call.get("index")] += bool(call.get("id"))
        return any(count > 1 for count in seen.values())

    def said(body):
        choice = body["choices"][0] if body["choices"] else {"message": {}}
        message = choice["message"]
        calls = [(c.get("id"), c["function"].get("name"), c["function"].get("arguments") or "")
                 for c in message.get("tool_calls") or []]
        return {"content": message.get("content") or "", "refusal": message.get("refusal") or "", "calls": calls,
                "finish": choice.get("finish_reason")}

    return accumulate, said


ORACLES = {"anthropic.messages": anthropic_messages, "openai.chat": openai_chat}


def main(path):
    oracles, skipped = {}, {}
    same, unable, different = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for line in open(path, encoding="utf-8", errors="surrogatepass"):
        record = json.loads(line)
        wire = record["wire"]
        if wire not in oracles and wire not in skipped:
            try:
                oracles[wire] = ORACLES[wire]()
            except ImportError as error:
                skipped[wire] = str(error)
        if wire in skipped:
            continue
        accumulate, said = oracles[wire]
        try:
            theirs = said(accumulate(record["events"]))
        except Exception:
            # Many recorded streams are of vendors that only resemble this one.
            unable[wire] += 1
            continue
        ours = json.loads(json.dumps(said(record["body"])))
        theirs = json.loads(json.dumps(theirs))
        if ours == theirs:
            same[wire] += 1
        else:
            different[wire].append(f"{record['id']}: ours {json.dumps(ours)[:400]} theirs {json.dumps(theirs)[:400]}")
    for wire, why in skipped.items():
        print(f"skipped: streams of {wire}: {why}")
    for wire in oracles:
        print(f"{wire}: {same[wire]} streams as the SDK puts them together, {len(different[wire])} otherwise, "
              f"{unable[wire]} that the SDK cannot put together")
        for line in different[wire][:5]:
            print(f"  {line}")
    return 1 if any(different.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
