// The color theme. Part of the scripts of the panel and of the chat, which share the stored choice.

const THEMES = ["light", "dark"];
const root = document.documentElement;

function applyTheme(theme) {
  if (THEMES.includes(theme)) root.dataset.theme = theme;
}

function toggleTheme() {
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = isDark ? "light" : "dark";
  applyTheme(theme);
  try {
    localStorage.setItem("theme", theme);
  } catch { /* Without storage, the choice applies to this page only. */ }
}

try { applyTheme(localStorage.getItem("theme")); } catch { /* Without storage, the system's theme is used. */ }
