// The TypeScript SDK v2 as a client of our server, in whichever era it negotiates or is held to.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { main, pages, words } from "./features.mjs";

function transportFor(plan) {
  if (plan.transport === "stdio") {
    const [command, ...args] = plan.command;
    return new StdioClientTransport({ command, args });
  }
  return new StreamableHTTPClientTransport(new URL(plan.url));
}

await main(async (plan) => {
  const client = new Client(
    { name: "interop-ts-v2", version: "1.0.0" },
    {
      versionNegotiation: { mode: plan.mode ?? "auto" },
      capabilities: { elicitation: { form: {} }, sampling: {} },
    },
  );
  client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: plan.elicit.content }));
  client.setRequestHandler("sampling/createMessage", async () => ({
    role: "assistant",
    model: "model",
    content: { type: "text", text: "a sampled answer" },
  }));
  await client.connect(transportFor(plan));

  const session = {
    tools: async () => (await pages((page) => client.listTools(page), "tools")).map((tool) => tool.name),
    prompts: async () => (await pages((page) => client.listPrompts(page), "prompts")).map((prompt) => prompt.name),
    resources: async () => (await pages((page) => client.listResources(page), "resources")).map((one) => one.uri),
    templates: async () =>
      (await pages((page) => client.listResourceTemplates(page), "resourceTemplates")).map((one) => one.uriTemplate),
    call: async (name, args, options) => {
      const result = await client.callTool({ name, arguments: args }, options);
      return { text: words(result.content), failed: result.isError ?? false, structured: result.structuredContent };
    },
    read: async (uri) => words((await client.readResource({ uri })).contents),
    updated: async (uri, trigger) => {
      const told = new Promise((resolve) =>
        client.setNotificationHandler("notifications/resources/updated", (note) => note.params.uri === uri && resolve()),
      );
      const modern = client.getProtocolEra() === "modern";
      const subscription = modern ? await client.listen({ resourceSubscriptions: [uri] }) : undefined;
      if (!modern) await client.subscribeResource({ uri });
      await trigger();
      await told;
      await (modern ? subscription.close() : client.unsubscribeResource({ uri }));
    },
    prompt: async (name, args) => words((await client.getPrompt({ name, arguments: args })).messages.map((one) => one.content)),
    complete: async (name, argument, value) =>
      (await client.complete({ ref: { type: "ref/prompt", name }, argument: { name: argument, value } })).completion.values,
  };
  return { session, revision: () => client.getNegotiatedProtocolVersion(), close: () => client.close() };
});
