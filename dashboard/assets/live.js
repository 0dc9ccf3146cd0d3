// The overview, live: rows as requests finish, and the summary fetched again when something has changed.

const ROWS = 50;
const PAINT_MS = 250;
const SUMMARY_MS = 1000;
const RETRY_MS = 3000; // after the first refusal; each further one doubles it
const RETRY_MOST_MS = 60_000;
const SETTLE_MS = 500; // an event comes before its record is written: figures fetched sooner may lack it

const tail = document.getElementById("live-tail");
const body = tail.tBodies[0];
const template = document.getElementById("tail-row").content.firstElementChild;
const state = document.getElementById("live-state");
const pauseButton = document.getElementById("live-pause");
const chip = document.getElementById("live-new");
const missedNote = document.getElementById("live-missed");
const summary = document.getElementById("summary");

let source = null;
let paused = false; // by key or button: everything holds still
let hovered = false; // by a mouse: the tail holds still
let over = false; // logged out: nothing is asked for any more
let failed = false; // the figures could not be fetched
let lastId = body.rows[0]?.dataset.id ?? ""; // of the last record seen
let retry = null; // the timer of the next attempt to connect
let wait = RETRY_MS;
let waiting = []; // records not yet shown, oldest first, at most ROWS
let unseen = 0; // how many there were, shown or not
let changed = false; // since the summary was fetched
let fetching = false;
let nextFetch = 0;
let lastEvent = 0;
let missed = 0; // events the host could not deliver; NaN if nobody knows how many

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

// A link of the tail that has the focus must not vanish under it.
const held = () => hovered || body.contains(document.activeElement);

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
  element.querySelector('[data-of="mode"]').className = `mode mode-${record.mode}`;
  element.querySelector('[data-of="status"]').className = `status status-${Math.floor(record.status / 100)}`;
  element.querySelector('[data-of="total"]').title = `${record.total_us.toLocaleString("en-US")}\u00a0µs`;
  return element;
};

const paint = () => {
  const still = paused || held();
  if (still && unseen > 0) chip.textContent = `${unseen} new`;
  if (chip === document.activeElement && !still) pauseButton.focus();
  chip.hidden = !still || unseen === 0;
  if (still || waiting.length === 0) return;
  const rows = waiting.map(row);
  waiting = [];
  unseen = 0;
  body.prepend(...rows.reverse());
  while (body.rows.length > ROWS) body.lastElementChild.remove();
};

const logOut = () => {
  over = true;
  source?.close();
  clearTimeout(retry);
  const link = document.createElement("a");
  link.href = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
  link.textContent = "log in again";
  state.dataset.state = "off";
  state.replaceChildren("logged out: ", link);
};

// The figures as HTML; nothing if nobody is logged in any more, which the host answers with the way to the login form.
const figures = async () => {
  const answer = await fetch(summary.dataset.fragment, { headers: { Accept: "text/html" }, redirect: "manual" });
  if (answer.type === "opaqueredirect" || answer.status === 401) {
    logOut();
    return null;
  }
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.text();
};

const refresh = async () => {
  if (over || !changed || fetching || paused || document.hidden || Date.now() < nextFetch) return;
  changed = Date.now() - lastEvent < SETTLE_MS;
  fetching = true;
  const began = Date.now();
  try {
    const html = await figures();
    if (html === null) return;
    const open = new Set([...summary.querySelectorAll("details[open]")].map((element) => element.id));
    const focused = summary.contains(document.activeElement) ? document.activeElement : null;
    const focusPath = focused && (focused.getAttribute("href") ?? focused.getAttribute("aria-label"));
    const scrolled = [...summary.querySelectorAll(".scroll")].map((element) => element.scrollLeft);
    const part = document.createElement("template");
    part.innerHTML = html;
    document.getElementById("health").replaceWith(part.content.querySelector("#health"));
    summary.replaceChildren(part.content);
    failed = false;
    for (const element of summary.querySelectorAll("details")) element.open = open.has(element.id);
    summary.querySelectorAll(".scroll").forEach((element, index) => (element.scrollLeft = scrolled[index] ?? 0));
    if (focusPath) {
      const same = (element) => [element.getAttribute("href"), element.getAttribute("aria-label")].includes(focusPath);
      [...summary.querySelectorAll("a, [tabindex]")].find(same)?.focus({ preventScroll: true });
    }
    document.getElementById("empty")?.remove();
  } catch {
    changed = true;
    failed = true;
  } finally {
    fetching = false;
    label();
    // A host that takes long to answer is asked less often.
    nextFetch = Math.max(began + SUMMARY_MS, Date.now() + 2 * (Date.now() - began));
  }
};

