// Runs before the first paint, so that a remembered theme does not flash. Everything else waits in app.js.
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem("warmbin-theme");
  } catch {
    // Storage may be forbidden; the system's preference then applies.
  }
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
})();
