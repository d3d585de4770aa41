// Sign-in at oidc-provider, a certified provider: discovery, PKCE, userinfo, rotated keys, and logout in both directions.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import Provider from "oidc-provider";
import { Browser } from "./browser.mjs";

const program = process.env.DOCENT_TEST_PROGRAM;
const folder = mkdtempSync(join(tmpdir(), "docent-sign-in-"));
const callback = "/auth/oidc/sso/callback";
let base, issuer, port, server, docent;

async function freePort() {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const free = listener.address().port;
  listener.close();
  await once(listener, "close");
  return free;
}

// Starts the provider with a new key.
async function startProvider(kid) {
  const jwk = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
  const provider = new Provider(issuer, {
    clients: [{
      client_id: "docent",
      client_secret: "a secret for one run",
      redirect_uris: [base + callback],
      post_logout_redirect_uris: [`${base}/account/login`],
      backchannel_logout_uri: `${base}/auth/oidc/sso/backchannel-logout`,
      backchannel_logout_session_required: true,
    }],
    jwks: { keys: [{ ...jwk, kid, use: "sig", alg: "RS256" }] },
    cookies: { keys: ["a key for one run"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true } },
    pkce: { required: () => true },
    // Otherwise it refuses addresses of this machine.
    fetch: (url, { dispatcher, ...options }) => fetch(url, options),
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.org`, email_verified: id !== "eve" }) }),
  });
  provider.on("server_error", (_, error) => console.error(error));
  provider.on("backchannel.error", (_, error) => console.error(error));
  server = createServer(provider.callback()).listen(port, "127.0.0.1");
  await once(server, "listening");
}

async function stopProvider() {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}

before(async () => {
  [port, base] = [await freePort(), `http://127.0.0.1:${await freePort()}`];
  issuer = `http://127.0.0.1:${port}`;
  const env = {
    ...process.env,
    DOCENT_BIND_ADDRESS: base.slice("http://".length),
    DOCENT_DATA_DIR: folder,
    DOCENT_OIDC_ISSUER: issuer,
    DOCENT_OIDC_CLIENT_ID: "docent",
    DOCENT_OIDC_CLIENT_SECRET: "a secret for one run",
  };
  // The service starts while the provider is down.
  docent = spawn(program, ["dev"], { env, stdio: ["ignore", "inherit", "inherit"] });
  for (let attempts = 0; ; attempts++) {
    const isReady = await fetch(`${base}/health/ready`).then((response) => response.ok, () => false);
    if (isReady) break;
    assert.ok(attempts < 600 && docent.exitCode === null, "docent has not started");
    await sleep(100);
  }
  const page = await new Browser().open(`${base}/auth/oidc/sso/login?next=%2Faccount`);
  assert.equal(page.status, 503);
  assert.match(page.text, /name="password"/);
  await startProvider("first");
  // A failed attempt is repeated after ten seconds.
  for (let attempts = 0; (await fetch(`${base}/auth/oidc/sso/login`, { redirect: "manual" })).status === 503; attempts++) {
    assert.ok(attempts < 300, "the provider is not found");
    await sleep(100);
  }
  // Asynchronously: the provider answers in this process.
  const doctor = spawn(program, ["doctor", "--dev"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const report = await text(doctor.stdout);
  assert.match(report, /^ok +identity provider.*127\.0\.0\.1/im);
});

after(async () => {
  docent?.kill();
  if (docent && docent.exitCode === null) await once(docent, "exit");
  if (server?.listening) await stopProvider();
  rmSync(folder, { recursive: true });
});

// Signs in at the provider's pages, as far as they ask.
async function signInAs(browser, login, page) {
  if (page.text.includes('name="login"')) page = await browser.submit(page, { login, password: "x" }, 'name="login"');
  if (page.url.includes("/interaction/")) page = await browser.submit(page, {}, 'value="consent"');
  return page;
}

async function signedIn(login) {
  const browser = new Browser();
  const page = await browser.open(`${base}/auth/oidc/sso/login?next=%2Faccount`);
  return [browser, await signInAs(browser, login, page)];
}

test("a person signs in and gets an account with the address from the userinfo endpoint", async () => {
  const [, page] = await signedIn("ada");
  assert.equal(page.url, `${base}/account`);
  assert.match(page.text, /ada@example\.org/);
});

test("an unverified address is refused", async () => {
  const [, page] = await signedIn("eve");
  assert.equal(page.status, 403);
  assert.match(page.text, /not verified at the provider/);
});

test("a code and a response work once", async () => {
  const browser = new Browser();
  const page = await browser.open(`${base}/auth/oidc/sso/login?next=%2Faccount`);
  const opened = await signInAs(browser, "ada", page);
  assert.equal(opened.url, `${base}/account`);
  const again = await browser.open(`${base}${callback}?code=x&state=x`);
  assert.equal(again.status, 400);
});

test("keys that the provider rotates are read again", async () => {
  await stopProvider();
  await startProvider("second");
  const [, page] = await signedIn("bob");
  assert.equal(page.url, `${base}/account`, page.text);
});

test("a proof of identity asks for a new sign-in", async () => {
  const [browser] = await signedIn("ada");
  const page = await browser.open(`${base}/auth/oidc/sso/confirm?next=%2Faccount%2Fsessions`);
  assert.match(page.text, /name="login"/, "the provider asks again");
  const opened = await signInAs(browser, "ada", page);
  assert.equal(opened.url, `${base}/account/sessions`);
});

test("a logout at the provider ends the sessions here", async () => {
  const [browser] = await signedIn("ada");
  const [other] = await signedIn("bob");
  const confirm = await browser.open(`${issuer}/session/end`);
  await browser.submit(confirm, { logout: "yes" });
  const ended = await browser.open(`${base}/account`);
  assert.match(ended.url, /\/account\/login$/);
  assert.equal((await other.open(`${base}/account`)).url, `${base}/account`);
});

test("signing out here leads to the logout of the provider and back", async () => {
  const [browser, account] = await signedIn("ada");
  const page = await browser.submit(account, {}, "/logout");
  let ended = await browser.refresh(page);
  assert.match(ended.url, new RegExp(`^${issuer}/session/end`));
  ended = await browser.submit(ended, { logout: "yes" });
  assert.match(ended.url, /\/account\/login/);
  const again = await browser.open(`${base}/auth/oidc/sso/login?next=%2Faccount`);
  assert.match(again.text, /name="login"/, "the provider's session has ended");
});