const label = () => {
  if (over) return;
  if (paused) show("paused", "paused");
  else if (failed) show("reconnecting", "figures cannot be fetched, trying again");
  else if (source?.readyState === EventSource.OPEN) show("live", "live");
  else show("reconnecting", source?.readyState === EventSource.CLOSED ? "not connected, trying again" : "connecting");
};

const connect = () => {
  clearTimeout(retry);
  source?.close();
  // A hidden tab costs the host nothing.
  if (over || document.hidden) return;
  const url = new URL(tail.dataset.live, location.href);
  if (lastId !== "") url.searchParams.set("last_event_id", lastId);
  source = new EventSource(url);
  source.addEventListener("open", () => {
    wait = RETRY_MS;
    label();
  });
  source.addEventListener("error", () => {
    label();
    if (source.readyState !== EventSource.CLOSED) return;
    // A refused stream is final for the browser; the host may only be restarting, or the session may have ended.
    retry = setTimeout(connect, wait);
    wait = Math.min(2 * wait, RETRY_MOST_MS);
    figures().catch(() => {});
  });
  source.addEventListener("request", (event) => {
    const record = JSON.parse(event.data);
    lastId = event.lastEventId || record.id;
    // After an interruption the host sends rather too much than too little.
    if (waiting.some((other) => other.id === record.id)) return;
    if (body.querySelector(`tr[data-id="${CSS.escape(record.id)}"]`)) return;
    waiting.push(record);
    if (waiting.length > ROWS) waiting.shift();
    unseen += 1;
    changed = true;
    lastEvent = Date.now();
  });
  source.addEventListener("gap", (event) => {
    const count = JSON.parse(event.data).missed;
    missed = count === null ? NaN : missed + count;
    missedNote.textContent = Number.isNaN(missed) ? "some not shown" : `${missed.toLocaleString("en-US")} not shown`;
    missedNote.hidden = false;
    changed = true;
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
  pauseButton.firstChild.textContent = paused ? "Resume " : "Pause ";
  label();
  paint();
};

if (tail.dataset.live) {
  pauseButton.hidden = false;
  document.getElementById("live-hint").hidden = false;
  pauseButton.addEventListener("click", () => setPaused(!paused));
  chip.addEventListener("click", () => {
    hovered = false;
    setPaused(false);
  });
  document.addEventListener("keydown", (event) => {
    if (document.documentElement.dataset.keys === "off") return;
    if (event.target.closest?.("input, textarea, select, dialog")) return;
    if (event.key === "p" && !event.ctrlKey && !event.metaKey && !event.altKey) setPaused(!paused);
  });
  tail.addEventListener("pointerenter", (event) => (hovered = event.pointerType === "mouse"));
  tail.addEventListener("pointerleave", () => (hovered = false));
  document.addEventListener("visibilitychange", () => {
    // Coming back, it asks for what it missed.
    if (!document.hidden) changed = true;
    wait = RETRY_MS;
    connect();
  });
  show("reconnecting", "connecting");
  connect();
  setInterval(paint, PAINT_MS);
  setInterval(refresh, PAINT_MS);
}
