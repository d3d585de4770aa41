// A program that uses the types of the generated client. The test compiles it, and runs it with its types removed.

import type { Client } from "openapi-fetch";
import type { paths } from "./docent.d.ts";

export async function program(client: Client<paths>, file: File, question: string) {
  const uploaded = await client.POST("/documents/upload", {
    body: { file: "" },
    bodySerializer: () => {
      const form = new FormData();
      form.append("file", file);
      return form;
    },
  });
  if (!uploaded.data) throw new Error(JSON.stringify(uploaded.error));
  const listed = await client.GET("/documents", { params: { query: { limit: 50 } } });
  if (!listed.data) throw new Error(JSON.stringify(listed.error));
  const searched = await client.POST("/search", { body: { query: question, limit: 1 } });
  if (!searched.data) throw new Error(JSON.stringify(searched.error));
  const answered = await client.POST("/v1/chat/completions", {
    body: { model: "chat", messages: [{ role: "user", content: question }] },
  });
  // With `stream` it is a string.
  if (!answered.data || typeof answered.data === "string") throw new Error(JSON.stringify(answered.error));
  const streamed = await client.POST("/agents/{name}", {
    params: { path: { name: "chat" } },
    body: { messages: [{ role: "user", content: question }] },
    parseAs: "text",
  });
  if (streamed.data === undefined) throw new Error(JSON.stringify(streamed.error));
  return {
    uploaded: uploaded.data.status,
    titles: listed.data.map((document) => document.title),
    best: searched.data.results[0]?.title,
    answer: answered.data.choices[0]?.message.content ?? "",
    stream: streamed.data,
  };
}
