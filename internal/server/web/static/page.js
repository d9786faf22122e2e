// What every page has: small comforts that work is possible without.

document.documentElement.classList.add("scripted");

// The notice of an action is shown once: a reload does not bring it back.
const here = new URL(location.href);
if (here.searchParams.has("did")) {
  here.searchParams.delete("did");
  history.replaceState(null, "", here.pathname + here.search + here.hash);
}

// What is wrong comes into view and is read out.
document.querySelector(".problems[tabindex]")?.focus();

// A form is sent once, however often the button is pressed.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented) return;
  const form = event.target;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "1";
});
window.addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// Leaving the page asks first if a form that saves several fields would lose what was
// typed into it, now or before it was shown again.
const edited = (field) => {
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (!field.options) return field.value !== field.defaultValue;
  const first = [...field.options].findIndex((option) => option.defaultSelected);
  return field.selectedIndex !== Math.max(first, 0);
};
const unsaved = (form) => !form.dataset.sent && form.matches("[data-ask], :has([name=filled_with])") &&
  (form.matches("[data-typed], :has([data-typed])") || [...form.querySelectorAll("input, select, textarea")].some(edited));
let discarded = false;
document.addEventListener("click", (event) => {
  discarded = Boolean(event.target.closest?.("[data-discard]"));
});
window.addEventListener("beforeunload", (event) => {
  if (discarded || ![...document.forms].some(unsaved)) return;
  event.preventDefault();
  for (const form of document.forms) delete form.dataset.sent; // whoever stays may send it again
});

// The menu behind the name closes by a click elsewhere and by Escape.
const menu = document.querySelector("details.me");
document.addEventListener("click", (event) => {
  if (menu?.open && !menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && menu?.open) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}
