// A running batch: its live part is replaced by what the server sends. Where
// that is not possible, the page is loaded again now and then.

const live = document.getElementById("live");
const says = document.getElementById("says");

const source = new EventSource(live.dataset.events);
source.addEventListener("live", (event) => {
  live.innerHTML = JSON.parse(event.data); // made by the server, escaped there
  live.dataset.seen = String(Number(live.dataset.seen || 0) + 1);
  announce();
});
source.addEventListener("gone", () => {
  source.close();
  location.reload();
});

// For a screen reader: a word each time another tenth is done, not each time.
let tenth = -1;
function announce() {
  const now = Math.floor(parseInt(document.getElementById("percent").textContent.replace(/[^0-9]/g, ""), 10) / 10);
  if (tenth >= 0 && now !== tenth) says.textContent = now * 10 + " percent labelled";
  tenth = now;
}
announce();
window.addEventListener("pagehide", () => source.close());
