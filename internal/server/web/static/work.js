// The worker's page: the timer, keys, drafts, signs of life, and the answers
// that come out of a requester's frame.

import { listen } from "./frame.js";

const form = document.getElementById("answer");
const says = document.getElementById("says");
const timer = document.getElementById("timer");
const assignment = form.dataset.assignment;

function say(text, loud) {
  says.textContent = text;
  says.className = loud ? "notice warn" : "hidden";
}

// A worker who waits in another tab sees it in the title.
if (document.hidden) {
  const title = document.title;
  document.title = "● New task · Throng";
  document.addEventListener("visibilitychange", () => { document.title = title; }, { once: true });
}

// --- the timer, by the server's clock ---

let expires = Date.parse(timer.dataset.expires);
const lease = Number(timer.dataset.lease) * 1000;
let skew = Date.parse(timer.dataset.now) - Date.now();

function left() {
  return expires - (Date.now() + skew);
}

let next;
function tick() {
  clearTimeout(next);
  const ms = left();
  const s = Math.max(0, Math.ceil(ms / 1000));
  const h = Math.floor(s / 3600);
  const clock = (h ? h + ":" + String(Math.floor(s / 60) % 60).padStart(2, "0") : String(Math.floor(s / 60))) + ":" + String(s % 60).padStart(2, "0");
  timer.textContent = clock;
  timer.classList.toggle("soon", ms < Math.min(60000, lease / 4));
  if (ms <= 0) {
    say("The time is up. Your answer may still count, if nobody else was given the task.", true);
    return;
  }
  next = setTimeout(tick, (ms % 1000) + 5);
}
tick();

// --- signs of life, while somebody is there ---

// The lease is renewed while somebody has done something within half of it.
const every = Math.min(60000, Math.max(1000, lease / 4));
let active = Date.now();
for (const kind of ["keydown", "pointerdown", "pointermove", "scroll"]) {
  window.addEventListener(kind, () => { active = Date.now(); }, { passive: true });
}
window.addEventListener("message", () => { active = Date.now(); });
// Keys and clicks within the frame are not seen here, but that it has the focus is.
const inFrame = () => document.activeElement?.tagName === "IFRAME";

async function beat() {
  setTimeout(beat, every);
  if (document.hidden || (Date.now() - active > lease / 2 && !inFrame()) || left() <= 0) return;
  try {
    const answer = await fetch("/work/heartbeat", { method: "POST", headers: { Accept: "application/json" }, body: new URLSearchParams({ assignment }) });
    const body = await answer.json();
    if (answer.ok) {
      expires = Date.parse(body.expires);
      skew = Date.parse(body.now) - Date.now();
      tick();
    } else if (answer.status === 404 || answer.status === 409) {
      say("This task is no longer yours: " + body.error + ".", true);
    } else if (answer.status === 401) {
      location.reload();
    }
  } catch {
    // No connection: the next one may get through.
  }
}
setTimeout(beat, every);

// --- what was typed is kept until it is sent ---

const drafts = "throng.draft.";
const key = drafts + assignment;
const longest = 100_000; // characters of a draft that are kept

function names() {
  return [...form.elements].filter((x) => x.name.startsWith("s.") || x.name.startsWith("l."));
}

// stored calls a function of the storage, without which nothing is kept and all else works.
function stored(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

const kept = stored((at) => {
  for (const other of Object.keys(at)) {
    if (other.startsWith(drafts) && other !== key) at.removeItem(other);
  }
  return JSON.parse(at.getItem(key) || "null");
});

// keep takes what was typed, {name: [values]}. What a requester's page sends may be anything.
function keep(fields) {
  stored((at) => {
    const text = JSON.stringify(fields);
    if (text.length <= longest) at.setItem(key, text);
  });
}

if (kept && !("refused" in form.dataset)) {
  for (const x of names()) {
    if (x.type === "radio" || x.type === "checkbox") x.checked = (kept[x.name] || []).includes(x.value);
    else if (kept[x.name]) x.value = kept[x.name][0];
  }
}
form.addEventListener("input", () => {
  const now = {};
  for (const x of names()) {
    if ((x.type === "radio" || x.type === "checkbox") && !x.checked) continue;
    (now[x.name] ||= []).push(x.value);
  }
  keep(now);
});

// --- keys ---

const submit = document.getElementById("submit");

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey || event.isComposing || !submit) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit(submit);
    return;
  }
  if (event.ctrlKey || event.metaKey) return;
  const at = event.target;
  const choosing = at.tagName === "INPUT" && (at.type === "radio" || at.type === "checkbox");
  if (!choosing && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT|BUTTON|A|SUMMARY|AUDIO|VIDEO)$/.test(at.tagName))) return;
  if (/^[0-9-]$/.test(event.key)) {
    const chosen = form.querySelector(`input[data-key="${event.key}"]`);
    if (!chosen) return;
    event.preventDefault();
    chosen.focus();
    chosen.click();
  } else if (event.key === "Enter") {
    event.preventDefault();
    form.requestSubmit(submit);
  }
});

// The first thing to type into has the focus, so that typing answers at once.
if (!document.querySelector(".problems[tabindex]")) {
  form.querySelector('input[type="text"], input[type="number"], input[type="date"], textarea')?.focus({ preventScroll: true });
}

// --- a requester's own HTML ---

const frame = document.getElementById("frame");
if (frame) {
  let sending = false;
  listen(frame, {
    ready() {
      if (kept) frame.contentWindow.postMessage({ throng: "draft", fields: kept }, "*");
    },
    draft: keep,
    async answer(fields) {
      if (sending) return;
      sending = true;
      try {
        const body = new URLSearchParams({ assignment, answer: JSON.stringify(fields ?? {}) });
        const answer = await fetch("/work/submit", { method: "POST", headers: { Accept: "application/json" }, body });
        const out = await answer.json();
        if (answer.ok) {
          stored((at) => at.removeItem(key));
          location.assign(out.next);
          return;
        }
        say(out.error, true);
      } catch {
        say("The answer did not get through. Please submit it again.", true);
      }
      sending = false;
    },
  });
}
