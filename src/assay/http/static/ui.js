// What pages do beyond links and forms: copying, keys, sliders, themes. Without it all still works.
"use strict";

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

function say(text, milliseconds = 2500) {
  const place = $("#said");
  place.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { place.textContent = ""; }, milliseconds);
}

// The page is out of date if the service could not be reached
for (const kind of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(kind, () => say("The service did not answer. Nothing was changed; try again.", 10000));
}

// Copying
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    say("Copied.");
  } catch {
    say("The browser does not allow copying; select the text instead.");
  }
});

// Themes: as the system is set, light, dark
const THEMES = ["", "light", "dark"];
function showTheme() {
  const now = document.documentElement.dataset.theme || "";
  const button = $("[data-theme-switch]");
  if (!button) return;
  button.textContent = { "": "◐", light: "☀", dark: "☾" }[now];
  button.setAttribute("aria-label", `Theme: ${now || "as the system is set"}`);
}
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-theme-switch]")) return;
  const now = document.documentElement.dataset.theme || "";
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  if (next) { document.documentElement.dataset.theme = next; localStorage.setItem("assay-theme", next); }
  else { delete document.documentElement.dataset.theme; localStorage.removeItem("assay-theme"); }
  showTheme();
});
showTheme();

// Moments are written in UTC and shown in the reader's time zone
function showMoments(root) {
  for (const one of $$("time[datetime]:not([title])", root)) {
    const when = new Date(one.dateTime);
    if (isNaN(when)) continue;
    const two = (number) => String(number).padStart(2, "0");
    one.title = one.textContent;
    one.textContent = `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())} ${two(when.getHours())}:${two(when.getMinutes())}`;
  }
}
showMoments(document);
document.addEventListener("htmx:load", (event) => showMoments(event.detail.elt.parentNode || document));

// On a narrow screen one of two panes is shown; which one outlives what htmx swaps
function showPane(name) {
  if (!$("[data-pane-tab]")) return;
  document.documentElement.dataset.pane = name;
  for (const one of $$("[data-pane-tab]")) one.setAttribute("aria-pressed", String(one.dataset.paneTab === name));
}
showPane("A");
document.addEventListener("htmx:load", () => showPane(document.documentElement.dataset.pane || "A"));
document.addEventListener("click", (event) => {
  const tab = event.target.closest("[data-pane-tab]");
  if (tab) showPane(tab.dataset.paneTab);
});

// Dialogs
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open]");
  if (opener) document.getElementById(opener.dataset.open).showModal();
});

// A slider shows its value
document.addEventListener("input", (event) => {
  if (event.target.type === "range") {
    const output = event.target.parentElement.querySelector("output");
    if (output) output.textContent = event.target.value;
  }
});

// Some choices change the form itself: send it as a whole
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-reload]")) {
    event.stopPropagation();
    event.target.form.submit();
  }
  if (event.target.matches("[data-send]")) event.target.form.requestSubmit();
});
document.addEventListener("input", (event) => {
  if (event.target.matches("[data-reload]")) event.stopPropagation();
}, true);

// Keys
const TARGETS = { s: "/search", d: "/documents", r: "/runs", c: "/compare", t: "/testsets", a: "/annotate", j: "/jobs", e: "/evaluate" };
let waiting = false;

function move(step) {
  const entries = $$(".entry");
  if (!entries.length) return;
  const now = entries.indexOf(document.activeElement.closest?.(".entry"));
  const next = entries[Math.min(entries.length - 1, Math.max(0, now + step))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = event.target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select");
  const leaves = event.key === "Escape" || (event.key === "Enter" && field?.matches("[data-key-comment]"));
  if (leaves && field) { event.preventDefault(); field.blur(); return; }
  if (field || $("dialog[open]")) return;
  if (waiting && TARGETS[event.key]) { event.preventDefault(); location.href = TARGETS[event.key]; return; }
  waiting = event.key === "g";
  const judged = $(`[data-key="${CSS.escape(event.key)}"]`);
  if (judged) { event.preventDefault(); judged.click(); return; }
  const comment = event.key === "c" && $("[data-key-comment]");
  if (comment) { event.preventDefault(); comment.focus(); return; }
  if (event.key === "/") {
    const search = $("[data-key-search]");
    if (search) { event.preventDefault(); search.focus(); search.select(); }
  } else if (event.key === "?") { $("#keys").showModal(); }
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "Enter" && event.target.matches(".entry")) {
    const link = $("details:not(.folded) > summary", event.target) || $("a[href]", event.target);
    if (link) link.click();
  }
});
