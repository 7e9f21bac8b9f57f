// What each foreign TypeScript client tries with our server; the SDK itself stays in client_v1.mjs and client_v2.mjs.
//
// A plan (JSON) names the features. Each prints one JSON line; a failure is a line with `"ok": false`.

import { readFileSync } from "node:fs";

const LIMIT = 60_000;

const say = (feature, ok, detail) =>
  console.log(JSON.stringify({ feature, ok, detail: (typeof detail === "string" ? detail : JSON.stringify(detail ?? "")).slice(0, 600) }));

function insist(truth, message) {
  if (!truth) throw new Error(message);
}

export const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function within(job) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${LIMIT / 1000} s`)), LIMIT);
  });
  try {
    return await Promise.race([job(), late]);
  } finally {
    clearTimeout(timer);
  }
}

export async function pages(fetch, key) {
  const items = [];
  let cursor;
  for (let page = 0; page < 100; page += 1) {
    const result = await fetch(cursor === undefined ? undefined : { cursor });
    items.push(...result[key]);
    cursor = result.nextCursor;
    if (cursor === undefined) return items;
  }
  throw new Error("the list had more than 100 pages");
}

export const words = (blocks) => blocks.map((block) => block.text ?? block.type).join("\n");

function holds(got, job) {
  insist(got.includes(job.expect ?? ""), `${JSON.stringify(got)} lacks ${JSON.stringify(job.expect)}`);
  return got;
}

const jobs = (session) => {
  const call = async (job) => {
    const { text, failed } = await session.call(job.name, job.arguments);
    insist(!failed, `the tool failed: ${text}`);
    return holds(text, job);
  };
  return {
    list: async (wanted) => {
      for (const kind of ["tools", "prompts", "resources", "templates"]) {
        const names = await session[kind]();
        const missing = (wanted[kind] ?? []).filter((name) => !names.includes(name));
        insist(missing.length === 0, `${kind} lack ${missing}: ${names}`);
      }
      return "all there";
    },
    call,
    structured: async (job) => {
      const { structured } = await session.call(job.name, job.arguments);
      for (const [name, value] of Object.entries(job.equal)) {
        insist(structured?.[name] === value, `${name} is not ${value}: ${JSON.stringify(structured)}`);
      }
      return structured;
    },
    progress: async (job) => {
      const seen = [];
      await session.call(job.name, job.arguments, { onprogress: (note) => seen.push(note.progress) });
      insist(seen.length >= job.steps && seen.every((note, at) => at === 0 || seen[at - 1] <= note), `progress was ${seen}`);
      return seen;
    },
    cancel: async (job) => {
      const stop = new AbortController();
      const long = session.call(job.name, job.arguments, { signal: stop.signal }).then(
        () => "answered",
        () => "stopped",
      );
      await later(500);
      stop.abort("interop");
      insist((await long) === "stopped", "the long call was answered");
      return call(job.then);
    },
    elicit: call,
    sample: call,
    read: async (job) => holds(await session.read(job.uri), job),
    update: async (job) => {
      await session.updated(job.uri, () => call(job.trigger));
      return job.uri;
    },
    prompt: async (job) => holds(await session.prompt(job.name, job.arguments), job),
    complete: async (job) => holds((await session.complete(job.prompt, job.argument, job.typed)).join(" "), job),
  };
};

export async function main(connect) {
  const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));
  let connection;
  try {
    connection = await within(() => connect(plan));
  } catch (error) {
    say("connect", false, String(error?.message ?? error));
    process.exit(1);
  }
  say("connect", true, connection.revision());
  for (const [feature, job] of Object.entries(jobs(connection.session))) {
    if (!(feature in plan)) continue;
    try {
      say(feature, true, await within(() => job(plan[feature])));
    } catch (error) {
      say(feature, false, String(error?.message ?? error));
      console.error(error);
    }
  }
  try {
    await within(connection.close);
    say("close", true, "");
  } catch (error) {
    say("close", false, String(error?.message ?? error));
  }
  process.exit(0);
}
