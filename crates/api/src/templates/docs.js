"use strict";

const byId = (id) => document.getElementById(id);

// The URL of a path of the service, which may be below a path of its host. This script is in a folder below that.
const scriptUrl = document.currentScript.src;
const serviceUrl = (path) => new URL(`..${path}`, scriptUrl).href;

// The viewer has dark colours, which it shows with a class.
const dark = matchMedia("(prefers-color-scheme: dark)");
const showColors = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", showColors);
showColors();

// The tokens of the account that signed in on this page. They are kept in memory only.
let tokens = null;

// Follows a reference within the document.
const resolved = (spec, value) => {
  const path = value?.$ref?.split("/").slice(1);
  return path ? resolved(spec, path.reduce((part, name) => part[name], spec)) : value;
};

// The example of a body. An optional body is a choice between null and its schema.
const exampleOf = (spec, content) => {
  if (content.example !== undefined) return content.example;
  const schema = resolved(spec, content.schema);
  return schema.example ?? (schema.oneOf ?? []).map((one) => resolved(spec, one).example).find((one) => one !== undefined);
};

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// The command that sends a request with the examples of the document.
const curlOf = (spec, path, method) => {
  const operation = spec.paths[path][method];
  const example = (name) => {
    const parameters = [...(spec.paths[path].parameters ?? []), ...(operation.parameters ?? [])];
    const found = parameters.map((one) => resolved(spec, one)).find((one) => one.in === "path" && one.name === name);
    return found?.example ?? name.toUpperCase().replaceAll("-", "_");
  };
  const url = serviceUrl(path.replaceAll(/\{(\w+)\}/g, (_, name) => example(name)));
  const words = ["curl", "-sS"];
  if (method !== "get") words.push("-X", method.toUpperCase());
  words.push(quoted(url));
  const isPublic = (operation.security ?? spec.security).some((one) => Object.keys(one).length === 0);
  // Without an account, the shell puts in the variable TOKEN.
  if (!isPublic) words.push("-H", tokens ? quoted(`Authorization: Bearer ${tokens.access_token}`) : '"Authorization: Bearer $TOKEN"');
  const content = operation.requestBody?.content ?? {};
  if (content["application/json"]) {
    words.push("-H", quoted("Content-Type: application/json"));
    words.push("-d", quoted(JSON.stringify(exampleOf(spec, content["application/json"]))));
  } else if (content["multipart/form-data"]) {
    words.push("-F", quoted("file=@YOUR.pdf;type=application/pdf"));
  }
  return words.join(" ");
};

// Adds a button below the summary of each open operation that copies its command. Without permission to write to the
// clipboard, as on pages without TLS, the command can still be selected.
const CurlPlugin = (system) => {
  const create = system.React.createElement;
  class CopyCurl extends system.React.Component {
    constructor(props) {
      super(props);
      this.state = { command: "", status: "" };
    }

    async copy() {
      const spec = system.specSelectors.specJson().toJS();
      const command = curlOf(spec, this.props.path, this.props.method);
      const written = navigator.clipboard?.writeText(command) ?? Promise.reject(new Error("no clipboard"));
      const status = await written.then(() => "Copied.", () => "Select the command to copy it.");
      this.setState({ command, status });
    }

    render() {
      const { command, status } = this.state;
      return create(
        "div",
        { className: "copy-curl" },
        create("button", { type: "button", onClick: () => this.copy() }, "Copy as curl"),
        create("span", { role: "status" }, status),
        command && create("pre", { tabIndex: 0 }, command),
      );
    }
  }
  return {
    wrapComponents: {
      OperationSummary: (Original) => (props) => {
        const [path, method, isShown] = ["path", "method", "isShown"].map((name) => props.operationProps.get(name));
        const button = isShown && create(CopyCurl, { path, method });
        return create(system.React.Fragment, null, create(Original, props), button);
      },
    },
  };
};

const viewer = SwaggerUIBundle({
  url: serviceUrl("/openapi.json"),
  dom_id: "#viewer",
  deepLinking: true,
  // Do not send the document to an external validator.
  validatorUrl: null,
  plugins: [CurlPlugin],
});

const send = (path, body) => fetch(serviceUrl(path), {
  method: "POST",
  headers: { "Content-Type": "application/json", ...(tokens && { Authorization: `Bearer ${tokens.access_token}` }) },
  body: JSON.stringify(body),
});

const show = (status) => {
  byId("account-status").textContent = status;
  byId("sign-in").hidden = Boolean(tokens);
  byId("sign-out").hidden = !tokens;
};

byId("sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const { email, password, code } = Object.fromEntries(new FormData(form));
  try {
    const response = await send("/auth/token", { email, password, code: code || null });
    const answer = await response.json();
    if (!response.ok) {
      byId("code").hidden &&= answer.code !== "code_required";
      return show(answer.detail);
    }
    tokens = answer;
    form.reset();
    viewer.preauthorizeApiKey("access_token", tokens.access_token);
    show(`Requests from this page are sent as ${email}, until the access token expires.`);
  } catch {
    show("The service cannot be reached.");
  }
});

byId("sign-out").addEventListener("click", async () => {
  // The session ends on this page in any case; without the service, its token expires.
  await send("/auth/logout", { refresh_token: tokens.refresh_token }).catch(() => {});
  tokens = null;
  viewer.authActions.logout(["access_token"]);
  show("Requests from this page are sent without an account.");
});
