// A pool's settings: says what the chosen way does, and brings what came of
// trying rules into view.

for (const name of ["elasticity", "stability", "balancer"]) {
  const menu = document.getElementById("control-" + name);
  const doc = document.getElementById("doc-" + name);
  menu.addEventListener("change", () => {
    doc.textContent = document.querySelector(`#forms-${name} [data-doc="${CSS.escape(menu.value)}"]`)?.textContent ?? "";
  });
}

if (!document.querySelector(".problems[tabindex]")) {
  document.getElementById("tried")?.focus();
  document.getElementById("tried")?.scrollIntoView({ block: "start" });
}
