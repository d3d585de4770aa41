// The official conformance scenarios of the Model Context Protocol that apply to `/mcp`. docs/reference/compatibility.md lists the others.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer, request } from "node:http";
import test from "node:test";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { AUTHORITY, GUIDE, QUESTION, SERVER } from "./service.mjs";

const SCENARIOS = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"];
const PROGRAM = "node_modules/@modelcontextprotocol/conformance/dist/index.js";

// The program sends no credentials, so a proxy on another port adds them.
const proxy = createServer((incoming, outgoing) => {
  const { port } = proxy.address();
  const rename = (text) => text?.replace(`:${port}`, `:${new URL(SERVER).port}`);
  const { host, origin, ...others } = incoming.headers;
  const headers = { ...others, ...AUTHORITY, host: rename(host), ...(origin && { origin: rename(origin) }) };
  const forwarded = request(`${SERVER}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  });
  incoming.pipe(forwarded);
});
test.before(() => new Promise((resolve) => { proxy.listen(0, "127.0.0.1", resolve); }));
test.after(() => { proxy.closeAllConnections(); proxy.close(); });

for (const scenario of SCENARIOS) {
  test(`scenario ${scenario} passes`, async () => {
    const url = `http://localhost:${proxy.address().port}/mcp`;
    const values = [PROGRAM, "server", "--url", url, "--scenario", scenario];
    const { stdout } = await promisify(execFile)(process.execPath, values).catch(({ stdout: out, stderr }) => assert.fail(out + stderr));
    assert.match(stdout, /\d+ passed|Passed: [1-9]/i, stdout);
  });
}

test("client for JavaScript validates the results of all tools", async () => {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${SERVER}/mcp`), { requestInit: { headers: AUTHORITY } }));
  // The client checks structured content with the schemas of this list.
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), ["search_docs", "list_documents", "get_document_page", "search", "fetch"]);
  const call = async (name, values) => (await client.callTool({ name, arguments: values })).structuredContent;
  const { results: [passage] } = await call("search_docs", { query: QUESTION });
  assert.equal(passage.title, GUIDE);
  assert.ok((await call("list_documents", {})).documents.length > 0);
  assert.match((await call("get_document_page", { document_id: passage.document_id, page: 4 })).text, /15 minutes/);
  const { results: [result] } = await call("search", { query: QUESTION });
  assert.ok(result.url.startsWith(`${SERVER}/chat#document=`), result.url);
  assert.match((await call("fetch", { id: result.id })).text, /15 minutes/);
  await client.close();
});
