// The overview, live: rows as requests finish, and the summary fetched again when something has changed.

const ROWS = 50;
const PAINT_MS = 250;
const SUMMARY_MS = 1000;
const SETTLE_MS = 500; // an event comes before its record is written: figures fetched sooner may lack it

const tail = document.getElementById("live-tail");
const body = tail.tBodies[0];
const template = document.getElementById("tail-row").content.firstElementChild;
const state = document.getElementById("live-state");
const pauseButton = document.getElementById("live-pause");
const chip = document.getElementById("live-new");
const summary = document.getElementById("summary");

let source = null;
let paused = false; // by key or button: everything holds still
let held = false; // by the pointer: the tail holds still
let waiting = []; // records not yet shown, oldest first, at most ROWS
let unseen = 0; // how many there were, shown or not
let changed = false; // since the summary was fetched
let fetching = false;
let nextFetch = 0;
let lastEvent = 0;
let missed = 0; // events the host could not deliver

const micros = (us) => {
  const digits = (value) => (value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : value.toFixed(0));
  if (us < 1000) return `${us}\u00a0µs`;
  return us < 999500 ? `${digits(us / 1e3)}\u00a0ms` : `${digits(us / 1e6)}\u00a0s`;
};

const show = (name, words) => {
  if (state.dataset.state === name && state.textContent === words) return;
  state.dataset.state = name;
  state.textContent = words;
};

const row = (record) => {
  const element = template.cloneNode(true);
  const link = element.querySelector("a");
  const time = element.querySelector("time");
  element.dataset.id = record.id;
  element.classList.add("new");
  link.href = `/requests/${encodeURIComponent(record.id)}`;
  time.dateTime = record.started_at;
  time.textContent = record.started_at.slice(11, 23);
  const texts = {
    program: record.program,
    mode: record.mode,
    request: `${record.method} ${record.path}`,
    status: record.status,
    outcome: record.outcome,
    total: micros(record.total_us),
  };
  for (const [name, text] of Object.entries(texts)) {
    element.querySelector(`[data-of="${name}"]`).textContent = text;
  }
  element.querySelector('[data-of="mode"]').classList.add(`mode-${record.mode}`);
  element.querySelector('[data-of="status"]').classList.add(`status-${Math.floor(record.status / 100)}`);
  element.querySelector('[data-of="total"]').title = `${record.total_us}\u00a0µs`;
  return element;
};

const paint = () => {
  if (paused || held) {
    chip.hidden = unseen === 0;
    chip.textContent = `${unseen} new`;
    return;
  }
  chip.hidden = true;
  if (waiting.length === 0) return;
  const rows = waiting.filter((record) => !body.querySelector(`tr[data-id="${CSS.escape(record.id)}"]`)).map(row);
  waiting = [];
  unseen = 0;
  body.prepend(...rows.reverse());
  while (body.rows.length > ROWS) body.lastElementChild.remove();
};

const refresh = async () => {
  if (!changed || fetching || paused || document.hidden || Date.now() < nextFetch) return;
  changed = Date.now() - lastEvent < SETTLE_MS;
  fetching = true;
  const began = Date.now();
  try {
    const answer = await fetch(summary.dataset.fragment, { headers: { Accept: "text/html" }, redirect: "error" });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const html = await answer.text();
    const open = new Set([...summary.querySelectorAll("details[open]")].map((element) => element.id));
    const focused = summary.contains(document.activeElement) ? document.activeElement : null;
    const focusPath = focused && (focused.getAttribute("href") ?? focused.getAttribute("aria-label"));
    const scrolled = [...summary.querySelectorAll(".scroll")].map((element) => element.scrollLeft);
    summary.innerHTML = html;
    for (const element of summary.querySelectorAll("details")) element.open = open.has(element.id);
    summary.querySelectorAll(".scroll").forEach((element, index) => (element.scrollLeft = scrolled[index] ?? 0));
    if (focusPath) {
      const same = (element) => [element.getAttribute("href"), element.getAttribute("aria-label")].includes(focusPath);
      [...summary.querySelectorAll("a, [tabindex]")].find(same)?.focus({ preventScroll: true });
    }
    document.getElementById("empty")?.remove();
  } catch {
    changed = true;
    show("reconnecting", "figures cannot be fetched, trying again");
  } finally {
    fetching = false;
    // A host that takes long to answer is asked less often.
    nextFetch = Math.max(began + SUMMARY_MS, Date.now() + 2 * (Date.now() - began));
  }
};

const label = () => {
  if (paused) show("paused", "paused");
  else if (source?.readyState === EventSource.OPEN) show("live", missed === 0 ? "live" : `live, ${missed} not shown`);
  else show("reconnecting", source?.readyState === EventSource.CLOSED ? "not connected, trying again" : "connecting");
};

const connect = () => {
  source?.close();
  source = new EventSource(tail.dataset.live);
  source.addEventListener("open", label);
  source.addEventListener("error", () => {
    label();
    // A refused stream is final for the browser; the host may only be restarting.
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 3000);
  });
  source.addEventListener("request", (event) => {
    waiting.push(JSON.parse(event.data));
    if (waiting.length > ROWS) waiting.shift();
    unseen += 1;
    changed = true;
    lastEvent = Date.now();
  });
  source.addEventListener("gap", (event) => {
    missed += JSON.parse(event.data).missed ?? 0;
    changed = true;
    label();
  });
  source.addEventListener("stats", (event) => {
    const stats = JSON.parse(event.data);
    if (stats.backlog > 0) changed = true;
    for (const [name, value] of Object.entries(stats)) {
      const element = document.querySelector(`[data-stat="${CSS.escape(name)}"]`);
      if (element && Number.isFinite(value)) element.textContent = value.toLocaleString("en-US");
    }
  });
};

const setPaused = (value) => {
  paused = value;
  pauseButton.setAttribute("aria-pressed", String(paused));
  pauseButton.firstChild.textContent = paused ? "Resume " : "Pause ";
  label();
  paint();
};

if (tail.dataset.live) {
  pauseButton.hidden = false;
  pauseButton.addEventListener("click", () => setPaused(!paused));
  chip.addEventListener("click", () => {
    held = false;
    setPaused(false);
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.closest?.("input, textarea, select, dialog")) return;
    if (event.key === "p" && !event.ctrlKey && !event.metaKey && !event.altKey) setPaused(!paused);
  });
  tail.addEventListener("pointerenter", (event) => (held = event.pointerType === "mouse"));
  tail.addEventListener("pointerleave", () => (held = false));
  document.addEventListener("visibilitychange", () => {
    // A hidden tab costs the host nothing; coming back, it asks for what it missed.
    if (document.hidden) {
      source?.close();
      source = null;
    } else {
      changed = true;
      connect();
    }
  });
  show("reconnecting", "connecting");
  connect();
  setInterval(paint, PAINT_MS);
  setInterval(refresh, PAINT_MS);
}
