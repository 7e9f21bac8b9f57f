"""What every foreign Python client is asked to do; the SDK itself stays in `client_v1.py` and `client_v2.py`.

A plan (JSON) says what must be seen through the gateway. Each check prints one JSON line. Not a test framework:
a failed check is a line with `"ok": false`, and the next check still runs.
"""

import asyncio
import json
import sys
import time
import traceback


def say(check, ok, started, detail):
    line = {"check": check, "ok": ok, "ms": round((time.monotonic() - started) * 1000), "detail": str(detail)[:600]}
    print(json.dumps(line), flush=True)


def root_cause(error):
    """The first leaf of an exception group: the group's own text says nothing."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = str(error) or repr(error)
    return f"{type(error).__name__}: {text}"


def find(names, server, wanted):
    """The public name of `wanted` of `server`, and how it was recognised."""
    if wanted in names:
        return wanted, "exact"
    ends = [name for name in names if any(name.endswith(mark + wanted) for mark in ("__", "_", "-", "."))]
    ours = [name for name in ends if name.startswith(server)]
    if ours:
        return min(ours, key=len), "server and suffix"
    if len(ends) == 1:
        return ends[0], "suffix"
    loose = [name for name in names if server in name and wanted in name]
    if len(loose) == 1:
        return loose[0], "contained"
    return None, f"{len(ends)} candidates"


class Run:
    """One client session against one plan."""

    def __init__(self, plan, session):
        self.plan, self.session = plan, session
        self.tools, self.prompts, self.resources, self.templates = [], [], [], []

    async def check(self, name, job):
        started = time.monotonic()
        try:
            detail = await asyncio.wait_for(job(), self.plan["check_seconds"])
            say(name, True, started, detail)
        except TimeoutError:
            say(name, False, started, f"no answer within {self.plan['check_seconds']} s")
        except AssertionError as mismatch:
            say(name, False, started, mismatch)
        except Exception as error:
            say(name, False, started, root_cause(error))
            traceback.print_exc(file=sys.stderr)

    async def all(self):
        await self.check("list tools", self.list_tools)
        await self.check("list prompts", self.list_prompts)
        await self.check("list resources", self.list_resources)
        for server in self.plan["servers"]:
            call = server["call"]
            await self.check(f"call {server['name']}/{call['tool']}", lambda server=server, call=call: self.call(server, call))
        await self.check("get prompt", self.get_prompt)
        await self.check("read resource", self.read_resource)
        await self.check("progress", self.progress)
        await self.check("unknown tool", self.unknown_tool)

    async def list_tools(self):
        self.tools = await self.session.tools()
        return self.listed(self.tools, "tools")

    async def list_prompts(self):
        self.prompts = await self.session.prompts()
        return self.listed(self.prompts, "prompts")

    async def list_resources(self):
        self.resources = await self.session.resources()
        self.templates = await self.session.templates()
        wanted = [uri for server in self.plan["servers"] for uri in server["resources"]]
        uris = [uri for uri, _ in self.resources]
        missing = [uri for uri in wanted if not any(uri in listed for listed in uris)]
        assert not missing, f"not listed: {missing}"
        templates = [uri for server in self.plan["servers"] for uri in server["templates"]]
        missing = [uri for uri in templates if not any(uri in listed for listed in self.templates)]
        assert not missing, f"templates not listed: {missing}"
        return f"{len(uris)} resources, {len(self.templates)} templates"

    def listed(self, names, kind):
        assert len(set(names)) == len(names), f"a name is listed twice: {sorted(names)}"
        found, ways = {}, {}
        for server in self.plan["servers"]:
            for wanted in server[kind]:
                public, way = find(names, server["name"], wanted)
                assert public, f"{server['name']}/{wanted} is not listed ({way}); listed: {sorted(names)}"
                assert public not in found, f"{public} stands for {found.get(public)} and {server['name']}/{wanted}"
                found[public] = f"{server['name']}/{wanted}"
                ways[way] = ways.get(way, 0) + 1
        return f"{len(names)} {kind}; recognised: {ways}"

    async def call(self, server, call):
        public, way = find(self.tools, server["name"], call["tool"])
        assert public, f"tool not found: {way}"
        text, is_error = await self.session.call(public, call["arguments"])
        assert not is_error, f"{public} answered an error: {text}"
        assert call["expect"] in text, f"{public} answered {text!r}, which lacks {call['expect']!r}"
        return f"{public} ({way})"

    async def get_prompt(self):
        prompt = self.plan["prompt"]
        public, way = find(self.prompts, prompt["server"], prompt["name"])
        assert public, f"prompt not found: {way}"
        text = await self.session.prompt(public, prompt["arguments"])
        assert prompt["expect"] in text, f"{public} answered {text!r}"
        return f"{public} ({way})"

    async def read_resource(self):
        resource = self.plan["resource"]
        uri = next((uri for uri, _ in self.resources if resource["uri"] in uri), None)
        assert uri, f"{resource['uri']} is not listed"
        text = await self.session.read(uri)
        assert resource["expect"] in text, f"{uri} reads {text[:200]!r}"
        return f"{uri}, {len(text)} characters"

    async def progress(self):
        job = self.plan["progress"]
        public, _ = find(self.tools, job["server"], job["tool"])
        assert public, "tool not found"
        seen = []
        text, is_error = await self.session.call(public, job["arguments"], seen.append)
        assert not is_error and job["expect"] in text, f"{public} answered {text!r}"
        # The SDK may drop the last note when the result arrives in the same read.
        assert len(seen) >= job["steps"] - 1, f"{len(seen)} progress notes instead of {job['steps']}: {seen}"
        assert seen == sorted(seen), f"progress went backwards: {seen}"
        return f"{len(seen)} notes"

    async def unknown_tool(self):
        try:
            text, is_error = await self.session.call("no_such_tool_anywhere", {})
        except Exception as error:
            return root_cause(error)
        assert is_error, f"an unknown tool answered {text!r}"
        return text


async def pages(fetch, read):
    """Follows a list to its end: `fetch(cursor)` gives a page, `read(page)` its items and the next cursor."""
    items, cursor = [], None
    for _ in range(100):
        page, cursor = read(await fetch(cursor))
        items += page
        if cursor is None:
            return items
    raise AssertionError("the list had more than 100 pages")


def main(connect):
    """Runs the plan named on the command line; `connect(plan)` is an async context manager giving (session, detail)."""

    async def run(plan):
        started = time.monotonic()
        connected = False
        try:
            async with asyncio.timeout(plan["total_seconds"]):
                async with connect(plan) as (session, detail):
                    connected = True
                    say("connect", True, started, detail)
                    await Run(plan, session).all()
                    started = time.monotonic()
                say("disconnect", True, started, "")
        except BaseException as error:
            say("disconnect" if connected else "connect", False, started, root_cause(error))
            traceback.print_exc(file=sys.stderr)

    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    asyncio.run(run(plan))
