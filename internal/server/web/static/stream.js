// The live part of a page, which the server sends again whenever it changes. Where
// that is not possible, as when it is open in too many tabs, the page says so, and
// tries again now and then.

const pause = 20000;

export function follow(live, replace) {
  let source;
  let stalled;
  function open() {
    source = new EventSource(live.dataset.events);
    source.addEventListener("live", (event) => {
      stalled?.remove();
      stalled = undefined;
      replace(JSON.parse(event.data)); // made by the server, escaped there
      live.dataset.seen = String(Number(live.dataset.seen || 0) + 1);
    });
    source.addEventListener("gone", () => {
      source.close();
      location.reload();
    });
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED) return; // the browser tries again
      if (!stalled) {
        stalled = document.createElement("p");
        stalled.className = "notice warn";
        stalled.setAttribute("role", "status");
        stalled.textContent = "What is below stands still: it may be open in too many tabs. Close some, or load this page again.";
        live.before(stalled);
      }
      setTimeout(open, pause);
    });
  }
  open();
  window.addEventListener("pagehide", () => source.close());
}
