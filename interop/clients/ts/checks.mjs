// What every foreign TypeScript client is asked to do; the SDK itself stays in client_v1.mjs and client_v2.mjs.
//
// A plan (JSON) says what must be seen through the gateway. Each check prints one JSON line. Not a test framework:
// a failed check is a line with `"ok": false`, and the next check still runs.

import { readFileSync } from "node:fs";

const say = (check, ok, started, detail) =>
  console.log(JSON.stringify({ check, ok, ms: Math.round(performance.now() - started), detail: String(detail ?? "").slice(0, 600) }));

// `fetch failed` alone says nothing: its cause does.
const reason = (error) => {
  const text = `${error?.name ?? "Error"}: ${error?.message ?? error}`;
  return error?.cause ? `${text} (${error.cause.message ?? error.cause})` : text;
};

// What was seen is not what was planned; any other error is the SDK's or ours, and its stack is worth reading.
class Mismatch extends Error {
  name = "Mismatch";
}

function insist(truth, message) {
  if (!truth) throw new Mismatch(message);
}

async function within(seconds, job) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${seconds} s`)), seconds * 1000);
  });
  try {
    return await Promise.race([job(), late]);
  } finally {
    clearTimeout(timer);
  }
}

// The public name of `wanted` of `server`, and how it was recognised.
function find(names, server, wanted) {
  if (names.includes(wanted)) return [wanted, "exact"];
  const ends = names.filter((name) => ["__", "_", "-", "."].some((mark) => name.endsWith(mark + wanted)));
  const ours = ends.filter((name) => name.startsWith(server)).sort((a, b) => a.length - b.length);
  if (ours.length) return [ours[0], "server and suffix"];
  if (ends.length === 1) return [ends[0], "suffix"];
  const loose = names.filter((name) => name.includes(server) && name.includes(wanted));
  if (loose.length === 1) return [loose[0], "contained"];
  return [null, `${ends.length} candidates`];
}

// Follows a list to its end.
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

function listed(plan, names, kind) {
  insist(new Set(names).size === names.length, `a name is listed twice: ${names.sort()}`);
  const found = new Map();
  const ways = {};
  for (const server of plan.servers) {
    for (const wanted of server[kind]) {
      const [name, way] = find(names, server.name, wanted);
      insist(name, `${server.name}/${wanted} is not listed (${way}); listed: ${names.sort()}`);
      insist(!found.has(name), `${name} stands for ${found.get(name)} and ${server.name}/${wanted}`);
      found.set(name, `${server.name}/${wanted}`);
      ways[way] = (ways[way] ?? 0) + 1;
    }
  }
  return `${names.length} ${kind}; recognised: ${JSON.stringify(ways)}`;
}

async function runAll(plan, session) {
  let tools = [];
  let prompts = [];
  let resources = [];
  const check = async (name, job) => {
    const started = performance.now();
    try {
      say(name, true, started, await within(plan.check_seconds, job));
    } catch (error) {
      say(name, false, started, reason(error));
      if (!(error instanceof Mismatch)) console.error(error);
    }
  };

  await check("list tools", async () => {
    tools = await session.tools();
    return listed(plan, tools, "tools");
  });
  await check("list prompts", async () => {
    prompts = await session.prompts();
    return listed(plan, prompts, "prompts");
  });
  await check("list resources", async () => {
    resources = await session.resources();
    const templates = await session.templates();
    for (const server of plan.servers) {
      for (const uri of server.resources) insist(resources.some((one) => one.includes(uri)), `not listed: ${uri}`);
      for (const uri of server.templates) insist(templates.some((one) => one.includes(uri)), `template not listed: ${uri}`);
    }
    return `${resources.length} resources, ${templates.length} templates`;
  });
  for (const { name: server, call } of plan.servers) {
    await check(`call ${server}/${call.tool}`, async () => {
      const [name, way] = find(tools, server, call.tool);
      insist(name, `tool not found: ${way}`);
      const { text, isError } = await session.call(name, call.arguments);
      insist(!isError, `${name} answered an error: ${text}`);
      insist(text.includes(call.expect), `${name} answered ${JSON.stringify(text)}, which lacks ${JSON.stringify(call.expect)}`);
      return `${name} (${way})`;
    });
  }
  await check("get prompt", async () => {
    const [name, way] = find(prompts, plan.prompt.server, plan.prompt.name);
    insist(name, `prompt not found: ${way}`);
    const text = await session.prompt(name, plan.prompt.arguments);
    insist(text.includes(plan.prompt.expect), `${name} answered ${JSON.stringify(text)}`);
    return `${name} (${way})`;
  });
  await check("read resource", async () => {
    const uri = resources.find((one) => one.includes(plan.resource.uri));
    insist(uri, `${plan.resource.uri} is not listed`);
    const text = await session.read(uri);
    insist(text.includes(plan.resource.expect), `${uri} reads ${JSON.stringify(text.slice(0, 200))}`);
    return `${uri}, ${text.length} characters`;
  });
  await check("progress", async () => {
    const job = plan.progress;
    const [name] = find(tools, job.server, job.tool);
    insist(name, "tool not found");
    const seen = [];
    const { text, isError } = await session.call(name, job.arguments, (note) => seen.push(note.progress));
    insist(!isError && text.includes(job.expect), `${name} answered ${JSON.stringify(text)}`);
    // The SDK may drop the last note when the result arrives in the same read.
    insist(seen.length >= job.steps - 1, `${seen.length} progress notes instead of ${job.steps}: ${seen}`);
    insist(seen.every((note, at) => at === 0 || seen[at - 1] <= note), `progress went backwards: ${seen}`);
    return `${seen.length} notes`;
  });
  await check("unknown tool", async () => {
    let answer;
    try {
      answer = await session.call("no_such_tool_anywhere", {});
    } catch (error) {
      return reason(error);
    }
    insist(answer.isError, `an unknown tool answered ${JSON.stringify(answer.text)}`);
    return answer.text;
  });
}

// Runs the plan named on the command line; `connect(plan)` gives `{ session, detail, close }`.
export async function main(connect) {
  const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));
  setTimeout(() => {
    say("deadline", false, 0, `not finished within ${plan.total_seconds} s`);
    process.exit(1);
  }, plan.total_seconds * 1000).unref();

  let started = performance.now();
  let connection;
  try {
    connection = await within(plan.check_seconds, () => connect(plan));
  } catch (error) {
    say("connect", false, started, reason(error));
    console.error(error);
    process.exit(1);
  }
  say("connect", true, started, connection.detail());
  await runAll(plan, connection.session);
  started = performance.now();
  try {
    await within(plan.check_seconds, connection.close);
    say("disconnect", true, started, "");
  } catch (error) {
    say("disconnect", false, started, reason(error));
  }
  process.exit(0);
}
