// A new run: the workflow is checked as it is chosen, pasted or typed.

const form = document.getElementById("run-form");
const text = document.getElementById("run-text");
const file = document.getElementById("run-file");
const checked = document.getElementById("checked");

let timer = 0;
let asked = 0;

async function check() {
  clearTimeout(timer);
  if (!text.value.trim()) return;
  const mine = ++asked;
  const body = new FormData();
  body.set("text", text.value);
  body.set("tenant", form.elements.tenant?.value ?? ""); // says which services it may call
  const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } }).catch(() => null);
  if (mine !== asked || !answer?.ok) return; // a newer question is on its way, or the button will say what is wrong
  checked.innerHTML = (await answer.json()).html; // made by the server, escaped there
  checked.dataset.seen = String(Number(checked.dataset.seen || 0) + 1);
}

file.addEventListener("change", async () => {
  const chosen = file.files[0];
  if (!chosen || chosen.size > 4 << 20) return;
  text.value = await chosen.text();
  file.value = ""; // it is in the text now, where it can be changed
  check();
});
text.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(check, 600);
});
