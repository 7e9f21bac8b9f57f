"""Lets the providers' own clients talk with our scripted model: whole and streamed; what they read is judged by their types.

Takes the addresses as JSON in its first argument; writes lines {wire, side, check, ok, detail}.
"""

import json
import sys

import anthropic
import ollama
import openai
from anthropic.types import Message, RawMessageStreamEvent
from google import genai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

PLACES = json.loads(sys.argv[1])
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
NAMES = ("weather", "clock")
CALLS = [("weather", {"city": "Osló", "days": 2}), ("clock", {})]
EVENT = {"anthropic": TypeAdapter(RawMessageStreamEvent), "responses": TypeAdapter(ResponseStreamEvent)}


def judged(kind, value):
    kind.model_validate(value.to_dict())
    return value


def ask_anthropic(model, stream):
    client = anthropic.Anthropic(base_url=PLACES["anthropic"], api_key="k", max_retries=0)
    tools = [{"name": name, "input_schema": SCHEMA} for name in NAMES]
    asked = dict(model=model, max_tokens=100, messages=[{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], tools=tools)
    if stream:
        for event in client.messages.create(stream=True, **asked):
            EVENT["anthropic"].validate_python(event.to_dict())
        with client.messages.stream(**asked) as events:
            message = events.get_final_message()
    else:
        message = client.messages.create(**asked)
    judged(Message, message)
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [(block.name, block.input) for block in message.content if block.type == "tool_use"]
    return text, calls, message.stop_reason, message.usage.input_tokens + message.usage.cache_read_input_tokens


def ask_chat(model, stream):
    client = openai.OpenAI(base_url=PLACES["openai-chat"], api_key="k", max_retries=0)
    tools = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in NAMES]
    asked = dict(model=model, messages=[{"role": "user", "content": "Hi"}], tools=tools)
    if stream:
        usage = None
        for chunk in client.chat.completions.create(stream=True, stream_options={"include_usage": True}, **asked):
            judged(ChatCompletionChunk, chunk)
            usage = chunk.usage or usage
        state = openai.lib.streaming.chat.ChatCompletionStreamState()
        for chunk in client.chat.completions.create(stream=True, **asked):
            state.handle_chunk(chunk)
        whole = state.current_completion_snapshot
    else:
        whole = judged(ChatCompletion, client.chat.completions.create(**asked))
        usage = whole.usage
    choice = whole.choices[0]
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls or []]
    return choice.message.content, calls, choice.finish_reason, usage.prompt_tokens


def ask_responses(model, stream):
    client = openai.OpenAI(base_url=PLACES["openai-responses"], api_key="k", max_retries=0)
    tools = [{"type": "function", "name": name, "parameters": SCHEMA, "strict": False} for name in NAMES]
    asked = dict(model=model, input="Hi", tools=tools, store=False)
    if stream:
        for event in client.responses.create(stream=True, **asked):
            EVENT["responses"].validate_python(event.to_dict())
            if event.type in ("response.completed", "response.incomplete"):
                whole = event.response
    else:
        whole = client.responses.create(**asked)
    judged(Response, whole)
    calls = [(item.name, json.loads(item.arguments)) for item in whole.output if item.type == "function_call"]
    stop = whole.incomplete_details.reason if whole.incomplete_details else whole.status
    return whole.output_text, calls, stop, whole.usage.input_tokens


def ask_gemini(model, stream):
    client = genai.Client(api_key="k", http_options={"base_url": PLACES["gemini"]})
    declared = [{"name": name, "parameters_json_schema": SCHEMA} for name in NAMES]
    asked = dict(model=model, contents="Hi", config={"tools": [{"function_declarations": declared}]})
    chunks = list(client.models.generate_content_stream(**asked)) if stream else [client.models.generate_content(**asked)]
    parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
    text = "".join(part.text or "" for part in parts if not part.thought)
    calls = [(part.function_call.name, part.function_call.args) for part in parts if part.function_call]
    last = chunks[-1]
    return text, calls, last.candidates[0].finish_reason.value, last.usage_metadata.prompt_token_count


def ask_ollama(model, stream):
    client = ollama.Client(host=PLACES["ollama"])
    tools = [{"type": "function", "function": {"name": name, "description": "x", "parameters": SCHEMA}} for name in NAMES]
    asked = dict(model=model, messages=[{"role": "user", "content": "Hi"}], tools=tools)
    chunks = list(client.chat(stream=True, **asked)) if stream else [client.chat(**asked)]
    text = "".join(chunk.message.content or "" for chunk in chunks)
    calls = [(call.function.name, dict(call.function.arguments)) for chunk in chunks for call in chunk.message.tool_calls or []]
    return text, calls, chunks[-1].done_reason, chunks[-1].prompt_eval_count


WIRES = {
    "anthropic": (ask_anthropic, "end_turn", "tool_use", "max_tokens"),
    "openai-chat": (ask_chat, "stop", "tool_calls", "length"),
    "openai-responses": (ask_responses, "completed", "completed", "max_output_tokens"),
    "gemini": (ask_gemini, "STOP", "STOP", "MAX_TOKENS"),
    "ollama": (ask_ollama, "stop", "stop", "length"),
}


def status(error):
    return getattr(error, "status_code", None) or getattr(error, "code", None)


for wire, (ask, end, tools, length) in WIRES.items():
    for stream in (False, True):
        for model, expected in [
            ("plain", ("It rains.", [], end, 100)),
            ("calls", ("Let me see.", CALLS, tools, 100)),
            ("long", ("It rains and rains", [], length, 100)),
            ("locked", 401),
            ("busy", 529 if wire == "anthropic" else 503),
        ]:
            try:
                got = ask(model, stream)
            except Exception as error:  # the client's own way to say it
                got = status(error) if isinstance(expected, int) else f"{type(error).__name__}: {error}"
            ok = got == expected
            print(
                json.dumps(
                    {
                        "wire": wire,
                        "side": "clients",
                        "check": f"{model}, {'stream' if stream else 'whole'}",
                        "ok": ok,
                        "detail": "" if ok else f"{got!r} is not {expected!r}"[:1500],
                    }
                )
            )
