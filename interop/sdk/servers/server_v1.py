"""The Python SDK 1.x as a server behind our client: `server_v1.py stdio`, `server_v1.py http PORT`, or `sse PORT`."""

import asyncio
import json
import sys

from mcp import types
from mcp.server.fastmcp import Context, FastMCP
from pydantic import AnyUrl, BaseModel

port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
server = FastMCP("interop-py-v1", port=port, log_level="WARNING")
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


@server.tool()
async def ask(ctx: Context) -> str:
    answer = await ctx.elicit("What is your name?", Who)
    return f"{answer.action} {answer.data.name if answer.action == 'accept' else ''}"


@server.tool()
async def sample(ctx: Context) -> str:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="Say something."))
    return f"the model: {(await ctx.session.create_message([message], max_tokens=20)).content.text}"


@server.tool()
async def touch(ctx: Context) -> str:
    await ctx.session.send_resource_updated(AnyUrl("interop://watched"))
    return "touched"


@server.tool()
async def log(ctx: Context) -> str:
    for level in ("debug", "warning", "error"):
        await ctx.log(level, f"a line at {level}", logger_name="interop")
    return "logged"


@server.tool()
async def roots(ctx: Context) -> str:
    return " ".join(f"{root.uri} {root.name}" for root in (await ctx.session.list_roots()).roots)


@server.tool()
async def visit(ctx: Context) -> str:
    return (await ctx.elicit_url("Go there.", "https://example.invalid/page", "visit-1")).action


@server.tool()
def meta(ctx: Context) -> types.CallToolResult:
    extra = (ctx.request_context.meta and ctx.request_context.meta.model_extra) or {}
    seen = {key: extra[key] for key in ("traceparent", "vendor/y") if key in extra}
    said = types.TextContent(type="text", text=json.dumps(seen, sort_keys=True))
    return types.CallToolResult(content=[said], _meta={"vendor/z": {"deep": [1.5, None]}}, odd={"deep": [1.5, None]})


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


@server._mcp_server.subscribe_resource()
async def subscribe(uri):
    pass


@server._mcp_server.unsubscribe_resource()
async def unsubscribe(uri):
    pass


server.run({"http": "streamable-http"}.get(sys.argv[1], sys.argv[1]))
