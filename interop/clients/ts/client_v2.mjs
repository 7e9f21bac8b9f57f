// The TypeScript SDK v2 as a client: stdio and Streamable HTTP, in whichever era it negotiates.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { main, pages, words } from "./checks.mjs";

function transportFor(plan) {
  if (plan.transport === "stdio") {
    const [command, ...args] = plan.command;
    return new StdioClientTransport({ command, args, cwd: plan.folder });
  }
  return new StreamableHTTPClientTransport(new URL(plan.url));
}

await main(async (plan) => {
  const client = new Client(
    { name: "interop-ts-v2", version: "1.0.0" },
    { versionNegotiation: { mode: plan.mode ?? "auto" } },
  );
  const transport = transportFor(plan);
  await client.connect(transport);

  const session = {
    tools: async () => (await pages((page) => client.listTools(page), "tools")).map((tool) => tool.name),
    prompts: async () => (await pages((page) => client.listPrompts(page), "prompts")).map((prompt) => prompt.name),
    resources: async () => (await pages((page) => client.listResources(page), "resources")).map((one) => one.uri),
    templates: async () =>
      (await pages((page) => client.listResourceTemplates(page), "resourceTemplates")).map((one) => one.uriTemplate),
    call: async (name, args, onprogress) => {
      const result = await client.callTool({ name, arguments: args }, onprogress ? { onprogress } : undefined);
      return { text: words(result.content), isError: result.isError ?? false };
    },
    prompt: async (name, args) => words((await client.getPrompt({ name, arguments: args })).messages.map((one) => one.content)),
    read: async (uri) => words((await client.readResource({ uri })).contents),
  };
  const detail = () => {
    const info = client.getServerVersion();
    return `${info?.name} ${info?.version}, ${client.getNegotiatedProtocolVersion()}`;
  };
  return { session, detail, close: () => client.close() };
});
