// The TypeScript SDK v1 as a client: stdio, Streamable HTTP and the older HTTP+SSE.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { main, pages, words } from "./checks.mjs";

function transportFor(plan) {
  if (plan.transport === "stdio") {
    const [command, ...args] = plan.command;
    return new StdioClientTransport({ command, args, cwd: plan.folder });
  }
  const url = new URL(plan.url);
  return plan.transport === "sse" ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url);
}

await main(async (plan) => {
  const client = new Client({ name: "interop-ts-v1", version: "1.0.0" });
  const transport = transportFor(plan);
  let revision = "revision not told";
  transport.setProtocolVersion = ((inner) => (version) => {
    revision = version;
    inner?.call(transport, version);
  })(transport.setProtocolVersion);
  await client.connect(transport);

  const session = {
    tools: async () => (await pages((page) => client.listTools(page), "tools")).map((tool) => tool.name),
    prompts: async () => (await pages((page) => client.listPrompts(page), "prompts")).map((prompt) => prompt.name),
    resources: async () => (await pages((page) => client.listResources(page), "resources")).map((one) => one.uri),
    templates: async () =>
      (await pages((page) => client.listResourceTemplates(page), "resourceTemplates")).map((one) => one.uriTemplate),
    call: async (name, args, onprogress) => {
      const result = await client.callTool({ name, arguments: args }, undefined, { onprogress });
      return { text: words(result.content), isError: result.isError ?? false };
    },
    prompt: async (name, args) => words((await client.getPrompt({ name, arguments: args })).messages.map((one) => one.content)),
    read: async (uri) => words((await client.readResource({ uri })).contents),
  };
  const detail = () => {
    const info = client.getServerVersion();
    return `${info?.name} ${info?.version}, ${revision}`;
  };
  const close = async () => {
    if (plan.transport === "http") await transport.terminateSession();
    await client.close();
  };
  return { session, detail, close };
});
