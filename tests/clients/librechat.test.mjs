// The calls of LibreChat to its RAG API, with the packages that it sends them with (`axios`, `form-data`, `jsonwebtoken`).

import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import test from "node:test";
import axios from "axios";
import FormData from "form-data";
import jwt from "jsonwebtoken";
import { SERVER } from "./service.mjs";

const RAG_API_URL = `${SERVER}/librechat`;
const FILE_ID = "0b1f4c52-3c0f-4a61-9f0e-5b6b2f1c9a10";

// Each call has a token of its own, which is valid for five minutes.
const token = (id) =>
  jwt.sign({ id }, process.env.DOCENT_LIBRECHAT_JWT_SECRET, { expiresIn: "5m", algorithm: "HS256" });
const authority = (id) => ({ Authorization: `Bearer ${token(id)}` });
const json = (id) => ({ ...authority(id), "Content-Type": "application/json" });

async function upload(path, user, fileId, file, { entity, storage } = {}) {
  const form = new FormData();
  form.append("file_id", fileId);
  form.append("file", createReadStream(file));
  if (entity) form.append("entity_id", entity);
  if (storage) form.append("storage_metadata", JSON.stringify(storage));
  const headers = { ...authority(user), accept: "application/json", ...form.getHeaders() };
  return (await axios.post(`${RAG_API_URL}/${path}`, form, { headers })).data;
}

const query = async (user, fileId, text, fields) =>
  (await axios.post(`${RAG_API_URL}/query`, { file_id: fileId, query: text, k: 5, ...fields }, { headers: json(user) })).data;

const remove = (user, fileId) =>
  axios.delete(`${RAG_API_URL}/documents`, { headers: { ...json(user), accept: "application/json" }, data: [fileId] });

const status = (expected) => (error) => error.response?.status === expected && typeof error.response.data.detail === "string";

test("a file is uploaded, asked and deleted", async () => {
  const [ada, bob] = ["65f0c0ffee65f0c0ffee65f0", "65f0c0ffee65f0c0ffee65f1"];
  const health = await axios.get(`${RAG_API_URL}/health`, { timeout: 10000 });
  assert.deepEqual([health.status, health.statusText, health.data.status], [200, "OK", "UP"]);
  const embedded = await upload("embed", ada, FILE_ID, "handbook.pdf", { entity: "agent_1", storage: { source: "local" } });
  assert.deepEqual([embedded.status, embedded.known_type, embedded.filename], [true, true, "handbook.pdf"]);
  const question = "How long is the return period for pumps?";
  for (const [user, fields] of [[ada, {}], [ada, { entity_id: "agent_1" }], [bob, { entity_id: "agent_1" }]]) {
    const data = await query(user, FILE_ID, question, fields);
    // As LibreChat reads it.
    const results = data.map(([docInfo, distance]) => ({
      filename: docInfo.metadata.source.split("/").pop(),
      content: docInfo.page_content,
      relevance: 1 - distance,
      page: docInfo.metadata.page || null,
    }));
    assert.ok(results.length > 0 && results.length <= 5);
    assert.equal(results[0].filename, "handbook.pdf");
    assert.ok(results[0].page >= 1 && results[0].content.length > 0);
    assert.ok(results.every(({ relevance }) => relevance >= 0 && relevance <= 1));
    const sorted = [...data].sort((a, b) => a[1] - b[1]);
    assert.deepEqual(data, sorted);
  }
  assert.deepEqual(await query(bob, FILE_ID, question), []);
  const context = await axios.get(`${RAG_API_URL}/documents/${FILE_ID}/context`, { headers: authority(ada) });
  assert.equal(typeof context.data, "string");
  assert.match(context.data, /^handbook\.pdf\n\n# PAGE 1\n/);
  await assert.rejects(remove(bob, FILE_ID), status(403));
  assert.equal((await remove(ada, FILE_ID)).status, 200);
  await assert.rejects(remove(ada, FILE_ID), status(404));
  assert.deepEqual(await query(ada, FILE_ID, question), []);
});

test("the text of a file is read without storing it", async () => {
  const read = await upload("text", "65f0c0ffee65f0c0ffee65f0", "text-1", "handbook.pdf");
  assert.ok("text" in read && read.text.length > 100);
  await assert.rejects(remove("65f0c0ffee65f0c0ffee65f0", "text-1"), status(404));
});

test("an unsupported file is named", async () => {
  const embedded = await upload("embed", "65f0c0ffee65f0c0ffee65f0", "other-1", "service.mjs");
  assert.deepEqual([embedded.status, embedded.known_type], [false, false]);
});

test("a token with another secret is refused", async () => {
  const headers = { Authorization: `Bearer ${jwt.sign({ id: "a" }, "another secret of more than 32 bytes", { expiresIn: "5m" })}` };
  await assert.rejects(axios.get(`${RAG_API_URL}/documents/${FILE_ID}/context`, { headers }), status(401));
});
