"""The Python SDK 2.x as a server behind our client: `server_v2.py stdio`, or `server_v2.py http PORT`."""

import asyncio
import json
import sys
from typing import Annotated

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from pydantic import BaseModel

server = MCPServer("interop-py-v2", log_level="WARNING")
stopped = 0


class Sum(BaseModel):
    sum: float


class Who(BaseModel):
    name: str


@server.tool()
def echo(text: str) -> str:
    return text


@server.tool()
def add(left: float, right: float) -> Sum:
    return Sum(sum=left + right)


@server.tool()
async def progress(ctx: Context) -> str:
    for step in range(1, 4):
        await ctx.report_progress(step, 3)
        await asyncio.sleep(0.05)
    return "done"


@server.tool()
async def slow(ms: int, ctx: Context) -> str:
    global stopped
    try:
        await ctx.report_progress(1)
        await asyncio.sleep(ms / 1000)
    except asyncio.CancelledError:
        stopped += 1
        raise
    return "slow"


@server.tool()
def stops() -> str:
    return f"stopped {stopped}"


def who() -> Elicit[Who]:
    return Elicit("What is your name?", Who)


@server.tool()
async def ask(name: Annotated[Who, Resolve(who)]) -> str:
    return f"accept {name.name}"


def model() -> Sample:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="Say something."))
    return Sample([message], max_tokens=20)


@server.tool()
async def sample(said: Annotated[types.CreateMessageResult, Resolve(model)]) -> str:
    return f"the model: {said.content.text}"


@server.tool()
async def touch(ctx: Context) -> str:
    await ctx.notify_resource_updated("interop://watched")
    return "touched"


@server.tool()
async def log(ctx: Context) -> str:
    for level in ("debug", "warning", "error"):
        await ctx.log(level, f"a line at {level}", logger_name="interop")
    return "logged"


def where() -> ListRoots:
    return ListRoots()


@server.tool()
async def roots(known: Annotated[types.ListRootsResult, Resolve(where)]) -> str:
    return " ".join(f"{root.uri} {root.name}" for root in known.roots)


@server.tool()
def meta(ctx: Context) -> types.CallToolResult:
    extra = ctx.request_context.meta or {}
    seen = {key: extra[key] for key in ("traceparent", "vendor/y") if key in extra}
    said = types.TextContent(type="text", text=json.dumps(seen, sort_keys=True))
    return types.CallToolResult(content=[said], _meta={"vendor/z": {"deep": [1.5, None]}})


@server.tool()
def sad() -> str:
    raise ValueError("it fails")


@server.resource("interop://watched")
def watched() -> str:
    return "watched text"


@server.resource("interop://item/{id}")
def item(id: str) -> str:
    return f"item {id}"


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name}."


@server.completion()
async def complete(ref, argument, context):
    return types.Completion(values=[one for one in ("ann", "anton", "bea") if one.startswith(argument.value)])


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", port=int(sys.argv[2]))
