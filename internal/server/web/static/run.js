// A run of a workflow: its live part is replaced by what the server sends.

import { follow } from "./stream.js";

const live = document.getElementById("live");
const says = document.getElementById("says");

// Whoever is at a link or a button of that part stays there, and a region that
// was scrolled stays where it was.
function keep(change) {
  const at = live.contains(document.activeElement) ? document.activeElement : null;
  const same = at && (at.id ? "#" + CSS.escape(at.id) : at.getAttribute("href") ? `${at.localName}[href="${CSS.escape(at.getAttribute("href"))}"]` : at.getAttribute("aria-label") ? `[aria-label="${CSS.escape(at.getAttribute("aria-label"))}"]` : null);
  const nth = same ? [...live.querySelectorAll(same)].indexOf(at) : 0;
  const scrolled = [...live.querySelectorAll(".scroll")].map((e) => e.scrollLeft);
  change();
  live.querySelectorAll(".scroll").forEach((e, i) => { e.scrollLeft = scrolled[i] || 0; });
  if (same) (live.querySelectorAll(same)[nth] || live.querySelector(same))?.focus({ preventScroll: true });
}

follow(live, (html) => {
  keep(() => { live.innerHTML = html; });
  announce();
});

// For a screen reader: what came out, at most each ten seconds.
let told = document.getElementById("came")?.textContent;
let last = 0;
function announce() {
  const now = document.getElementById("came")?.textContent;
  if (now === told || Date.now() - last < 10000) return;
  told = now;
  last = Date.now();
  says.textContent = now + " came out";
}
