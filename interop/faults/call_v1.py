"""Connects with the Python SDK 1.x, lists, calls the tool `t`, and prints what came of it as one JSON line."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

plan = json.loads(sys.argv[1])


def say(**outcome):
    print(json.dumps(outcome), flush=True)


def transport():
    if "command" in plan:
        command, *args = plan["command"]
        return stdio_client(StdioServerParameters(command=command, args=args))
    return streamable_http_client(plan["url"])


async def main():
    async with transport() as (read, write, *_):
        async with ClientSession(read, write) as session:
            await session.initialize()
            await session.list_tools()
            result = await session.call_tool("t", {})
            say(ok=True, result=result.model_dump(mode="json", by_alias=True))


try:
    asyncio.run(main())
except BaseException as error:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    say(ok=False, error=f"{type(error).__name__}: {error}"[:300])
