"""The Python SDK 1.x as a client of our server."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

import features


class Session:
    def __init__(self, session, changes):
        self.sdk, self.changes = session, changes

    async def tools(self):
        return await features.pages(self.sdk.list_tools, lambda p: ([t.name for t in p.tools], p.nextCursor))

    async def prompts(self):
        return await features.pages(self.sdk.list_prompts, lambda p: ([t.name for t in p.prompts], p.nextCursor))

    async def resources(self):
        return await features.pages(self.sdk.list_resources, lambda p: ([str(r.uri) for r in p.resources], p.nextCursor))

    async def templates(self):
        read = lambda p: ([t.uriTemplate for t in p.resourceTemplates], p.nextCursor)
        return await features.pages(self.sdk.list_resource_templates, read)

    async def call(self, name, arguments, note=None):
        async def progress(value, total, message):
            note(value)

        result = await self.sdk.call_tool(name, arguments, progress_callback=progress if note else None)
        text = "\n".join(getattr(block, "text", block.type) for block in result.content)
        return text, result.isError, result.structuredContent

    async def cancelled(self, name, arguments):
        # This SDK does not cancel by itself: it is told the id that its next request will have.
        number = self.sdk._request_id
        call = asyncio.create_task(self.sdk.call_tool(name, arguments))
        await asyncio.sleep(0.5)
        assert not call.done(), "the long call was over at once"
        params = types.CancelledNotificationParams(requestId=number, reason="interop")
        await self.sdk.send_notification(
            types.ClientNotification(types.CancelledNotification(method="notifications/cancelled", params=params))
        )
        await asyncio.sleep(0.2)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)

    async def read(self, uri):
        result = await self.sdk.read_resource(uri)
        return "\n".join(getattr(content, "text", "") for content in result.contents)

    async def updated(self, uri, trigger):
        await self.sdk.subscribe_resource(uri)
        await trigger()
        while await self.changes.get() != uri:
            pass
        await self.sdk.unsubscribe_resource(uri)

    async def prompt(self, name, arguments):
        result = await self.sdk.get_prompt(name, arguments)
        return "\n".join(getattr(message.content, "text", "") for message in result.messages)

    async def complete(self, prompt, argument, typed):
        ref = types.PromptReference(type="ref/prompt", name=prompt)
        return (await self.sdk.complete(ref, {"name": argument, "value": typed})).completion.values


def transport(plan):
    if plan["transport"] == "stdio":
        command, *args = plan["command"]
        return stdio_client(StdioServerParameters(command=command, args=args))
    if plan["transport"] == "sse":
        return sse_client(plan["url"])
    return streamable_http_client(plan["url"])


@asynccontextmanager
async def connect(plan):
    changes = asyncio.Queue()

    async def elicited(context, params):
        return types.ElicitResult(action="accept", content=plan["elicit"]["content"])

    async def sampled(context, params):
        content = types.TextContent(type="text", text="a sampled answer")
        return types.CreateMessageResult(role="assistant", content=content, model="model")

    async def hear(message):
        if isinstance(message, types.ServerNotification) and isinstance(message.root, types.ResourceUpdatedNotification):
            changes.put_nowait(str(message.root.params.uri))

    async with transport(plan) as (read, write, *_):
        async with ClientSession(
            read,
            write,
            read_timeout_seconds=timedelta(seconds=60),
            elicitation_callback=elicited,
            sampling_callback=sampled,
            message_handler=hear,
        ) as session:
            hello = await session.initialize()
            yield Session(session, changes), hello.protocolVersion


features.main(connect)
