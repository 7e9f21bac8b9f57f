"""Connects with the Python SDK 2.x, lists, calls the tool `t`, and prints what came of it as one JSON line."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

plan = json.loads(sys.argv[1])


def say(**outcome):
    print(json.dumps(outcome), flush=True)


async def main():
    if "command" in plan:
        command, *args = plan["command"]
        target = StdioServerParameters(command=command, args=args)
    else:
        target = plan["url"]
    async with Client(target, mode="auto") as client:
        await client.list_tools()
        result = await client.call_tool("t", {})
        say(ok=True, result=result.model_dump(mode="json", by_alias=True))


try:
    asyncio.run(main())
except BaseException as error:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    say(ok=False, error=f"{type(error).__name__}: {error}"[:300])
