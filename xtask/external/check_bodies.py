"""Checks request bodies against the types of the vendors' own SDKs.

Reads lines {"id", "from", "wire", "body"} and prints counts by wire; exits 1 where a converted body does not fit. What
came from the same wire is kept as its source wrote it, also where the vendor takes more than its types say: counted only.
"""

import base64
import collections
import json
import sys
import typing

# pydantic checks an Iterable lazily, which is never; the SDKs import it from typing.
typing.Iterable = typing.List

import pydantic

SHOWN = 5


def adapter(kind):
    return pydantic.TypeAdapter(kind)


def either(streaming, whole):
    streaming, whole = adapter(streaming), adapter(whole)
    return lambda body: (streaming if body.get("stream") else whole).validate_python(body)


def openai_chat():
    import openai._types as types
    loosen(types)
    from openai.types.chat import completion_create_params as params
    return either(params.CompletionCreateParamsStreaming, params.CompletionCreateParamsNonStreaming)


def openai_responses():
    import openai._types as types
    loosen(types)
    from openai.types.responses import response_create_params as params
    return either(params.ResponseCreateParamsStreaming, params.ResponseCreateParamsNonStreaming)


def anthropic_messages():
    import anthropic._types as types
    loosen(types)
    from anthropic.types import message_create_params as params
    return either(params.MessageCreateParamsStreaming, params.MessageCreateParamsNonStreaming)


def gemini_contents():
    from google.genai import types
    fields = {
        "contents": typing.List[types.Content],
        "systemInstruction": types.Content,
        "generationConfig": types.GenerationConfig,
        "tools": typing.List[types.Tool],
        "toolConfig": types.ToolConfig,
        "safetySettings": typing.List[types.SafetySetting],
        "cachedContent": str,
        "model": str,
        "labels": typing.Dict[str, str],
    }
    adapters = {name: adapter(kind) for name, kind in fields.items()}

    def check(body):
        unknown = set(body) - set(adapters)
        if unknown:
            raise ValueError(f"no such fields: {sorted(unknown)}")
        if not body.get("contents"):
            raise ValueError("contents: missing")
        for name, value in body.items():
            adapters[name].validate_json(json.dumps(value))

    return check


def ollama_chat():
    from ollama._types import ChatRequest, Message

    def check(body):
        ChatRequest.model_validate(body)
        for message in body["messages"]:
            # The SDK takes what an image is made of; on the wire stands its base64.
            images = [{"value": image} for image in message.get("images") or []]
            Message.model_validate({**message, "images": images} if images else message)

    return check


def bedrock_converse():
    import botocore.session
    from botocore.validate import ParamValidator
    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    shape = model.operation_model("Converse").input_shape

    def check(body):
        body = dict(body)
        body.setdefault("modelId", "some-model")
        report = ParamValidator().validate(decoded(shape, body), shape)
        if report.has_errors():
            raise ValueError(report.generate_report())
        closed(shape, body, "body")

    return check


def decoded(shape, value):
    """The value as a caller of the SDK gives it: blobs are bytes."""
    if shape.type_name == "structure" and isinstance(value, dict):
        if getattr(shape, "is_document_type", False):
            return value
        members = shape.members
        return {key: decoded(members[key], item) if key in members else item for key, item in value.items()}
    if shape.type_name == "list" and isinstance(value, list):
        return [decoded(shape.member, item) for item in value]
    if shape.type_name == "blob" and isinstance(value, str):
        return base64.b64decode(value, validate=True)
    return value


def closed(shape, value, at):
    """What botocore leaves to the service: unknown members, enums, lengths and patterns."""
    import re
    if shape.type_name == "structure" and isinstance(value, dict) and not getattr(shape, "is_document_type", False):
        for key, item in value.items():
            if key not in shape.members:
                raise ValueError(f"{at}.{key}: no such member of {shape.name}")
            closed(shape.members[key], item, f"{at}.{key}")
    elif shape.type_name == "list" and isinstance(value, list):
        for index, item in enumerate(value):
            closed(shape.member, item, f"{at}[{index}]")
    elif shape.type_name == "string" and isinstance(value, str):
        if shape.enum and value not in shape.enum:
            raise ValueError(f"{at}: {value!r} is none of {shape.enum}")
        rules = shape.metadata
        if "max" in rules and len(value) > rules["max"]:
            raise ValueError(f"{at}: longer than {rules['max']}")
        if "min" in rules and len(value) < rules["min"]:
            raise ValueError(f"{at}: shorter than {rules['min']}")
        if "pattern" in rules and not re.fullmatch(rules["pattern"], value):
            raise ValueError(f"{at}: {value!r} does not match {rules['pattern']}")


def loosen(types):
    """`SequenceNotStr` is a protocol that pydantic cannot check; a list is meant."""
    if hasattr(types, "SequenceNotStr"):
        types.SequenceNotStr = typing.List


CHECKS = {
    "openai.chat": openai_chat,
    "openai.responses": openai_responses,
    "anthropic.messages": anthropic_messages,
    "gemini.contents": gemini_contents,
    "ollama.chat": ollama_chat,
    "bedrock.converse": bedrock_converse,
}


def reason(error):
    """One line: the deepest places first, for unions complain once a member."""
    if isinstance(error, pydantic.ValidationError):
        errors = sorted(error.errors(include_url=False, include_input=False), key=lambda e: -len(e["loc"]))
        name = lambda part: str(part) if len(str(part)) < 60 else "*"
        return "; ".join(".".join(map(name, e["loc"])) + ": " + e["msg"] for e in errors[:3])
    return str(error)


def main(path):
    checks, skipped = {}, {}
    good, own, bad = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for line in open(path, encoding="utf-8", errors="surrogatepass"):
        record = json.loads(line)
        wire = record["wire"]
        if wire not in checks and wire not in skipped:
            try:
                checks[wire] = CHECKS[wire]()
            except ImportError as error:
                skipped[wire] = str(error)
        if wire in skipped:
            continue
        try:
            checks[wire](record["body"])
            good[wire] += 1
        except Exception as error:
            if record.get("from") == wire:
                own[wire] += 1
                continue
            bad[wire].append(f"{record['id']}: {reason(error)}")
    for wire in CHECKS:
        if wire in skipped:
            print(f"skipped: {wire}: {skipped[wire]}")
            continue
        print(f"{wire}: {good[wire]} bodies fit the SDK's types, {len(bad[wire])} do not; "
              f"{own[wire]} more are kept as recorded from this wire")
        for line in bad[wire][:SHOWN]:
            print(f"  {line[:600]}")
    return 1 if any(bad.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
