// A window of Chromium that signs in, allows access and disconnects applications, as a person does.

import { Chromium } from "./chromium.mjs";
import { SERVER } from "./service.mjs";

export class Browser extends Chromium {
  async signIn() {
    await this.fill("#email", process.env.DOCENT_TEST_EMAIL);
    await this.fill("#password", process.env.DOCENT_TEST_PASSWORD);
    await this.click("button[type=submit]");
  }

  // Opens the page that asks for access, after signing in, and allows it. The browser then returns to the application.
  async allow(url) {
    await this.goto(url);
    await this.signIn();
    await this.click("button[value=allow]");
  }

  // Disconnects the application of this name that was connected last.
  async disconnect(name) {
    await this.goto(`${SERVER}/account/applications`);
    await this.click(`a[aria-label="Disconnect ${name}"]`);
    await this.click("button.danger");
    await this.find(".flash");
  }
}
