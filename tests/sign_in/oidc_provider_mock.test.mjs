// Sign-in at oidc-provider-mock in Chromium, from the web chat and back.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { Chromium } from "./chromium.mjs";
import { freePort, Service, until } from "./service.mjs";

const ADA = { sub: "1", email: "ada@example.org", email_verified: true, name: "Ada Lovelace" };
const EVE = { sub: "2", email: "eve@example.org", email_verified: false };
let mock, service;

before(async () => {
  const port = await freePort();
  const users = [ADA, EVE].flatMap((claims) => ["--user-claims", JSON.stringify(claims)]);
  mock = spawn(process.env.DOCENT_TEST_OIDC_PROVIDER_MOCK, ["--port", String(port), ...users], { stdio: "ignore" });
  const issuer = `http://127.0.0.1:${port}`;
  await until("the provider answers", () => fetch(`${issuer}/jwks`).then((response) => response.ok, () => false));
  service = await Service.prepare();
  await service.start(issuer, { DOCENT_OIDC_LABEL: "the company" });
});

after(async () => {
  await service?.stop();
  mock.kill();
  if (mock.exitCode === null) await once(mock, "exit");
});

// Opens the chat in a new window, and chooses the provider on the sign-in page.
async function atProvider(action) {
  const window = await Chromium.open();
  try {
    await window.goto(`${service.base}/chat`);
    await window.click('a[href^="/auth/oidc/sso/login"]');
    await action(window);
  } finally {
    await window.close();
  }
}

const see = (window, text) => until(`"${text}" is shown`, async () => (await window.text()).includes(text));

test("a person signs in from the chat, returns to it and has a name", () => atProvider(async (window) => {
  await window.click('button[name="sub"][value="1"]');
  await see(window, "Ada Lovelace");
  await window.find("#question");
  await window.click("#logout");
  // The provider asks whether its session is to end too.
  await window.click('form[action$="/end_session/confirm"] button');
  await window.find("#email");
}));

test("who cancels at the provider is told so", () => atProvider(async (window) => {
  await window.click('button[value="deny"]');
  await see(window, "was cancelled or refused at the provider");
}));

test("an unverified address is refused", () => atProvider(async (window) => {
  await window.click('button[name="sub"][value="2"]');
  await see(window, "is not verified at the provider");
}));
