"""A small server with the Python SDK 2.x: `serve_v2.py stdio`, or `serve_v2.py http PORT`."""

import asyncio
import sys

from mcp.server.mcpserver import Context, MCPServer

kind, *port = sys.argv[1:]
server = MCPServer("py2", log_level="ERROR")


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


if kind == "stdio":
    server.run("stdio")
else:
    import uvicorn

    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(port[0]), log_level="error", access_log=False)
