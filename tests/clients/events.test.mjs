// `POST /agents/chat` read with EventSource, as in browsers, except for the method and headers.

import assert from "node:assert/strict";
import test from "node:test";
import { EventSource } from "eventsource";
import { AUTHORITY, GUIDE, QUESTION, SERVER } from "./service.mjs";

const AGENT = `${SERVER}/agents/chat`;

function posting(fields) {
  const body = JSON.stringify({ messages: [{ role: "user", content: QUESTION }], ...fields });
  const headers = { ...AUTHORITY, "Content-Type": "application/json" };
  return { method: "POST", body, headers };
}

// Returns all events up to the end of the stream. Closes the source then, since it would reconnect by itself.
function read(address, { names = [], stopsAt, ...request }) {
  return new Promise((resolve, reject) => {
    const fetching = (url, init) =>
      fetch(url, { ...init, ...request, headers: { ...init.headers, ...request.headers } });
    const source = new EventSource(address, { fetch: fetching });
    const events = [];
    const end = () => {
      source.close();
      resolve(events);
    };
    for (const name of ["message", ...names]) {
      source.addEventListener(name, (event) => {
        events.push({ name, id: event.lastEventId, data: JSON.parse(event.data) });
        if (name === stopsAt) end();
      });
    }
    source.addEventListener("error", (error) => (error.code ? reject(error) : end()));
  });
}

const words = (events) => events.filter(({ name }) => name === "message").map(({ data }) => data).join("");

test("stream strings concatenate to the answer", async () => {
  const events = await read(AGENT, posting({}));
  assert.ok(events.length > 1);
  assert.match(words(events), /15 minutes/);
  assert.ok(events.every(({ id }) => id === ""), "events have ids only on request");
});

test("requested sources are the last event", async () => {
  const events = await read(AGENT, { ...posting({ include_sources: true }), names: ["sources"] });
  const last = events.at(-1);
  assert.equal(last.name, "sources");
  const [best] = last.data.results;
  assert.equal(best.title, GUIDE);
  assert.ok(best.page_start <= 4 && best.page_end >= 4, JSON.stringify(best));
});

test("resumed stream continues after the last event", async () => {
  const leaving = new AbortController();
  const reply = await fetch(AGENT, { ...posting({ resumable: true }), signal: leaving.signal });
  const stream = `${AGENT}/streams/${reply.headers.get("X-Stream-Id")}`;
  leaving.abort();
  const whole = await read(stream, { headers: AUTHORITY, names: ["end"], stopsAt: "end" });
  assert.deepEqual(whole.at(-1).data, { reason: "complete" });
  assert.deepEqual(whole.map(({ id }) => id), whole.map((_, place) => `${place + 1}`));
  const headers = { ...AUTHORITY, "Last-Event-ID": "1" };
  const rest = await read(stream, { headers, names: ["end"], stopsAt: "end" });
  assert.deepEqual(rest, whole.slice(1));
  assert.match(words(whole), /15 minutes/);
});

test("reconnecting after the end returns 204 and stops the client", async () => {
  const reply = await fetch(AGENT, posting({ resumable: true }));
  const stream = `${AGENT}/streams/${reply.headers.get("X-Stream-Id")}`;
  const count = (await reply.text()).match(/^id: /gm).length;
  const source = new EventSource(stream, {
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...AUTHORITY, "Last-Event-ID": `${count}` } }),
  });
  const { code } = await new Promise((resolve) => source.addEventListener("error", resolve));
  assert.deepEqual([code, source.readyState], [204, source.CLOSED]);
});
