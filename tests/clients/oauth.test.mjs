// The OAuth client of the official JavaScript library connects to `/mcp` by a link, with the consent given in Chromium; and the official
// conformance scenarios for authorization servers.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import test from "node:test";
import { promisify } from "node:util";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Browser } from "./browser.mjs";
import { GUIDE, QUESTION, SERVER } from "./service.mjs";

const NAME = "JavaScript client";
const CONFORMANCE = "node_modules/conformance-authorization/dist/index.js";

// Receives the browser that returns to the application.
const callback = createServer((request, response) => {
  response.end("done");
  if (request.url.startsWith("/callback")) callback.emit("returned", new URL(request.url, "http://127.0.0.1"));
});
test.before(() => new Promise((resolve) => { callback.listen(0, "127.0.0.1", resolve); }));
test.after(() => { callback.closeAllConnections(); callback.close(); });

// Keeps what the library asks a program to keep.
class Application {
  constructor() { this.redirectUrl = `http://127.0.0.1:${callback.address().port}/callback`; }
  get clientMetadata() {
    return { client_name: NAME, redirect_uris: [this.redirectUrl], grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] };
  }
  state() { return "a state"; }
  clientInformation() { return this.client; }
  saveClientInformation(client) { this.client = client; }
  tokens() { return this.saved; }
  saveTokens(tokens) { this.saved = tokens; }
  redirectToAuthorization(url) { this.page = url; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  codeVerifier() { return this.verifier; }
  invalidateCredentials() { this.saved = undefined; }
}

async function connect(application) {
  const transport = new StreamableHTTPClientTransport(new URL(`${SERVER}/mcp`), { authProvider: application });
  const client = new Client({ name: "test", version: "1" });
  try {
    await client.connect(transport);
  } catch (error) {
    return { transport, error };
  }
  return { transport, client };
}

test("application is connected by a link, refreshes its tokens and is disconnected", async () => {
  const browser = await Browser.open();
  try {
    const application = new Application();
    const first = await connect(application);
    assert.ok(first.error instanceof UnauthorizedError, first.error);
    assert.equal(application.page.searchParams.get("resource"), `${SERVER}/mcp`);
    assert.equal(application.page.searchParams.get("scope"), "read");

    const returned = once(callback, "returned");
    await browser.allow(application.page);
    const [{ searchParams: answer }] = await returned;
    assert.equal(answer.get("state"), "a state");
    assert.equal(answer.get("iss"), SERVER);
    await first.transport.finishAuth(answer.get("code"));

    const { client, error } = await connect(application);
    assert.ifError(error);
    const found = await client.callTool({ name: "search_docs", arguments: { query: QUESTION } });
    assert.equal(found.structuredContent.results[0].title, GUIDE);

    const before = { ...application.saved };
    application.saved = { ...before, access_token: "no longer valid" };
    assert.equal((await client.listTools()).tools.length, 5);
    assert.notEqual(application.saved.access_token, before.access_token);
    assert.notEqual(application.saved.refresh_token, before.refresh_token);
    await client.close();

    await browser.disconnect(NAME);
    application.page = undefined;
    const after = await connect(application);
    assert.ok(after.error instanceof UnauthorizedError, after.error);
    assert.ok(application.page, "the access is asked for again");
  } finally {
    await browser.close();
  }
});

async function conformance(...options) {
  const values = [CONFORMANCE, "authorization", "--url", SERVER, ...options];
  return promisify(execFile)(process.execPath, values, { timeout: 60_000 }).catch(({ stdout, stderr }) => assert.fail(stdout + stderr));
}

test("scenario authorization-server-metadata-endpoint passes", async () => {
  const { stdout } = await conformance("--scenario", "authorization-server-metadata-endpoint");
  assert.match(stdout, /\d+ passed|Passed: [1-9]/i, stdout);
});
