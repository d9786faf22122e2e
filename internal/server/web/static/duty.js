// The page of somebody off duty: asks the server what is new, which answers as
// soon as they are called, or are not needed any more.

const says = document.getElementById("says");
const duty = document.getElementById("duty");
const icon = document.querySelector('link[rel="icon"]');
const usual = icon.href;
const wait = 25;

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// The answer to a call is sent by a form: from then on nothing is replaced.
let leaving = false;
document.addEventListener("submit", () => { leaving = true; });
window.addEventListener("pageshow", () => { leaving = false; });

function show(body) {
  if (leaving) return;
  const focused = duty.contains(document.activeElement);
  duty.innerHTML = body.html; // made by the server, escaped there
  duty.dataset.state = body.state;
  document.title = body.title + " · Throng";
  mark(body.called);
  const thanks = document.getElementById("thanks");
  says.textContent = body.called ? "You are called: people are needed now." : thanks ? thanks.textContent : "You are off duty.";
  if (focused) document.getElementById("main").focus({ preventScroll: true });
}

// The sign of the page, in the tab and on the app's icon.
function mark(called) {
  icon.href = called ? new URL("icon-called.svg", import.meta.url).href : usual;
  (called ? navigator.setAppBadge?.(1) : navigator.clearAppBadge?.())?.catch(() => {});
}

async function ask() {
  const start = Date.now();
  const query = new URLSearchParams({ state: duty.dataset.state, wait });
  try {
    const answer = await fetch("/work/duty?" + query, { headers: { Accept: "application/json" } });
    const body = await answer.json();
    if (answer.ok && body.go) {
      if (!leaving) location.assign(body.go);
      return true;
    }
    if (answer.status === 401 || answer.status === 403) {
      location.reload();
      return true;
    }
    if (!answer.ok) {
      says.textContent = body.error + ".";
    } else if (body.html) {
      show(body);
      return false;
    }
  } catch {
    if (!leaving) says.textContent = "No connection to the server. Trying again.";
  }
  if (Date.now() - start < 2000) await sleep(5000); // the server is closing, or the line is bad
  return false;
}

mark("called" in duty.dataset);
while (!(await ask())) {
  // until they are on duty
}
