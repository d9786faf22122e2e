// A pool's page: what moves is fetched now and then, and put in place where it
// has changed. What somebody is busy with stays as it is.

const every = Number(document.getElementById("pool-now").dataset.every);
const says = document.getElementById("says");

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// until resolves when somebody looks at the page.
function looked() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((done) => document.addEventListener("visibilitychange", () => done(), { once: true }));
}

const chosen = new Set(); // parts in which something was chosen that is not sent yet
document.addEventListener("change", (event) => {
  const part = event.target.closest("[data-live]");
  if (part) chosen.add(part.id);
});

async function look() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (answer.redirected || answer.status === 401 || answer.status === 403 || answer.status === 404) {
    location.reload(); // signed out, or the pool is gone
    return;
  }
  if (!answer.ok) return;
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const now = next.getElementById(part.id);
    if (!now || chosen.has(part.id) || part.contains(document.activeElement)) continue;
    const open = [...part.querySelectorAll("details")].map((d) => d.open);
    now.querySelectorAll("details").forEach((d, i) => { d.open = open[i] ?? d.open; });
    const at = [...part.querySelectorAll(".scroll")].map((x) => x.scrollLeft);
    if (part.innerHTML === now.innerHTML) continue;
    part.innerHTML = now.innerHTML; // made by the server, escaped there
    part.querySelectorAll(".scroll").forEach((x, i) => { x.scrollLeft = at[i] ?? 0; });
  }
  document.body.dataset.looked = String(Number(document.body.dataset.looked ?? 0) + 1);
  announce();
}

// For a screen reader: a word when the size has changed, not each time.
let last = document.getElementById("size").textContent;
function announce() {
  const size = document.getElementById("size").textContent;
  if (size !== last) says.textContent = size + " on duty now";
  last = size;
}

for (;;) {
  await sleep(every);
  await looked();
  try {
    await look();
  } catch {
    // No connection: the next one may get through.
  }
}
