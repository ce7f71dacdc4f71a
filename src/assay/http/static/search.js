// Judging while one searches, by click and by key, and what else the playground does.
"use strict";

// On a narrow screen the options are folded until somebody wants them
for (const one of $$("details[data-fold]")) {
  if (matchMedia("(max-width: 52rem)").matches) one.open = false;
}

// A question that was sent leaves its field: keys belong to the results, and a phone hides its keyboard
document.addEventListener("submit", (event) => {
  if (event.target.id === "ask") $("input[name=q]", event.target).blur();
});

// The pill that is chosen takes its grade back; the same result in the other pane follows
document.addEventListener("click", (event) => {
  const label = event.target.closest("fieldset.grades label");
  if (!label) return;
  const input = document.getElementById(label.htmlFor);
  if (!input.checked) return;
  event.preventDefault();
  const none = $("input[value='']", input.closest("fieldset"));
  none.checked = true;
  none.dispatchEvent(new Event("change", { bubbles: true }));
});
document.addEventListener("change", (event) => {
  if (!event.target.matches("fieldset.grades input")) return;
  for (const one of $$("fieldset.grades input")) {
    if (one.name === event.target.name && one.value === event.target.value) one.checked = true;
  }
});

// What was stored is what the next grade is compared with: other tabs may grade, too
document.addEventListener("htmx:afterRequest", (event) => {
  const { xhr, requestConfig } = event.detail;
  if (!xhr?.getResponseHeader("x-grades-saved")) return;
  for (const one of $$("form.graded [name^='was:']")) {
    const sent = requestConfig.parameters[one.name.replace("was:", "grade:")];
    if (sent !== undefined) one.value = sent;
  }
});

// Keys: 0 to 3 grade the entry and go on to the next one, x takes the grade back
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
  if (event.target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select")) return;
  if (event.key === "n" || event.key === "p") {
    const link = $(`.pager a[rel=${event.key === "n" ? "next" : "prev"}]`);
    if (link) link.click();
    return;
  }
  if (event.key === "w") {
    const box = $("[data-why]");
    if (box) { event.preventDefault(); box.focus(); }
    return;
  }
  if (!"0123x".includes(event.key)) return;
  const entry = event.target.closest(".hit");
  const fields = entry && $("fieldset.grades", entry);
  if (!fields) return;
  event.preventDefault();
  const input = $(`input[value="${event.key === "x" ? "" : event.key}"]`, fields);
  if (!input.checked) {
    input.checked = true;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }
  const next = entry.nextElementSibling;
  if (event.key !== "x" && next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-close]");
  if (button) button.closest("dialog").close();
});
