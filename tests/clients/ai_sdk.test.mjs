// Vercel's AI SDK, in its current and its previous major version, against `/v1` of a running service.

import assert from "node:assert/strict";
import test from "node:test";
import * as ai from "ai";
import * as ai6 from "ai6";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAI as createOpenAI6 } from "ai6-openai";
import { GUIDE, KEY, QUESTION, SERVER } from "./service.mjs";

const settings = { baseURL: `${SERVER}/v1`, apiKey: KEY };
const versions = { current: [ai, createOpenAI], previous: [ai6, createOpenAI6] };

function citesTheGuide(sources) {
  assert.ok(sources.length > 0);
  assert.equal(sources[0].title, GUIDE);
  assert.match(sources[0].url, new RegExp(`^${SERVER}/chat#document=[0-9a-f-]{36}&page=4$`));
}

for (const [name, [sdk, create]] of Object.entries(versions)) {
  const model = create(settings).chat("chat");

  test(`${name} version has text and sources`, async () => {
    const { text, sources, finishReason } = await sdk.generateText({ model, prompt: QUESTION });
    assert.match(text, /15 minutes/);
    assert.equal(finishReason, "stop");
    citesTheGuide(sources);
  });

  test(`${name} version streams text and sources`, async () => {
    const answer = sdk.streamText({ model, prompt: QUESTION });
    const words = [];
    for await (const word of answer.textStream) words.push(word);
    assert.ok(words.length > 1);
    assert.match(words.join(""), /15 minutes/);
    citesTheGuide(await answer.sources);
  });

  test(`${name} version limits the text`, async () => {
    const { text, finishReason } = await sdk.generateText({ model, prompt: QUESTION, maxOutputTokens: 5 });
    assert.ok(text.length > 0 && !/15 minutes/.test(text), text);
    assert.equal(finishReason, "length");
  });

  test(`${name} version searches vector stores with its default provider`, async () => {
    const openai = create(settings);
    const file_search = openai.tools.fileSearch({ vectorStoreIds: ["vs_00000000000000000000000000000001"], maxNumResults: 3 });
    const request = { model: openai("chat"), tools: { file_search } };
    const cites = (sources) => assert.equal(sources.find((source) => source.sourceType === "document").filename, GUIDE);
    const answer = await sdk.generateText({ ...request, prompt: QUESTION });
    assert.match(answer.text, /15 minutes/);
    assert.equal(answer.finishReason, "stop");
    cites(answer.sources);
    const streamed = sdk.streamText({ ...request, prompt: QUESTION });
    const words = [];
    for await (const word of streamed.textStream) words.push(word);
    assert.match(words.join(""), /15 minutes/);
    cites(await streamed.sources);
    const followUp = { role: "user", content: "How long does a refresh token last?" };
    const messages = [{ role: "user", content: QUESTION }, ...answer.response.messages, followUp];
    assert.match((await sdk.generateText({ ...request, messages })).text, /refresh token/);
  });
}
