// The official OpenAI client for JavaScript against `/v1` of a running service.

import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import test from "node:test";
import OpenAI from "openai";
import { GUIDE, KEY, QUESTION, SERVER } from "./service.mjs";

const client = (apiKey = KEY) => new OpenAI({ baseURL: `${SERVER}/v1`, apiKey, maxRetries: 0 });
const asked = { model: "chat", messages: [{ role: "user", content: QUESTION }] };

function citesTheGuide(annotations, text) {
  assert.ok(annotations.length > 0);
  const [{ type, url_citation: place, file_citation: own }] = annotations;
  assert.deepEqual([type, place.title, own.filename, own.page], ["url_citation", GUIDE, GUIDE, 4]);
  assert.equal(place.url, `${SERVER}/chat#document=${own.file_id}&page=4`);
  assert.equal([...text].slice(place.start_index, place.end_index).join(""), `${GUIDE}, page 4`);
}

test("models list the agents", async () => {
  const models = await client().models.list();
  assert.deepEqual(models.data.map((model) => model.id), ["chat"]);
});

test("completion has sources", async () => {
  const answer = await client().chat.completions.create(asked);
  const [{ message, finish_reason: reason }] = answer.choices;
  assert.equal(reason, "stop");
  assert.match(message.content, /15 minutes/);
  citesTheGuide(message.annotations, message.content);
});

test("streamed completion has sources and usage", async () => {
  const options = { stream: true, stream_options: { include_usage: true } };
  const stream = await client().chat.completions.create({ ...asked, ...options });
  const words = [];
  let cited, usage;
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta ?? {};
    if (delta.content) words.push(delta.content);
    cited = delta.annotations ?? cited;
    usage = chunk.usage ?? usage;
  }
  assert.ok(words.length > 1);
  assert.match(words.join(""), /15 minutes/);
  citesTheGuide(cited, words.join(""));
  assert.ok(usage.total_tokens > 0);
});

test("client assembles the stream", async () => {
  const collected = await client().chat.completions.stream(asked).finalChatCompletion();
  assert.match(collected.choices[0].message.content, /15 minutes/);
});

test("files are uploaded to vector stores and searched", async () => {
  const service = client();
  const store = await service.vectorStores.create({ name: "Handbooks" });
  const handbook = () => createReadStream("handbook.pdf");
  const attached = await service.vectorStores.files.uploadAndPoll(store.id, handbook());
  assert.deepEqual([attached.status, attached.last_error], ["completed", null]);
  const batch = await service.vectorStores.fileBatches.uploadAndPoll(store.id, { files: [handbook(), handbook()] });
  assert.deepEqual([batch.status, batch.file_counts.completed], ["completed", 2]);
  const query = "How long is the return period for pumps?";
  const found = await service.vectorStores.search(store.id, { query, max_num_results: 5 });
  const [{ filename, score, attributes }] = found.data;
  assert.equal(filename, "handbook.pdf");
  assert.ok(score > 0 && score <= 1 && attributes.page >= 1 && attributes.link.includes(`&page=${attributes.page}`));
  const files = [];
  for await (const { id } of service.vectorStores.files.list(store.id, { limit: 1 })) files.push(id);
  assert.equal(files.length, 3);
  await service.vectorStores.delete(store.id);
  for (const id of files) assert.equal((await service.files.delete(id)).deleted, true);
});

test("responses search vector stores and are stored", async () => {
  const tools = [{ type: "file_search", vector_store_ids: ["vs_00000000000000000000000000000001"] }];
  const request = { model: "chat", input: QUESTION, tools, include: ["file_search_call.results"] };
  const answers = (response) => {
    assert.match(response.output_text, /15 minutes/);
    assert.equal(response.output[0].results[0].filename, GUIDE);
    const [{ type, filename, index }] = response.output.at(-1).content[0].annotations;
    assert.deepEqual([type, filename], ["file_citation", GUIDE]);
    assert.ok([...response.output_text].slice(index).join("").startsWith(`${GUIDE}, page 4`));
  };
  const response = await client().responses.create(request);
  answers(response);
  const stream = client().responses.stream({ ...request, store: false });
  const numbers = [];
  for await (const event of stream) numbers.push(event.sequence_number);
  assert.deepEqual(numbers, [...numbers.keys()]);
  answers(await stream.finalResponse());
  const items = await client().responses.inputItems.list(response.id);
  assert.equal(items.data[0].content[0].text, QUESTION);
  await client().responses.delete(response.id);
  await assert.rejects(client().responses.retrieve(response.id), OpenAI.NotFoundError);
});

test("errors have the client's error types", async () => {
  const refused = async (kind, code, changes, key) => {
    const asking = client(key).chat.completions.create({ ...asked, ...changes });
    const error = await asking.then(() => assert.fail("it was not refused"), (refusal) => refusal);
    assert.ok(error instanceof kind, error);
    assert.equal(error.code, code);
    return error;
  };
  await refused(OpenAI.AuthenticationError, "invalid_api_key", {}, "dk_wrong");
  await refused(OpenAI.NotFoundError, "model_not_found", { model: "gpt" });
  assert.equal((await refused(OpenAI.BadRequestError, null, { n: 2 })).param, "n");
  await refused(OpenAI.BadRequestError, null, { messages: [], stream: true });
});
