"""The Python SDK 2.x as a client: stdio and Streamable HTTP, in whichever era it chooses by itself."""

from contextlib import asynccontextmanager

from mcp import Client, StdioServerParameters

import checks


class Session:
    """The SDK's client in the words of `checks`."""

    def __init__(self, client):
        self.sdk = client

    async def tools(self):
        fetch = lambda cursor: self.sdk.list_tools(cursor=cursor)
        return await checks.pages(fetch, lambda p: ([t.name for t in p.tools], p.next_cursor))

    async def prompts(self):
        fetch = lambda cursor: self.sdk.list_prompts(cursor=cursor)
        return await checks.pages(fetch, lambda p: ([t.name for t in p.prompts], p.next_cursor))

    async def resources(self):
        fetch = lambda cursor: self.sdk.list_resources(cursor=cursor)
        return await checks.pages(fetch, lambda p: ([(str(r.uri), r.name) for r in p.resources], p.next_cursor))

    async def templates(self):
        fetch = lambda cursor: self.sdk.list_resource_templates(cursor=cursor)
        return await checks.pages(fetch, lambda p: ([t.uri_template for t in p.resource_templates], p.next_cursor))

    async def call(self, name, arguments, note=None):
        async def progress(value, total, message):
            note(value)

        result = await self.sdk.call_tool(name, arguments, progress_callback=progress if note else None)
        return "\n".join(getattr(block, "text", block.type) for block in result.content), result.is_error

    async def prompt(self, name, arguments):
        result = await self.sdk.get_prompt(name, arguments)
        return "\n".join(getattr(message.content, "text", "") for message in result.messages)

    async def read(self, uri):
        result = await self.sdk.read_resource(uri)
        return "\n".join(getattr(content, "text", "") for content in result.contents)


@asynccontextmanager
async def connect(plan):
    target = plan["url"]
    if plan["transport"] == "stdio":
        command, *args = plan["command"]
        target = StdioServerParameters(command=command, args=args, cwd=plan["folder"])
    async with Client(target, read_timeout_seconds=60, mode=plan.get("mode", "auto")) as client:
        info = client.server_info
        name = f"{info.name} {info.version}" if info else "a server without a name"
        yield Session(client), f"{name}, {client.protocol_version}"


checks.main(connect)
