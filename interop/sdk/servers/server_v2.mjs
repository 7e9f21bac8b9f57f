// The TypeScript SDK v2 as a server behind our client: `server_v2.mjs stdio`, or `server_v2.mjs http PORT`.

import { createServer } from "node:http";

import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  McpServer,
  ResourceTemplate,
  acceptedContent,
  completable,
  createMcpHandler,
  inputRequired,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

let stopped = 0;
let touched = () => {};
const text = (words) => ({ content: [{ type: "text", text: words }] });
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function build() {
  const server = new McpServer(
    { name: "interop-ts-v2", version: "1.0.0" },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
  );
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, async (args) => text(args.text));
  server.registerTool(
    "add",
    {
      inputSchema: z.object({ left: z.number(), right: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    async ({ left, right }) => ({ ...text(`${left + right}`), structuredContent: { sum: left + right } }),
  );
  server.registerTool("progress", { inputSchema: z.object({}) }, async (_, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (let step = 1; step <= 3; step += 1) {
      await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: step, total: 3 } });
      await later(50);
    }
    return text("done");
  });
  server.registerTool("slow", { inputSchema: z.object({ ms: z.number() }) }, async ({ ms }, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    ctx.mcpReq.signal.addEventListener("abort", () => (stopped += 1));
    if (progressToken !== undefined)
      await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1 } });
    await Promise.race([later(ms), new Promise((resolve) => ctx.mcpReq.signal.addEventListener("abort", resolve))]);
    return text("slow");
  });
  server.registerTool("stops", { inputSchema: z.object({}) }, async () => text(`stopped ${stopped}`));
  const who = z.object({ name: z.string() });
  server.registerTool("ask", { inputSchema: z.object({}) }, async (_, ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, "who", who);
    if (answer) return text(`accept ${answer.name}`);
    const question = inputRequired.elicit({ message: "What is your name?", requestedSchema: who });
    return inputRequired({ inputRequests: { who: question } });
  });
  server.registerTool("sample", { inputSchema: z.object({}) }, async (_, ctx) => {
    const said = ctx.mcpReq.inputResponses?.model;
    if (said) return text(`the model: ${said.content?.text}`);
    const messages = [{ role: "user", content: { type: "text", text: "Say something." } }];
    return inputRequired({ inputRequests: { model: inputRequired.createMessage({ messages, maxTokens: 20 }) } });
  });
  server.registerTool("log", { inputSchema: z.object({}) }, async (_, ctx) => {
    for (const level of ["debug", "warning", "error"]) await ctx.mcpReq.log(level, `a line at ${level}`, "interop");
    return text("logged");
  });
  server.registerTool("roots", { inputSchema: z.object({}) }, async (_, ctx) => {
    const known = ctx.mcpReq.inputResponses?.where;
    if (known) return text(known.roots.map((root) => `${root.uri} ${root.name}`).join(" "));
    return inputRequired({ inputRequests: { where: inputRequired.listRoots() } });
  });
  server.registerTool("visit", { inputSchema: z.object({}) }, async (_, ctx) => {
    const answer = ctx.mcpReq.inputResponses?.page;
    if (answer) return text(answer.action);
    const page = inputRequired.elicitUrl({ message: "Go there.", url: "https://example.invalid/page" });
    return inputRequired({ inputRequests: { page } });
  });
  server.registerTool("meta", { inputSchema: z.object({}) }, async (_, ctx) => {
    const seen = Object.fromEntries(["traceparent", "vendor/y"].map((key) => [key, ctx.mcpReq._meta?.[key]]));
    return { ...text(JSON.stringify(seen)), _meta: { "vendor/z": { deep: [1.5, null] } }, odd: { deep: [1.5, null] } };
  });
  server.registerTool("sad", { inputSchema: z.object({}) }, async () => {
    throw new Error("it fails");
  });
  server.registerTool("touch", { inputSchema: z.object({}) }, async () => {
    await touched(server);
    return text("touched");
  });
  server.registerResource("watched", "interop://watched", {}, async (uri) => ({
    contents: [{ uri: uri.href, text: "watched text" }],
  }));
  const template = new ResourceTemplate("interop://item/{id}", { list: undefined });
  server.registerResource("item", template, {}, async (uri, { id }) => ({ contents: [{ uri: uri.href, text: `item ${id}` }] }));
  const name = completable(z.string(), (typed) => ["ann", "anton", "bea"].filter((one) => one.startsWith(typed)));
  server.registerPrompt("greet", { argsSchema: z.object({ name }) }, async (args) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${args.name}.` } }],
  }));
  server.server.setRequestHandler("resources/subscribe", async () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", async () => ({}));
  return server;
}

if (process.argv[2] === "stdio") {
  touched = (server) => server.server.sendResourceUpdated({ uri: "interop://watched" });
  serveStdio(build);
} else {
  const handler = createMcpHandler(build);
  touched = async () => handler.notify.resourceUpdated("interop://watched");
  createServer(toNodeHandler(handler)).listen(Number(process.argv[3]), "127.0.0.1", () => console.error("listening"));
}
