// The color theme. Part of the scripts of the panel and of the chat, which share the stored choice.

const THEMES = ["light", "dark"];
const root = document.documentElement;

function applyTheme(theme) {
  if (THEMES.includes(theme)) root.dataset.theme = theme;
  else delete root.dataset.theme;
}

// Applies a theme, or that of the system, and remembers the choice.
function chooseTheme(theme) {
  applyTheme(theme);
  try {
    if (THEMES.includes(theme)) localStorage.setItem("theme", theme);
    else localStorage.removeItem("theme");
  } catch { /* Without storage, the choice applies to this page only. */ }
}

function toggleTheme() {
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  chooseTheme(isDark ? "light" : "dark");
}

try { applyTheme(localStorage.getItem("theme")); } catch { /* Without storage, the system's theme is used. */ }
