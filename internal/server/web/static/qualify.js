// A test that is being taken: the time that is left, by the server's clock. When
// it is up, what there is is sent.

const timer = document.getElementById("timer");
const form = document.getElementById("answers");

if (timer && form) {
  const expires = Date.parse(timer.dataset.expires);
  const skew = Date.parse(timer.dataset.now) - Date.now();
  const tick = () => {
    const ms = expires - (Date.now() + skew);
    const s = Math.max(0, Math.ceil(ms / 1000));
    const h = Math.floor(s / 3600);
    timer.textContent = (h ? h + ":" + String(Math.floor(s / 60) % 60).padStart(2, "0") : String(Math.floor(s / 60))) + ":" + String(s % 60).padStart(2, "0");
    timer.classList.toggle("soon", ms < 60000);
    if (ms <= 0) {
      form.requestSubmit(document.getElementById("unfinished"));
      return;
    }
    setTimeout(tick, (ms % 1000) + 5);
  };
  tick();
}
