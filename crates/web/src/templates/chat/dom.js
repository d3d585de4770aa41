// The web chat is one module: crates/web/src/chat.rs concatenates these files, so they share all top-level names.
// This file: helpers for the DOM.

const byId = (id) => document.getElementById(id);

// Creates an element. A function becomes a listener for the event of its name; other values become attributes. Children
// are elements or text, so markup is never parsed from a string. They can be in lists: long lists must not be spread into
// arguments, whose number is limited.
function createElement(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  // Before the attributes: with `dir="auto"`, browsers look through all children for the direction at each further child.
  for (const child of children.flat()) if (child !== null) element.append(child);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else element.setAttribute(name, value);
  }
  return element;
}

// Returns an icon of the page's sprite.
function createGlyph(id) {
  const [svg, use] = ["svg", "use"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  svg.setAttribute("class", "glyph");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#${id}`);
  svg.append(use);
  return svg;
}

// Announces a change to screen readers.
function announce(text) {
  byId("status").textContent = text;
}

// Shows a message in an alert element, or hides the element when there is no message.
function setAlert(id, message) {
  const alert = byId(id);
  alert.textContent = message ?? "";
  alert.hidden = !message;
}

const delay = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

const narrowScreen = matchMedia("(max-width: 1000px)");

// Returns a random UUID. `crypto.randomUUID` exists only on secure origins.
function randomUuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
