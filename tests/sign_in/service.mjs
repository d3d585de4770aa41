// `docent dev` with an identity provider, on a free port.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

const PROGRAM = process.env.DOCENT_TEST_PROGRAM;

export async function freePort() {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address();
  listener.close();
  await once(listener, "close");
  return port;
}

// Repeats an action until it returns something else than `false`, at most for a minute.
export async function until(what, action) {
  for (let attempts = 0; attempts < 600; attempts++) {
    const result = await action();
    if (result !== false) return result;
    await sleep(100);
  }
  assert.fail(`${what}: not within a minute`);
}

export class Service {
  #folder = mkdtempSync(join(tmpdir(), "docent-sign-in-"));

  static async prepare() {
    const base = `http://127.0.0.1:${await freePort()}`;
    return Object.assign(new Service(), { base, callback: `${base}/auth/oidc/sso/callback` });
  }

  // Starts the service with a provider.
  async start(issuer, settings = {}) {
    this.env = {
      ...process.env,
      DOCENT_BIND_ADDRESS: this.base.slice("http://".length),
      DOCENT_DATA_DIR: this.#folder,
      DOCENT_OIDC_ISSUER: issuer,
      DOCENT_OIDC_CLIENT_ID: "docent",
      DOCENT_OIDC_CLIENT_SECRET: "a secret for one run",
      ...settings,
    };
    this.process = spawn(PROGRAM, ["dev"], { env: this.env, stdio: ["ignore", "inherit", "inherit"] });
    await until("docent is ready", async () => {
      assert.equal(this.process.exitCode, null, "docent has ended");
      return fetch(`${this.base}/health/ready`).then((response) => response.ok, () => false);
    });
  }

  // Runs a command with the settings of the service, and returns what it prints. Asynchronously, since a provider can be in this process.
  async run(args, input = "") {
    const command = spawn(PROGRAM, args, { env: this.env, stdio: ["pipe", "pipe", "inherit"] });
    command.stdin.end(input);
    return text(command.stdout);
  }

  async stop() {
    this.process?.kill();
    if (this.process && this.process.exitCode === null) await once(this.process, "exit");
    rmSync(this.#folder, { recursive: true });
  }
}
