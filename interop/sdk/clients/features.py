"""What each foreign Python client tries with our server; the SDK itself stays in `client_v1.py` and `client_v2.py`.

A plan (JSON) names the features. Each prints one JSON line; a failure is a line with `"ok": false`.
"""

import asyncio
import json
import sys
import traceback

LIMIT = 60


def say(feature, ok, detail):
    print(json.dumps({"feature": feature, "ok": ok, "detail": str(detail)[:600]}), flush=True)


def root_cause(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


def holds(got, job):
    wanted = job.get("expect", "")
    assert wanted in got, f"{got!r} lacks {wanted!r}"
    return got


class Run:
    def __init__(self, plan, session):
        self.plan, self.session = plan, session

    async def all(self):
        features = "list call structured progress cancel elicit sample read update prompt complete".split()
        for feature in features:
            if feature not in self.plan:
                continue
            try:
                detail = await asyncio.wait_for(getattr(self, feature)(self.plan[feature]), LIMIT)
                say(feature, True, detail)
            except TimeoutError:
                say(feature, False, f"no answer within {LIMIT} s")
            except Exception as error:
                say(feature, False, root_cause(error))
                traceback.print_exc(file=sys.stderr)

    async def list(self, wanted):
        for kind in ("tools", "prompts", "resources", "templates"):
            names = await getattr(self.session, kind)()
            missing = [name for name in wanted.get(kind, []) if name not in names]
            assert not missing, f"{kind} lack {missing}: {names}"
        return "all there"

    async def call(self, job):
        text, failed, _ = await self.session.call(job["name"], job["arguments"])
        assert not failed, f"the tool failed: {text}"
        return holds(text, job)

    elicit = call
    sample = call

    async def structured(self, job):
        _, failed, content = await self.session.call(job["name"], job["arguments"])
        assert not failed and content, f"no structured content: {content}"
        for name, value in job["equal"].items():
            assert content[name] == value, f"{name} is not {value}: {content}"
        return content

    async def progress(self, job):
        seen = []
        await self.session.call(job["name"], job["arguments"], seen.append)
        assert len(seen) >= job["steps"] and seen == sorted(seen), f"progress was {seen}"
        return seen

    async def cancel(self, job):
        await self.session.cancelled(job["name"], job["arguments"])
        return await self.call(job["then"])

    async def read(self, job):
        return holds(await self.session.read(job["uri"]), job)

    async def update(self, job):
        await self.session.updated(job["uri"], lambda: self.call(job["trigger"]))
        return job["uri"]

    async def prompt(self, job):
        return holds(await self.session.prompt(job["name"], job["arguments"]), job)

    async def complete(self, job):
        return holds(" ".join(await self.session.complete(job["prompt"], job["argument"], job["typed"])), job)


async def pages(fetch, read):
    items, cursor = [], None
    for _ in range(100):
        page, cursor = read(await fetch(cursor))
        items += page
        if cursor is None:
            return items
    raise AssertionError("the list had more than 100 pages")


def main(connect):
    async def run(plan):
        stage = "connect"
        try:
            async with asyncio.timeout(300):
                async with connect(plan) as (session, revision):
                    say("connect", True, revision)
                    stage = "close"
                    await Run(plan, session).all()
                say("close", True, "")
        except BaseException as error:
            say(stage, False, root_cause(error))
            traceback.print_exc(file=sys.stderr)

    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    asyncio.run(run(plan))
