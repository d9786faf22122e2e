// A running batch: its live part is replaced by what the server sends.

import { follow } from "./stream.js";

const live = document.getElementById("live");
const says = document.getElementById("says");

follow(live, (html) => {
  live.innerHTML = html;
  announce();
});

// For a screen reader: a word each time another tenth is done, not each time.
let tenth = -1;
function announce() {
  const now = Math.floor(parseInt(document.getElementById("percent").textContent.replace(/[^0-9]/g, ""), 10) / 10);
  if (tenth >= 0 && now !== tenth) says.textContent = now * 10 + " percent labelled";
  tenth = now;
}
announce();
