// Functions of clients in chat completions: OpenAI's library and the AI SDK against a `docent dev` of its own, whose chat model is a
// script that calls a function once and then says what it returned.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createOpenAI } from "@ai-sdk/openai";
import * as ai from "ai";
import * as ai6 from "ai6";
import { createOpenAI as createOpenAI6 } from "ai6-openai";
import OpenAI from "openai";

const PROGRAM = process.env.DOCENT_TEST_PROGRAM;
const QUESTION = "How is the weather in Rome?";
const EMAIL = "user@example.org";

const folder = mkdtempSync(join(tmpdir(), "docent-functions-"));
let model, service, base, key;

// Answers with the output of a function, or with a call of it.
function answer({ messages }) {
  const last = messages.at(-1);
  if (last.role === "tool") return { content: `It is ${last.content}.` };
  const call = { index: 0, id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } };
  return { content: "Let me see. ", tool_calls: [call] };
}

async function reply(request, response) {
  let body = "";
  for await (const part of request) body += part;
  const delta = answer(JSON.parse(body));
  const chunk = (delta, finish_reason) => {
    const choices = [{ index: 0, delta, finish_reason }];
    response.write(`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`);
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  chunk({ role: "assistant", ...delta }, null);
  chunk({}, delta.tool_calls ? "tool_calls" : "stop");
  response.end("data: [DONE]\n\n");
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

before(async () => {
  model = createServer(reply).listen(0, "127.0.0.1");
  await new Promise((done) => model.once("listening", done));
  const address = `127.0.0.1:${await freePort()}`;
  const env = {
    ...process.env,
    DOCENT_BIND_ADDRESS: address,
    DOCENT_DATA_DIR: folder,
    DOCENT_AUTH_BACKENDS: "jwt,api_key",
    DOCENT_LLM_BASE_URL: `http://127.0.0.1:${model.address().port}/v1`,
    DOCENT_LLM_MODEL: "m",
  };
  service = spawn(PROGRAM, ["dev", "--no-sample"], { env, stdio: "ignore" });
  base = `http://${address}`;
  const isReady = () => fetch(`${base}/health/ready`).then(({ ok }) => ok, () => false);
  for (let n = 0; !(await isReady()); n += 1) {
    assert.ok(n < 600 && service.exitCode === null, "the service did not start");
    await sleep(100);
  }
  const run = (args, input) => execFileSync(PROGRAM, args, { env, input, encoding: "utf8" });
  run(["users", "create", "--dev", "--password-stdin", EMAIL], "a password for one run\n");
  key = JSON.parse(run(["apikeys", "create", "--dev", "--name", "functions", "--scopes", "read,chat", "--json", EMAIL])).key;
});

after(async () => {
  service?.kill("SIGTERM");
  model?.close();
  if (service) await new Promise((done) => service.once("exit", done));
  rmSync(folder, { recursive: true, force: true });
});

test("OpenAI's library runs the function that the model calls", async () => {
  const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0 });
  const weather = {
    type: "function",
    function: {
      name: "weather",
      description: "The weather of a city.",
      parameters: { type: "object", properties: { city: { type: "string" } } },
      parse: JSON.parse,
      function: ({ city }) => `sunny in ${city}`,
    },
  };
  for (const stream of [false, true]) {
    const messages = [{ role: "user", content: QUESTION }];
    const runner = client.chat.completions.runTools({ model: "chat", messages, tools: [weather], stream });
    assert.equal(await runner.finalContent(), "It is sunny in Rome.");
  }
});

for (const [name, sdk, create] of [["current", ai, createOpenAI], ["previous", ai6, createOpenAI6]]) {
  test(`${name} version of the AI SDK runs the function that the model calls`, async () => {
    const weather = sdk.tool({
      description: "The weather of a city.",
      inputSchema: sdk.jsonSchema({ type: "object", properties: { city: { type: "string" } } }),
      execute: ({ city }) => `sunny in ${city}`,
    });
    const chat = create({ baseURL: `${base}/v1`, apiKey: key }).chat("chat");
    const request = { model: chat, prompt: QUESTION, tools: { weather }, stopWhen: sdk.stepCountIs(3), maxRetries: 0 };
    const { steps, text } = await sdk.generateText(request);
    assert.deepEqual(steps.map(({ finishReason }) => finishReason), ["tool-calls", "stop"]);
    assert.equal(text, "It is sunny in Rome.");
    const streamed = sdk.streamText(request);
    const words = [];
    for await (const word of streamed.textStream) words.push(word);
    assert.equal(words.join(""), "Let me see. It is sunny in Rome.");
  });
}
