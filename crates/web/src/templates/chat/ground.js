// The web chat: one module in parts, which crates/server/src/chat.rs joins. This part: what the page stands on.

const byId = (id) => document.getElementById(id);

// Makes an element. Functions listen to the event of their name, and all else is an attribute or text, so no markup ever
// comes from a string.
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (typeof value === "boolean") node.toggleAttribute(name, value);
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

function say(text) {
  byId("status").textContent = text;
}

// Shows a sentence in an alert, or takes it away.
function alertIn(id, text) {
  const alert = byId(id);
  alert.textContent = text ?? "";
  alert.hidden = !text;
}

const later = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

// The theme is remembered together with the panel's.
const themes = ["light", "dark"];
const root = document.documentElement;

function showTheme(theme) {
  if (themes.includes(theme)) root.dataset.theme = theme;
}

function switchTheme() {
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = isDark ? "light" : "dark";
  showTheme(theme);
  try { localStorage.setItem("theme", theme); } catch { /* It lasts as long as the page, then. */ }
}

try { showTheme(localStorage.getItem("theme")); } catch { /* The system's, then. */ }

const narrow = matchMedia("(max-width: 1000px)");

// A random UUID. `crypto.randomUUID` is there on secure origins alone.
function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

// Asks before something is permanently deleted.
async function confirmed(title, name, what) {
  const dialog = byId("confirm");
  byId("confirm-title").textContent = title;
  byId("confirm-name").textContent = name;
  byId("confirm-what").textContent = what;
  dialog.returnValue = "no";
  dialog.showModal();
  await new Promise((resolve) => { dialog.addEventListener("close", resolve, { once: true }); });
  return dialog.returnValue === "yes";
}
