// What the pages of runs, jobs and keys do beyond links and forms, and the command palette.
"use strict";

// A form that is refused stays as it is, with the reason at its top
function problemSlot(form) {
  let slot = $(":scope > .form-problem", form);
  if (!slot) {
    slot = document.createElement("div");
    slot.className = "form-problem";
    form.prepend(slot);
  }
  return slot;
}

function askFirst(text) {
  const dialog = $("#ask-first");
  $("#ask-text").textContent = text;
  dialog.showModal();
  return new Promise((resolve) => {
    const answered = (event) => {
      const button = event.target.closest("[data-answer]");
      if (event.type !== "close" && !button) return;
      dialog.removeEventListener("click", answered);
      dialog.removeEventListener("close", answered);
      if (button) dialog.close();
      resolve(Boolean(button) && button.dataset.answer === "yes");
    };
    dialog.addEventListener("click", answered);
    dialog.addEventListener("close", answered);
  });
}

async function sendKept(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  form.setAttribute("aria-busy", "true");
  let answer;
  try {
    answer = await fetch(form.action, { method: "POST", body, headers: { "HX-Request": "true" } });
  } catch {
    say("The service did not answer. Nothing was changed; try again.", 10000);
    return;
  } finally {
    form.removeAttribute("aria-busy");
  }
  if (answer.redirected && answer.ok) { location.assign(answer.url); return; }
  const text = await answer.text();
  if (!answer.ok) {
    const slot = problemSlot(form);
    slot.innerHTML = text;
    slot.scrollIntoView({ block: "nearest" });
    return;
  }
  const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("main");
  $("main").replaceWith(fresh);
  htmx.process(fresh);
  fresh.scrollIntoView({ block: "start" });
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-keep], form[data-ask]");
  if (!form) return;
  event.preventDefault();
  const only = form.dataset.askIf;
  const asks = form.dataset.ask && (!only || new FormData(form).get("tag") === only);
  if (asks && !(await askFirst(form.dataset.ask))) return;
  await sendKept(form, event.submitter);
});

// Going back is only offered where there is something to go back to
for (const button of $$("[data-back]")) {
  button.hidden = history.length < 2;
  button.addEventListener("click", () => history.back());
}

// Ticked runs: compare two, or look at several side by side
function countTicked() {
  const ticked = $$("[data-pick]:checked").length;
  for (const button of $$("[data-needs]")) {
    const [least, most] = button.dataset.needs.split("-").map(Number);
    button.disabled = ticked < least || ticked > most;
  }
  const count = $("[data-ticked]");
  if (count) count.textContent = ticked ? `${ticked} ticked` : "Tick two or more to compare them";
}
document.addEventListener("change", (event) => { if (event.target.matches("[data-pick]")) countTicked(); });
window.addEventListener("pageshow", countTicked);

// A menu opens beside its button
document.addEventListener("toggle", (event) => {
  const menu = event.target;
  if (!menu.matches?.("[data-menu]") || event.newState !== "open") return;
  const button = $(`[popovertarget="${CSS.escape(menu.id)}"]`).getBoundingClientRect();
  menu.dataset.placed = "";
  const { width, height } = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(8, button.right - width)}px`;
  menu.style.top = `${button.bottom + height > innerHeight ? Math.max(8, button.top - height) : button.bottom}px`;
}, true);

// The command palette
function openPalette() {
  const dialog = $("#palette");
  if (dialog.open) return;
  dialog.showModal();
  const field = $("input", dialog);
  field.value = "";
  field.dispatchEvent(new Event("open"));
}
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-palette]")) openPalette();
  if (event.target.matches("dialog#palette")) event.target.close();
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openPalette();
    return;
  }
  if (event.key === "x" && event.target.matches?.(".entry")) $("[data-pick]", event.target)?.click();
  const dialog = event.target.closest?.("dialog#palette");
  if (!dialog) return;
  if (event.key === "Escape") { event.preventDefault(); dialog.close(); return; }
  const links = $$("a", dialog);
  const now = links.indexOf(document.activeElement);
  if (event.key === "ArrowDown") { event.preventDefault(); links[Math.min(links.length - 1, now + 1)]?.focus(); }
  if (event.key === "ArrowUp") { event.preventDefault(); now <= 0 ? $("input", dialog).focus() : links[now - 1].focus(); }
  if (event.key === "Enter" && now < 0) { event.preventDefault(); links[0]?.click(); }
});
