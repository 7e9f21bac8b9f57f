"""The Python SDK 1.x as a server behind our client: `server_v1.py stdio`, or `server_v1.py http PORT`."""

import asyncio
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
async def slow(ms: int) -> str:
    global stopped
    try:
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


server.run("stdio" if sys.argv[1] == "stdio" else "streamable-http")
