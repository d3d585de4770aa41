// A browser without scripts: cookies of each origin, redirects and forms.

const unescape = (text) => text.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&#x2F;", "/");

export class Browser {
  #cookies = new Map();

  // Opens a page and follows redirects. Returns its URL, status and text.
  async open(url, options = {}) {
    for (let redirects = 0; redirects < 20; redirects++) {
      const { origin } = new URL(url);
      const jar = this.#cookies.get(origin) ?? new Map();
      this.#cookies.set(origin, jar);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
      const response = await fetch(url, { ...options, redirect: "manual", headers: { ...options.headers, cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [pair, ...attributes] = line.split(";");
        const [name, value] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
        const isGone = value === "" || attributes.some((one) => /^\s*(max-age=0|expires=thu, 01 jan 1970)/i.test(one));
        if (isGone) jar.delete(name);
        else jar.set(name, value);
      }
      const location = response.headers.get("location");
      if (response.status < 300 || response.status >= 400 || !location) {
        return { url, status: response.status, text: await response.text() };
      }
      url = new URL(location, url).href;
      options = {};
    }
    throw new Error(`too many redirects: ${url}`);
  }

  // Submits the first form of a page whose text contains `mark`, with these values besides its hidden fields.
  async submit(page, values = {}, mark = "") {
    const forms = page.text.match(/<form[\s\S]*?<\/form>/g) ?? [];
    const form = forms.find((one) => one.includes(mark));
    if (!form) throw new Error(`no form with ${mark} at ${page.url}: ${page.text}`);
    const action = new URL(unescape(/action="([^"]*)"/.exec(form)?.[1] ?? ""), page.url).href;
    const body = new URLSearchParams();
    for (const [input] of form.matchAll(/<input[^>]*>/g)) {
      const name = /name="([^"]*)"/.exec(input)?.[1];
      if (name) body.set(name, unescape(/value="([^"]*)"/.exec(input)?.[1] ?? ""));
    }
    for (const [name, value] of Object.entries(values)) body.set(name, value);
    return this.open(action, { method: "POST", body });
  }

  // Opens the page that a page without its own content leads to.
  async refresh(page) {
    const [, url] = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(page.text);
    return this.open(unescape(url));
  }
}
