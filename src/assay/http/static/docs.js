// Sends what a form of the reference page holds, and shows the answer.
"use strict";

async function send(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  for (const input of form.querySelectorAll("input[data-in]")) {
    if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
    else if (input.value === "") continue;
    else if (input.dataset.in === "query") query.append(input.name, input.value);
    else if (input.dataset.in === "header") headers[input.name] = input.value;
  }
  const key = document.getElementById("key").value.trim();
  if (key) headers["Authorization"] = `Bearer ${key}`;
  const body = form.querySelector("textarea");
  if (body) headers["Content-Type"] = "application/json";
  const address = query.size ? `${path}?${query}` : path;
  const began = performance.now();
  const answer = await fetch(address, { method: form.dataset.method, headers, body: body ? body.value : undefined });
  const text = await answer.text();
  let shown = text;
  try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON: as it is */ }
  return `${form.dataset.method} ${address}\n${answer.status} ${answer.statusText}, ${Math.round(performance.now() - began)} ms\n\n${shown}`;
}

for (const form of document.querySelectorAll("form[data-path]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const out = form.querySelector("pre");
    out.hidden = false;
    out.textContent = "...";
    try { out.textContent = await send(form); } catch (problem) { out.textContent = String(problem); }
  });
}
