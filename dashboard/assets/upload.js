// The upload form with drag and drop, progress and an answer in place. Without this script the form posts itself.

const form = document.getElementById("upload-form");
const zone = document.getElementById("drop-zone");
const progress = document.getElementById("upload-progress");
const result = document.getElementById("upload-result");
const list = document.getElementById("programs-list");
const button = form.querySelector("button[type=submit]");

const isWasm = async (file) => {
  const magic = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  return magic.length === 4 && magic[0] === 0 && magic[1] === 0x61 && magic[2] === 0x73 && magic[3] === 0x6d;
};

const place = (field, file) => {
  const files = new DataTransfer();
  files.items.add(file);
  form.elements[field].files = files.files;
};

document.getElementById("drop-hint").hidden = false;
// A file that misses the zone would be opened in the place of this page.
for (const name of ["dragover", "drop"]) {
  document.addEventListener(name, (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
}
zone.addEventListener("dragover", (event) => {
  event.preventDefault();
  zone.classList.add("over");
});
zone.addEventListener("dragleave", () => zone.classList.remove("over"));
const say = (state, lines, link) => {
  result.replaceChildren();
  result.dataset.state = state;
  result.className = state === "error" ? "notice failed" : "notice";
  lines.forEach((line, index) => {
    if (index > 0) result.append(document.createElement("br"));
    result.append(line);
  });
  if (link) {
    const anchor = document.createElement("a");
    anchor.href = link;
    anchor.textContent = "See it";
    result.append(" ", anchor);
  }
};

// Empty, not hidden: a live region has to be there before something is said in it.
const unsay = () => {
  result.replaceChildren();
  result.className = "";
  delete result.dataset.state;
};

zone.addEventListener("drop", async (event) => {
  event.preventDefault();
  zone.classList.remove("over");
  unsay();
  const dropped = { native: [], wasm: [] };
  for (const file of [...event.dataTransfer.files]) {
    try {
      dropped[(await isWasm(file)) ? "wasm" : "native"].push(file);
    } catch {
      say("error", [`${file.name} cannot be read. Is it a folder?`]);
      return;
    }
  }
  const kinds = { native: "native file", wasm: "WebAssembly module" };
  for (const [field, files] of Object.entries(dropped)) {
    if (files.length > 1) {
      say("error", [`A version has one ${kinds[field]}: drop only one of ${files.map((file) => file.name).join(", ")}.`]);
      return;
    }
  }
  for (const [field, [file]] of Object.entries(dropped)) {
    if (!file) continue;
    const before = form.elements[field].files[0];
    if (before) say("note", [`${file.name} takes the place of ${before.name}.`]);
    place(field, file);
    const name = form.elements.name;
    if (name.value === "") name.value = file.name.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9._-]/g, "-");
  }
});

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const problemLines = (request) => {
  const problem = parsed(request.responseText);
  if (!problem) return [`The host answered ${request.status} ${request.statusText}.`];
  const lines = [problem.detail ?? problem.title ?? `The host answered ${request.status}.`];
  for (const error of problem.errors ?? []) {
    if (typeof error === "string") {
      lines.push(error);
      continue;
    }
    const where = error.field ?? error.name ?? error.pointer;
    const what = error.detail ?? error.message ?? error.reason ?? JSON.stringify(error);
    // The summary may already say it.
    if (!lines[0].includes(what)) lines.push(where ? `${where}: ${what}` : what);
  }
  return lines;
};

const reload = async () => {
  const answer = await fetch(list.dataset.fragment, { redirect: "error" });
  if (answer.ok) list.innerHTML = await answer.text();
};

const finish = () => {
  button.disabled = false;
  progress.hidden = true;
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const { name, native, wasm, settings, activate } = form.elements;
  const data = new FormData();
  for (const field of [native, wasm]) if (field.files.length > 0) data.append(field.name, field.files[0]);
  if (settings.value.trim() !== "") data.append("settings", settings.value);
  // Settings alone make a version of the active one's artifacts.
  if ([...data].length === 0) {
    say("error", ["Choose a native file, a WebAssembly module, or both."]);
    return;
  }
  const request = new XMLHttpRequest();
  request.open("POST", `/api/v1/programs/${encodeURIComponent(name.value)}/versions?activate=${activate.checked}`);
  request.setRequestHeader("Accept", "application/json, application/problem+json");
  request.upload.addEventListener("progress", (step) => {
    if (step.lengthComputable) progress.value = (100 * step.loaded) / step.total;
  });
  request.upload.addEventListener("load", () => {
    // Sent; the host now validates and compiles, for as long as it takes.
    progress.removeAttribute("value");
    unsay();
  });
  request.addEventListener("load", () => {
    finish();
    if (request.status === 201) {
      const version = parsed(request.responseText)?.version;
      const which = typeof version === "number" ? `Version ${version} of` : "A new version of";
      const now = activate.checked ? "is active" : "is there, not yet active";
      say("ok", [`${which} ${name.value} ${now}.`], `/programs/${encodeURIComponent(name.value)}`);
      for (const field of [native, wasm]) field.value = "";
      reload().catch(() => {});
    } else {
      say("error", problemLines(request));
    }
  });
  for (const failure of ["error", "abort", "timeout"]) {
    request.addEventListener(failure, () => {
      finish();
      say("error", ["The upload did not arrive. Is the host running?"]);
    });
  }
  button.disabled = true;
  progress.value = 0;
  progress.hidden = false;
  unsay();
  request.send(data);
});
