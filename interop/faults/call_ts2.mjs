// Connects with the TypeScript SDK v2, lists, calls the tool `t`, and prints what came of it as one JSON line.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const plan = JSON.parse(process.argv[2]);
const say = (outcome) => new Promise((done) => process.stdout.write(`${JSON.stringify(outcome)}\n`, done));

try {
  const client = new Client({ name: "faults-ts-v2", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  const [command, ...args] = plan.command ?? [];
  await client.connect(
    plan.command ? new StdioClientTransport({ command, args }) : new StreamableHTTPClientTransport(new URL(plan.url)),
  );
  await client.listTools();
  await say({ ok: true, result: await client.callTool({ name: "t", arguments: {} }) });
} catch (error) {
  await say({ ok: false, error: `${error?.name}: ${error?.message ?? error}`.slice(0, 300) });
}
process.exit(0);
