// What every page has: theme, keys, copy buttons, short URLs from the filter form.

const root = document.documentElement;
const toggle = document.getElementById("theme-toggle");
const dark = matchMedia("(prefers-color-scheme: dark)");

const theme = () => root.dataset.theme ?? (dark.matches ? "dark" : "light");
const nameToggle = () => {
  toggle.textContent = theme() === "dark" ? "Light" : "Dark";
  toggle.setAttribute("aria-label", `Switch to the ${toggle.textContent.toLowerCase()} theme`);
};
toggle.hidden = false;
toggle.addEventListener("click", () => {
  root.dataset.theme = theme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("warmbin-theme", root.dataset.theme);
  } catch {
    // Not remembered then.
  }
  nameToggle();
});
dark.addEventListener("change", nameToggle);
nameToggle();

const help = document.getElementById("help");
const opener = document.getElementById("help-open");
opener.hidden = false;
opener.addEventListener("click", () => help.showModal());

// Single keys may be in somebody's way: of speech input, above all.
const keys = document.getElementById("keys-on");
const useKeys = (on) => {
  keys.checked = on;
  root.dataset.keys = on ? "on" : "off";
};
let remembered = null;
try {
  remembered = localStorage.getItem("warmbin-keys");
} catch {
  // On then.
}
useKeys(remembered !== "off");
keys.addEventListener("change", () => {
  useKeys(keys.checked);
  try {
    localStorage.setItem("warmbin-keys", root.dataset.keys);
  } catch {
    // Not remembered then.
  }
});

document.addEventListener("keydown", (event) => {
  if (root.dataset.keys === "off") return;
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "?" && !help.open) help.showModal();
  if (event.key === "/" && !help.open) {
    const field = document.getElementById("filter-program");
    if (field) {
      event.preventDefault();
      field.focus();
      field.select();
    }
  }
});

const said = document.getElementById("said");
for (const button of document.querySelectorAll("button[data-copy]")) {
  const words = button.textContent;
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    said.textContent = button.textContent;
    setTimeout(() => {
      button.textContent = words;
      said.textContent = "";
    }, 1500);
  });
}

// Without script the form sends its empty fields too, which mean nothing.
for (const form of document.querySelectorAll("form.filter[method=get]")) {
  form.addEventListener("formdata", (event) => {
    for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
  });
}
