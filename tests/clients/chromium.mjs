// A window of Chromium, driven by the WebDriver protocol.

const DRIVER = process.env.DOCENT_TEST_CHROMEDRIVER_URL;
const OPTIONS = { args: ["--headless", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"] };
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";

export class Chromium {
  static async open() {
    const capabilities = { alwaysMatch: { "goog:chromeOptions": OPTIONS, timeouts: { implicit: 10_000 } } };
    const { sessionId } = await Chromium.#send("POST", "/session", { capabilities });
    return Object.assign(new this(), { session: `/session/${sessionId}` });
  }

  static async #send(method, path, body) {
    const answer = await fetch(`${DRIVER}${path}`, { method, body: body && JSON.stringify(body) });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  }

  #command(method, path, body) { return Chromium.#send(method, this.session + path, body); }

  close() { return this.#command("DELETE", ""); }
  goto(url) { return this.#command("POST", "/url", { url: String(url) }); }
  text() { return this.#command("POST", "/execute/sync", { script: "return document.body.innerText", args: [] }); }

  async find(css) {
    const element = await this.#command("POST", "/element", { using: "css selector", value: css });
    return `/element/${element[ELEMENT]}`;
  }

  async click(css) { await this.#command("POST", `${await this.find(css)}/click`, {}); }
  async fill(css, text) { await this.#command("POST", `${await this.find(css)}/value`, { text }); }
}
