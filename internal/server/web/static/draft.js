// A draft: the cost follows what is typed, and a preview in a frame says that it
// is one.

import { listen } from "./frame.js";
import "./template.js";

const frame = document.getElementById("frame");
const note = document.getElementById("preview-note");
if (frame) {
  const tried = () => { note.textContent = "This is a preview: nothing is sent. The form works."; };
  listen(frame, { preview: tried, answer: tried });
}

const form = document.getElementById("settings");
if (form) {
  const tasks = Number(form.dataset.tasks);
  const balance = Number(form.dataset.balance);
  const micros = (text) => Math.round(Number(text) * 1e6);
  const money = (m) => {
    let [whole, part] = (m / 1e6).toFixed(6).split(".");
    part = part.replace(/0+$/, "").padEnd(2, "0");
    return whole + "." + part;
  };
  const cost = document.getElementById("cost");
  const enough = document.getElementById("enough");
  const estimate = () => {
    const f = new FormData(form);
    const most = f.get("rule") === "agree" ? Number(f.get("of")) : Number(f.get("count"));
    const budget = f.get("budget").trim();
    const reward = micros(f.get("reward"));
    const total = budget ? micros(budget) : tasks * most * reward;
    if (!Number.isFinite(total)) return;
    cost.textContent = money(total);
    cost.previousElementSibling.textContent = budget ? "Budget" : "At most";
    cost.nextElementSibling.textContent = `${tasks} ${tasks === 1 ? "task" : "tasks"} × ${most} × ${money(reward)}`;
    enough.textContent = total <= balance ? "enough" : "not enough";
    enough.classList.toggle("bad", total > balance);
  };
  form.addEventListener("input", estimate);
  if (form.querySelector("[data-typed]")) estimate();
}
