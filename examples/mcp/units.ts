// Units of length: an MCP server in TypeScript (`npm install`, run by tsx).

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const METERS = { km: 1000, mile: 1609.344 };
const unit = z.enum(["km", "mile"]);

const server = new McpServer({ name: "units", version: "1.0.0" });

server.registerTool(
  "convert_length",
  {
    description: "Convert a length from one unit to another.",
    inputSchema: { value: z.number(), from: unit, to: unit },
    outputSchema: { value: z.number(), text: z.string() },
    annotations: { readOnlyHint: true },
  },
  async ({ value, from, to }) => {
    const result = { value: (value * METERS[from]) / METERS[to], text: "" };
    result.text = `${value} ${from} are ${result.value.toFixed(2)} ${to}`;
    return { content: [{ type: "text", text: result.text }], structuredContent: result };
  },
);

await server.connect(new StdioServerTransport());
