// What the pages of runs, jobs and keys do beyond links and forms, and the command palette.
"use strict";

// What was typed at length outlives a reload, until it is sent
const draftOf = (field) => `${location.pathname}${location.search} ${field.name}`;
function showDrafts(root) {
  for (const one of $$("form[data-keep] textarea", root)) one.value ||= sessionStorage.getItem(draftOf(one)) || "";
}
showDrafts(document);
document.addEventListener("input", (event) => {
  if (event.target.matches("form[data-keep] textarea")) sessionStorage.setItem(draftOf(event.target), event.target.value);
});

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

// the same where htmx sends the form: a refusal does not take the place of what was typed
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, requestConfig } = event.detail;
  const form = requestConfig.elt.closest?.("form[hx-post]");
  if (xhr.status < 400 || !form || !event.detail.target.contains(form)) return;
  event.detail.shouldSwap = false;
  const slot = problemSlot(form);
  slot.innerHTML = xhr.responseText;
  slot.scrollIntoView({ block: "nearest" });
});

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
  if (form.ariaBusy === "true") return; // a second click
  const body = new URLSearchParams(new FormData(form, submitter));
  form.setAttribute("aria-busy", "true");
  let answer;
  try {
    answer = await fetch(submitter?.getAttribute("formaction") || form.action, { method: "POST", body, headers: { "HX-Request": "true" } });
  } catch {
    say("The service did not answer. Nothing was changed; try again.", 10000);
    form.removeAttribute("aria-busy");
    return;
  }
  if (answer.redirected && answer.ok) {
    for (const one of $$("textarea", form)) sessionStorage.removeItem(draftOf(one));
    if (answer.url.split("#")[0] === location.href.split("#")[0]) location.reload();
    else location.assign(answer.url);
    return; // busy until the next page is here
  }
  form.removeAttribute("aria-busy");
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
  showMoments(fresh);
  countTicked();
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

// Plain forms are sent once, however often their button is pressed
const SENDS = "form[method=post]:not([data-keep], [data-ask], [hx-post])";
document.addEventListener("submit", (event) => {
  if (!event.target.matches(SENDS)) return;
  if (event.target.ariaBusy === "true") event.preventDefault();
  event.target.ariaBusy = "true";
});
window.addEventListener("pageshow", () => { for (const one of $$("form[aria-busy=true]")) one.ariaBusy = null; });

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

// Files go up one after the other, and wait while the service is busy; the last one leads to its job
const BUSY = [429, 503], LONGEST_WAIT_S = 600;
const pause = (seconds) => new Promise((resolve) => { setTimeout(resolve, 1000 * seconds); });

function sendFile(address, file, bar) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", `${address}?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Prefer", "respond-async");
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = (event) => { bar.max = event.total; bar.value = event.loaded; };
    request.onloadend = () => resolve(request);
    request.send(file);
  });
}
async function sendPatiently(address, file, line) {
  const bar = $("progress", line), said = document.createElement("span");
  line.append(said);
  let request = await sendFile(address, file, bar);
  for (let waited = 0; BUSY.includes(request.status) && waited < LONGEST_WAIT_S;) {
    const seconds = Math.min(30, Math.max(1, Number(request.getResponseHeader("retry-after")) || 2));
    said.className = "soft";
    said.textContent = "waits for the files before it";
    await pause(seconds);
    waited += seconds;
    request = await sendFile(address, file, bar);
  }
  let answer = {};
  try { answer = JSON.parse(request.responseText); } catch { /* no answer at all */ }
  bar.remove();
  const done = request.status === 200 || request.status === 202;
  said.className = done ? "good" : "bad";
  said.textContent = done ? "received" : [answer.detail || "the service did not answer", answer.hint].filter(Boolean).join("; ");
  return done ? answer.job_id || (request.getResponseHeader("location") || "").split("/").pop() : "";
}
async function sendFiles(form, files) {
  const list = $(".upload-list", form);
  let last = "", failed = false;
  for (const file of files) {
    const line = document.createElement("li");
    const name = document.createElement("span");
    name.textContent = file.name;
    line.append(name, document.createElement("progress"));
    list.append(line);
    const job = await sendPatiently(form.dataset.upload, file, line);
    if (job) last = job; else failed = true;
  }
  if (last && !failed) location.assign(files.length > 1 ? "/jobs" : `/jobs/${last}`);
}
document.addEventListener("change", (event) => {
  const form = event.target.closest("[data-upload]");
  if (form && event.target.files?.length) sendFiles(form, [...event.target.files]);
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    const zone = event.target.closest?.(".drop-zone");
    if (!zone) return;
    event.preventDefault();
    zone.classList.toggle("over", kind === "dragover");
    if (kind === "drop") sendFiles(zone.closest("[data-upload]"), [...event.dataTransfer.files]);
  });
}

// A file that is chosen is read into a field, where it can be looked at before it is sent
document.addEventListener("change", async (event) => {
  const field = event.target.dataset?.into && document.getElementById(event.target.dataset.into);
  if (!field || !event.target.files.length) return;
  const file = event.target.files[0];
  field.value = await file.text();
  const name = $("input[name=name]", field.form);
  if (name && !name.value && !/\.(ya?ml|json)$/i.test(file.name)) name.value = file.name.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9._-]+/g, "_");
});

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
