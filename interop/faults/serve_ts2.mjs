// A small server with the TypeScript SDK v2: `serve_ts2.mjs stdio`, or `serve_ts2.mjs http PORT`.

import { createServer } from "node:http";

import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const text = (text) => ({ content: [{ type: "text", text }] });

function make() {
  const server = new McpServer({ name: "ts2", version: "1.0.0" });
  const tool = (name, description, shape, run) =>
    server.registerTool(name, { description, inputSchema: z.object(shape) }, run);
  tool("echo", "Gives the text back.", { text: z.string() }, async ({ text: said }) => text(said));
  tool("slow", "Answers after so many milliseconds.", { ms: z.number(), tag: z.string().optional() }, async ({ ms, tag }) => {
    await new Promise((done) => setTimeout(done, ms));
    return text(tag ?? "");
  });
  tool("boom", "Fails.", {}, async () => {
    throw new Error("boom");
  });
  return server;
}

const [kind, port] = process.argv.slice(2);
if (kind === "stdio") await serveStdio(make);
else {
  const handle = toNodeHandler(createMcpHandler(make));
  // The SDK leaves the path to its user.
  const serve = (request, response) => (request.url === "/mcp" ? handle(request, response) : response.writeHead(404).end());
  createServer(serve).listen(Number(port), "127.0.0.1");
}
