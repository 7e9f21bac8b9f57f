"""Judges questions to models by the types of the providers' own libraries, unknown fields forbidden.

Reads lines {wire, case, document} from the file in its first argument; writes lines {check, ok, detail} and first {versions}.
"""

import collections.abc
import importlib.metadata
import json
import sys
import typing

# Lists are judged at once; an Iterable would be judged when somebody reads it.
typing.Iterable = typing.List
import typing_extensions

typing_extensions.Iterable = typing.List

import ollama._types as ollama_types  # noqa: E402
from anthropic.types import message_create_params as anthropic_params  # noqa: E402
from google.genai import types as genai  # noqa: E402
from openai.types.chat import completion_create_params as chat_params  # noqa: E402
from openai.types.responses import response_create_params as responses_params  # noqa: E402
from pydantic import ConfigDict, TypeAdapter  # noqa: E402

for name, module in list(sys.modules.items()):
    if name.startswith(("anthropic.types", "openai.types")):
        for value in list(vars(module).values()):
            if typing_extensions.is_typeddict(value):
                value.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

class OllamaMessage(ollama_types.Message, extra="forbid"):
    pass


class OllamaRequest(ollama_types.ChatRequest, extra="forbid"):
    messages: typing.Optional[typing.List[OllamaMessage]] = None


def spread(value):
    """Reads whatever is judged only when it is read."""
    if isinstance(value, dict):
        return {key: spread(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [spread(part) for part in value]
    if isinstance(value, collections.abc.Iterator):
        return [spread(part) for part in value]
    return value


def typed(whole, streamed):
    adapters = {False: TypeAdapter(whole), True: TypeAdapter(streamed)}
    return lambda document: spread(adapters[bool(document.get("stream"))].validate_python(document))


def gemini(document):
    known = {"systemInstruction": genai.Content, "toolConfig": genai.ToolConfig, "generationConfig": genai.GenerationConfig}
    for name, part in document.items():
        if name == "contents":
            [genai.Content.model_validate(content) for content in part]
        elif name == "tools":
            [genai.Tool.model_validate(tool) for tool in part]
        else:
            known[name].model_validate(part)


def ollama(document):
    """Pictures are values of their own there, which the library writes as plain base64: it must write what we do."""
    wrapped = json.loads(json.dumps(document))
    for message in wrapped["messages"]:
        if "images" in message:
            message["images"] = [{"value": image} for image in message["images"]]
    written = OllamaRequest.model_validate(wrapped).model_dump(exclude_none=True)
    for ours, theirs in zip(document["messages"], written["messages"]):
        assert ours.get("images") == theirs.get("images"), f"{ours} is written as {theirs}"


JUDGES = {
    "anthropic": typed(anthropic_params.MessageCreateParamsNonStreaming, anthropic_params.MessageCreateParamsStreaming),
    "openai-chat": typed(chat_params.CompletionCreateParamsNonStreaming, chat_params.CompletionCreateParamsStreaming),
    "openai-responses": typed(
        responses_params.ResponseCreateParamsNonStreaming, responses_params.ResponseCreateParamsStreaming
    ),
    "gemini": gemini,
    "ollama": ollama,
}

names = ("anthropic", "openai", "google-genai", "ollama")
print(json.dumps({"versions": {name: importlib.metadata.version(name) for name in names}}))
for line in open(sys.argv[1], encoding="utf-8"):
    question = json.loads(line)
    wire, document = question["wire"], question["document"]
    ok, detail = True, ""
    try:
        JUDGES[wire](document)
    except Exception as error:  # whatever is wrong with it
        ok, detail = False, f"{type(error).__name__}: {error}"[:2000]
    # A judge that lets everything pass judges nothing.
    try:
        key = "contents" if wire == "gemini" else "input" if wire == "openai-responses" else "messages"
        wrong = json.loads(json.dumps(document))
        wrong[key][0]["unheard_of"] = 1
        JUDGES[wire](wrong)
        ok, detail = False, detail or "an unknown field passes"
    except Exception:
        pass
    print(json.dumps({"wire": wire, "side": "questions", "check": question["case"], "ok": ok, "detail": detail}))
