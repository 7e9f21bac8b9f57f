// The TypeScript SDK v1 as a client of our server.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

import { main, pages, words } from "./features.mjs";

function transportFor(plan) {
  if (plan.transport === "stdio") {
    const [command, ...args] = plan.command;
    return new StdioClientTransport({ command, args });
  }
  const url = new URL(plan.url);
  return plan.transport === "sse" ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url);
}

await main(async (plan) => {
  const client = new Client(
    { name: "interop-ts-v1", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} }, sampling: {} } },
  );
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: plan.elicit.content }));
  client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    role: "assistant",
    model: "model",
    content: { type: "text", text: "a sampled answer" },
  }));
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
    call: async (name, args, options) => {
      const result = await client.callTool({ name, arguments: args }, undefined, options);
      return { text: words(result.content), failed: result.isError ?? false, structured: result.structuredContent };
    },
    read: async (uri) => words((await client.readResource({ uri })).contents),
    updated: async (uri, trigger) => {
      const told = new Promise((resolve) =>
        client.setNotificationHandler(ResourceUpdatedNotificationSchema, (note) => note.params.uri === uri && resolve()),
      );
      await client.subscribeResource({ uri });
      await trigger();
      await told;
      await client.unsubscribeResource({ uri });
    },
    prompt: async (name, args) => words((await client.getPrompt({ name, arguments: args })).messages.map((one) => one.content)),
    complete: async (name, argument, value) =>
      (await client.complete({ ref: { type: "ref/prompt", name }, argument: { name: argument, value } })).completion.values,
  };
  const close = async () => {
    if (plan.transport === "http") await transport.terminateSession();
    await client.close();
  };
  return { session, revision: () => revision, close };
});
