// The TypeScript SDK v1 as a server behind our client: `server_v1.mjs stdio`, `server_v1.mjs http PORT`, or `sse PORT`.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { ListPromptsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";

let stopped = 0;
const text = (words) => ({ content: [{ type: "text", text: words }] });
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function build() {
  const server = new McpServer(
    { name: "interop-ts-v1", version: "1.0.0" },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
  );
  const progress = (extra, params) => {
    const progressToken = extra._meta?.progressToken;
    if (progressToken === undefined) return undefined;
    return extra.sendNotification({ method: "notifications/progress", params: { progressToken, ...params } });
  };
  server.registerTool("echo", { inputSchema: { text: z.string() } }, async (args) => text(args.text));
  server.registerTool(
    "add",
    { inputSchema: { left: z.number(), right: z.number() }, outputSchema: { sum: z.number() } },
    async ({ left, right }) => ({ ...text(`${left + right}`), structuredContent: { sum: left + right } }),
  );
  server.registerTool("progress", {}, async (extra) => {
    for (let step = 1; step <= 3; step += 1) {
      await progress(extra, { progress: step, total: 3 });
      await later(50);
    }
    return text("done");
  });
  server.registerTool("slow", { inputSchema: { ms: z.number() } }, async ({ ms }, extra) => {
    extra.signal.addEventListener("abort", () => (stopped += 1));
    await progress(extra, { progress: 1 });
    await Promise.race([later(ms), new Promise((resolve) => extra.signal.addEventListener("abort", resolve))]);
    return text("slow");
  });
  server.registerTool("stops", {}, async () => text(`stopped ${stopped}`));
  const ask = (extra, params) => server.server.elicitInput(params, { relatedRequestId: extra.requestId });
  server.registerTool("ask", {}, async (extra) => {
    const properties = { name: { type: "string" } };
    const requestedSchema = { type: "object", properties, required: ["name"] };
    const answer = await ask(extra, { message: "What is your name?", requestedSchema });
    return text(`${answer.action} ${answer.content?.name}`);
  });
  server.registerTool("visit", {}, async (extra) => {
    const page = { mode: "url", message: "Go there.", url: "https://example.invalid/page", elicitationId: "visit-1" };
    return text((await ask(extra, page)).action);
  });
  server.registerTool("sample", {}, async (extra) => {
    const messages = [{ role: "user", content: { type: "text", text: "Say something." } }];
    const said = await server.server.createMessage({ messages, maxTokens: 20 }, { relatedRequestId: extra.requestId });
    return text(`the model: ${said.content.text}`);
  });
  server.registerTool("roots", {}, async (extra) => {
    const { roots } = await server.server.listRoots({}, { relatedRequestId: extra.requestId });
    return text(roots.map((root) => `${root.uri} ${root.name}`).join(" "));
  });
  server.registerTool("log", {}, async (extra) => {
    for (const level of ["debug", "warning", "error"]) {
      const params = { level, logger: "interop", data: `a line at ${level}` };
      await extra.sendNotification({ method: "notifications/message", params });
    }
    return text("logged");
  });
  server.registerTool("meta", {}, async (extra) => {
    const seen = Object.fromEntries(["traceparent", "vendor/y"].map((key) => [key, extra._meta?.[key]]));
    return { ...text(JSON.stringify(seen)), _meta: { "vendor/z": { deep: [1.5, null] } }, odd: { deep: [1.5, null] } };
  });
  server.registerTool("sad", {}, async () => {
    throw new Error("it fails");
  });
  server.registerTool("touch", {}, async () => {
    await server.server.sendResourceUpdated({ uri: "interop://watched" });
    return text("touched");
  });
  server.registerResource("watched", "interop://watched", {}, async (uri) => ({
    contents: [{ uri: uri.href, text: "watched text" }],
  }));
  const template = new ResourceTemplate("interop://item/{id}", { list: undefined });
  server.registerResource("item", template, {}, async (uri, { id }) => ({ contents: [{ uri: uri.href, text: `item ${id}` }] }));
  const name = completable(z.string(), (typed) => ["ann", "anton", "bea"].filter((one) => one.startsWith(typed)));
  server.registerPrompt("greet", { argsSchema: { name } }, async (args) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${args.name}.` } }],
  }));
  // The SDK would list all on one page.
  server.server.setRequestHandler(ListPromptsRequestSchema, async ({ params }) =>
    params?.cursor === "2"
      ? { prompts: [{ name: "second" }] }
      : { prompts: [{ name: "greet", arguments: [{ name: "name", required: true }] }], nextCursor: "2" },
  );
  server.server.setRequestHandler(z.object({ method: z.literal("resources/subscribe") }).passthrough(), async () => ({}));
  server.server.setRequestHandler(z.object({ method: z.literal("resources/unsubscribe") }).passthrough(), async () => ({}));
  return server;
}

const sessions = new Map();

async function streamable(request, response) {
  let transport = sessions.get(request.headers["mcp-session-id"]);
  if (!transport) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await build().connect(transport);
  }
  await transport.handleRequest(request, response);
}

async function pair(request, response) {
  const { pathname, searchParams } = new URL(request.url, "http://127.0.0.1");
  if (pathname === "/sse") {
    const transport = new SSEServerTransport("/messages", response);
    sessions.set(transport.sessionId, transport);
    await build().connect(transport);
  } else {
    const transport = sessions.get(searchParams.get("sessionId"));
    if (transport) await transport.handlePostMessage(request, response);
    else response.writeHead(404).end();
  }
}

if (process.argv[2] === "stdio") {
  await build().connect(new StdioServerTransport());
} else {
  const serve = process.argv[2] === "sse" ? pair : streamable;
  createServer(serve).listen(Number(process.argv[3]), "127.0.0.1", () => console.error("listening"));
}
