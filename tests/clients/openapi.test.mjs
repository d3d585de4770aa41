// Tools that read the OpenAPI document of a running service: linters, and a client generated with openapi-typescript.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import test from "node:test";
import { promisify } from "node:util";
import createClient from "openapi-fetch";
import { AUTHORITY, GUIDE, QUESTION, SERVER } from "./service.mjs";

const DOCUMENT = `${SERVER}/openapi.json`;
const RULES = { extends: ["spectral:oas"] };
const [redocly, spectral, generator, tsc] = ["redocly", "spectral", "openapi-typescript", "tsc"]
  .map((name) => (...values) => run(`node_modules/.bin/${name}`, values));

// The output of a failed command is the message of the error.
async function run(program, values) {
  const outcome = promisify(execFile)(process.execPath, [program, ...values], { env: { ...process.env, REDOCLY_TELEMETRY: "off" } });
  return outcome.catch(({ stdout, stderr }) => assert.fail(stdout + stderr));
}

let folder;
test.before(async () => {
  folder = await mkdtemp("openapi-");
  await writeFile(`${folder}/openapi.json`, await (await fetch(DOCUMENT)).text());
});
test.after(() => rm(folder, { recursive: true }));

test("Redocly finds no error", () => redocly("lint", `${folder}/openapi.json`));

test("Spectral finds no error", async () => {
  await writeFile(`${folder}/rules.json`, JSON.stringify(RULES));
  await spectral("lint", "--fail-severity", "error", "--ruleset", `${folder}/rules.json`, `${folder}/openapi.json`);
});

test("generated types compile with a program that uses them", async () => {
  await generator(`${folder}/openapi.json`, "--output", `${folder}/docent.d.ts`);
  await writeFile(`${folder}/program.ts`, await readFile("generated_client.ts"));
  const options = ["--strict", "--noEmit", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom,dom.iterable"];
  await tsc(...options, `${folder}/program.ts`);
});

test("generated client uploads, lists, searches and asks", async () => {
  const client = createClient({ baseUrl: SERVER, headers: AUTHORITY });
  const { program } = await import("./generated_client.ts");
  const file = new File([await readFile("handbook.pdf")], "generated.pdf", { type: "application/pdf" });
  const found = await program(client, file, QUESTION);
  assert.equal(found.uploaded, "pending");
  assert.ok(found.titles.includes(GUIDE) && found.titles.includes("generated.pdf"), found.titles.join());
  assert.equal(found.best, GUIDE);
  assert.match(found.answer, /15 minutes/);
  assert.match(found.stream, /^data: "/);
});
