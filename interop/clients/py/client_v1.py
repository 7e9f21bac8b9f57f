"""The Python SDK 1.x as a client: stdio, Streamable HTTP and the older HTTP+SSE."""

from contextlib import asynccontextmanager
from datetime import timedelta

from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

import checks


class Session:
    """The SDK's session in the words of `checks`."""

    def __init__(self, session):
        self.sdk = session

    async def tools(self):
        return await checks.pages(self.sdk.list_tools, lambda p: ([t.name for t in p.tools], p.nextCursor))

    async def prompts(self):
        return await checks.pages(self.sdk.list_prompts, lambda p: ([t.name for t in p.prompts], p.nextCursor))

    async def resources(self):
        read = lambda p: ([(str(r.uri), r.name) for r in p.resources], p.nextCursor)
        return await checks.pages(self.sdk.list_resources, read)

    async def templates(self):
        read = lambda p: ([t.uriTemplate for t in p.resourceTemplates], p.nextCursor)
        return await checks.pages(self.sdk.list_resource_templates, read)

    async def call(self, name, arguments, note=None):
        async def progress(value, total, message):
            note(value)

        wait = timedelta(seconds=60)
        result = await self.sdk.call_tool(name, arguments, wait, progress_callback=progress if note else None)
        return "\n".join(getattr(block, "text", block.type) for block in result.content), result.isError

    async def prompt(self, name, arguments):
        result = await self.sdk.get_prompt(name, arguments)
        return "\n".join(getattr(message.content, "text", "") for message in result.messages)

    async def read(self, uri):
        result = await self.sdk.read_resource(uri)
        return "\n".join(getattr(content, "text", "") for content in result.contents)


def transport(plan):
    if plan["transport"] == "stdio":
        command, *args = plan["command"]
        return stdio_client(StdioServerParameters(command=command, args=args, cwd=plan["folder"]))
    if plan["transport"] == "sse":
        return sse_client(plan["url"])
    return streamable_http_client(plan["url"])


@asynccontextmanager
async def connect(plan):
    async with transport(plan) as (read, write, *_):
        async with ClientSession(read, write, read_timeout_seconds=timedelta(seconds=60)) as session:
            hello = await session.initialize()
            yield Session(session), f"{hello.serverInfo.name} {hello.serverInfo.version}, {hello.protocolVersion}"


checks.main(connect)
