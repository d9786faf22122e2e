// The waiting page: asks the server for a task, which answers as soon as there
// is one, and goes to it. It also goes where the server says: who is let go, or
// moved, is told so there.

const says = document.getElementById("says");
const why = document.getElementById("why");
const meter = document.getElementById("meter");
const wait = 25;
const { pool, pays } = document.querySelector("[data-pool]").dataset; // whoever is in another pool by now is told so

// Who stops, by the button, asks no more: that would bring them on duty again.
let stopped = false;
document.getElementById("stop")?.addEventListener("submit", () => { stopped = true; });
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

// --- what waiting has earned: the server's figure, and what has come since ---

let earned = Number(meter?.dataset.earned ?? 0); // micro-units
let since = 0; // asking since then; 0: not
function tick() {
  const more = since ? (Number(meter.dataset.rate) * (Date.now() - since)) / 60000 : 0;
  meter.textContent = ((earned + more) / 1e6).toFixed(4);
}
if (meter) {
  tick();
  setInterval(tick, 1000);
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function ask() {
  const start = Date.now();
  since = start;
  try {
    const answer = await fetch(`/work/next?wait=${wait}&pool=${pool}`, { method: "POST", headers: { Accept: "application/json" } });
    const body = await answer.json();
    since = 0;
    if (stopped) return true;
    if (answer.ok && body.go) {
      location.assign(body.go);
      return true;
    }
    if (answer.ok && body.task) {
      says.textContent = "Here is a task for you.";
      document.title = "● New task · Throng";
      location.assign("/work");
      return true;
    }
    if (answer.status === 401 || answer.status === 403) {
      location.reload();
      return true;
    }
    if (answer.ok && body.pays !== Number(pays)) { // a minute
      location.reload();
      return true;
    }
    if (answer.ok) {
      earned = body.earned;
      why.innerHTML = body.why; // made by the server, escaped there
      says.textContent = "There is nothing for you at the moment.";
    } else {
      says.textContent = body.error + ".";
    }
  } catch {
    since = 0;
    if (stopped) return true;
    says.textContent = "No connection to the server. Trying again.";
  }
  // Answered at once with nothing: another tab waits too, or the server is
  // closing. Do not hurry.
  if (Date.now() - start < 2000) await sleep(5000);
  return false;
}

while (!(await ask())) {
  // until there is a task
}
