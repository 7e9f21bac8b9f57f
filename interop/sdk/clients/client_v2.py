"""The Python SDK 2.x as a client of our server, in whichever era it chooses by itself or is held to."""

import asyncio
from contextlib import asynccontextmanager

import mcp_types as types
from mcp import Client, StdioServerParameters

import features


class Session:
    def __init__(self, client, changes):
        self.sdk, self.changes = client, changes

    async def tools(self):
        fetch = lambda cursor: self.sdk.list_tools(cursor=cursor)
        return await features.pages(fetch, lambda p: ([t.name for t in p.tools], p.next_cursor))

    async def prompts(self):
        fetch = lambda cursor: self.sdk.list_prompts(cursor=cursor)
        return await features.pages(fetch, lambda p: ([t.name for t in p.prompts], p.next_cursor))

    async def resources(self):
        fetch = lambda cursor: self.sdk.list_resources(cursor=cursor)
        return await features.pages(fetch, lambda p: ([str(r.uri) for r in p.resources], p.next_cursor))

    async def templates(self):
        fetch = lambda cursor: self.sdk.list_resource_templates(cursor=cursor)
        return await features.pages(fetch, lambda p: ([t.uri_template for t in p.resource_templates], p.next_cursor))

    async def call(self, name, arguments, note=None):
        async def progress(value, total, message):
            note(value)

        result = await self.sdk.call_tool(name, arguments, progress_callback=progress if note else None)
        text = "\n".join(getattr(block, "text", block.type) for block in result.content)
        return text, result.is_error, result.structured_content

    async def cancelled(self, name, arguments):
        call = asyncio.create_task(self.sdk.call_tool(name, arguments))
        await asyncio.sleep(0.5)
        assert not call.done(), "the long call was over at once"
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)

    async def read(self, uri):
        result = await self.sdk.read_resource(uri)
        return "\n".join(getattr(content, "text", "") for content in result.contents)

    async def updated(self, uri, trigger):
        if self.sdk.protocol_version < "2026":
            await self.sdk.subscribe_resource(uri)
            await trigger()
            while await self.changes.get() != uri:
                pass
            await self.sdk.unsubscribe_resource(uri)
            return
        async with self.sdk.listen(resource_subscriptions=[uri]) as subscription:
            await trigger()
            async for event in subscription:
                if getattr(event, "uri", None) == uri:
                    return
        raise AssertionError("the subscription ended without a word")

    async def prompt(self, name, arguments):
        result = await self.sdk.get_prompt(name, arguments)
        return "\n".join(getattr(message.content, "text", "") for message in result.messages)

    async def complete(self, prompt, argument, typed):
        ref = types.PromptReference(type="ref/prompt", name=prompt)
        return (await self.sdk.complete(ref, {"name": argument, "value": typed})).completion.values


@asynccontextmanager
async def connect(plan):
    changes = asyncio.Queue()
    target = plan["url"]
    if plan["transport"] == "stdio":
        command, *args = plan["command"]
        target = StdioServerParameters(command=command, args=args)

    async def elicited(context, params):
        return types.ElicitResult(action="accept", content=plan["elicit"]["content"])

    async def sampled(context, params):
        content = types.TextContent(type="text", text="a sampled answer")
        return types.CreateMessageResult(role="assistant", content=content, model="model")

    async def hear(message):
        if isinstance(message, types.ResourceUpdatedNotification):
            changes.put_nowait(str(message.params.uri))

    async with Client(
        target,
        read_timeout_seconds=60,
        mode=plan.get("mode", "auto"),
        elicitation_callback=elicited,
        sampling_callback=sampled,
        message_handler=hear,
    ) as client:
        yield Session(client, changes), client.protocol_version


features.main(connect)
