// The form of a template. CSS shows the fields of the kind that is chosen; this
// only makes a click on a kind bring its first field into view.

for (const radio of document.querySelectorAll('.template-form input[name="kind"]')) {
  radio.addEventListener("change", () => {
    radio.closest(".kind").scrollIntoView({ block: "nearest" });
  });
}
