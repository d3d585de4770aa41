// Sign-in at oidc-provider, a certified provider: discovery, PKCE, userinfo, rotated keys, and logout in both directions.

import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import Provider from "oidc-provider";
import { Browser } from "./browser.mjs";
import { freePort, Service, until } from "./service.mjs";

const STAFF = "root@example.org";
const PASSWORD = "a password for one run";
let base, issuer, port, server, service;

const groups = new Map(); // Of people, as the provider knows them.

function claims(id) {
  return { sub: id, email: `${id}@example.org`, email_verified: id !== "eve", name: `${id}, a person`, groups: groups.get(id) ?? [] };
}

// Starts the provider with a new key.
async function startProvider(kid) {
  const jwk = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
  const provider = new Provider(issuer, {
    clients: [{
      client_id: "docent",
      client_secret: "a secret for one run",
      redirect_uris: [service.callback],
      post_logout_redirect_uris: [`${base}/account/login`],
      backchannel_logout_uri: `${base}/auth/oidc/sso/backchannel-logout`,
      backchannel_logout_session_required: true,
    }],
    jwks: { keys: [{ ...jwk, kid, use: "sig", alg: "RS256" }] },
    cookies: { keys: ["a key for one run"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
    features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true } },
    pkce: { required: () => true },
    // Otherwise it refuses addresses of this machine.
    fetch: (url, { dispatcher, ...options }) => fetch(url, options),
    findAccount: (_, id) => ({ accountId: id, claims: () => claims(id) }),
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
  [port, service] = [await freePort(), await Service.prepare()];
  base = service.base;
  issuer = `http://127.0.0.1:${port}`;
  // The service starts while the provider is down.
  await service.start(issuer, { DOCENT_OIDC_GROUPS: "engineers:Engineers" });
  const page = await new Browser().open(`${base}/auth/oidc/sso/login?next=%2Faccount`);
  assert.equal(page.status, 503);
  assert.match(page.text, /name="password"/);
  await startProvider("first");
  // A failed attempt is repeated after ten seconds.
  await until("the provider is found", async () => (await fetch(`${base}/auth/oidc/sso/login`, { redirect: "manual" })).status !== 503);
  assert.match(await service.run(["doctor", "--dev"]), /do not exist: Engineers/);
});

after(async () => {
  await service?.stop();
  if (server?.listening) await stopProvider();
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
  assert.match(page.text, /ada, a person/);
});

test("groups of the account are those that the provider names at each sign-in", async () => {
  await service.run(["createsuperuser", "--dev", "--password-stdin", STAFF], `${PASSWORD}\n`);
  const panel = new Browser();
  const form = await panel.open(`${base}/admin/login?next=%2Fadmin%2Fgroups%2Fadd`);
  const page = await panel.submit(form, { email: STAFF, password: PASSWORD }, 'name="password"');
  await panel.submit(page, { name: "Engineers" }, 'action="/admin/groups/add"');
  assert.match(await service.run(["doctor", "--dev"]), /^ok +identity provider.*127\.0\.0\.1/im);
  for (const [names, shown] of [[["engineers", "others"], true], [[], false]]) {
    groups.set("carol", names);
    const [browser] = await signedIn("carol");
    assert.equal((await browser.open(`${base}/account/groups`)).text.includes("Engineers"), shown);
  }
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
  const again = await browser.open(`${service.callback}?code=x&state=x`);
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
