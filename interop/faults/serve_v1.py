"""A small server with the Python SDK 1.x: `serve_v1.py stdio`, or `serve_v1.py http PORT`."""

import asyncio
import sys

from mcp.server.fastmcp import Context, FastMCP

kind, *port = sys.argv[1:]
server = FastMCP("py1", log_level="ERROR", host="127.0.0.1", port=int(port[0]) if port else 0)


@server.tool()
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@server.tool()
async def slow(ms: int, tag: str = "") -> str:
    """Answers after so many milliseconds."""
    await asyncio.sleep(ms / 1000)
    return tag


@server.tool()
def boom() -> str:
    """Fails."""
    raise RuntimeError("boom")


@server.tool()
async def progress(ctx: Context) -> str:
    """Tells how far it is."""
    for step in range(3):
        await ctx.report_progress(step + 1, 3)
    return "done"


server.run("stdio" if kind == "stdio" else "streamable-http")
