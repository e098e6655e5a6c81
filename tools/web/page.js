"use strict";

// Each form asks the worker in lines of the protocol, and shows the answers. docs/protocol.md has all operations.

const script = (id) => URL.createObjectURL(new Blob([document.getElementById(id).textContent]));
const workerScript = script("worker");

// The module, which another worker unpacks and compiles.
const module = new Promise((take, fail) => {
  const { textContent, dataset } = document.getElementById("module");
  const unpacker = new Worker(script("unpack"));
  unpacker.onmessage = ({ data }) => {
    unpacker.terminate();
    take(data);
  };
  unpacker.onerror = fail;
  const packed = Uint8Array.from(atob(textContent), (char) => char.charCodeAt(0));
  unpacker.postMessage({ size: Number(dataset.size), packed }, [packed.buffer]);
});

// The requests without an answer, in order: their lines, and what takes the answers.
const waiting = [];
let worker = started();

function started() {
  const own = new Worker(workerScript);
  own.onmessage = ({ data: { text, failure } }) => {
    if (own !== worker) return;
    const { take } = waiting.shift();
    // After a panic the memory of the module may be anything.
    if (failure !== undefined) restart();
    take(failure === undefined ? text : JSON.stringify({ ok: false, kind: "internal", error: failure }));
    work();
  };
  module.then((module) => own.postMessage(module));
  return own;
}

function post(line) {
  const own = worker;
  module.then(() => own.postMessage(line));
}

function restart() {
  worker.terminate();
  worker = started();
  waiting.forEach(({ line }) => post(line));
}

// The lines that answer the line of a request. After `Cancel` there is never an answer.
function ask(line, about, seconds) {
  return new Promise((take) => {
    waiting.push({ line, take, about, seconds, since: performance.now() });
    post(line);
    work();
  });
}

const answered = async (request, ...about) => JSON.parse(await ask(JSON.stringify(request), ...about));

// The state of the first request that waits.
const box = document.getElementById("work");

function work() {
  const [first] = waiting;
  const passed = first ? (performance.now() - first.since) / 1000 : 0;
  box.hidden = passed < 0.2;
  if (!first) return;
  box.querySelector("span").textContent = `${first.about ?? first.line.slice(0, 60)}: ${passed.toFixed(0)} s`;
  const progress = box.querySelector("progress");
  if (first.seconds > 0) progress.value = Math.min(passed / first.seconds, 1);
  else progress.removeAttribute("value");
}

setInterval(work, 200);
box.querySelector("button").addEventListener("click", () => {
  waiting.length = 0;
  document.querySelector("form.shown .result").append(made("p", {}, "Cancelled."));
  restart();
  work();
});

// An element with texts and elements in it.
function made(name, properties, ...inner) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...inner);
  return element;
}

const shown = (value) => {
  if (Array.isArray(value) && value.some((part) => part instanceof Object)) return value.map((part) => shown(part)).join("\n");
  if (value instanceof Object) return JSON.stringify(value).replaceAll('"', "").replaceAll(",", ", ");
  return typeof value === "number" ? value.toLocaleString("en") : String(value);
};

// All members of an answer that say something.
function facts(answer) {
  const members = Object.entries(answer).filter(([name, value]) => value !== null && !["ok", "ns"].includes(name));
  const row = ([name, value]) => [made("dt", {}, name.replaceAll("_", " ")), made("dd", {}, made("code", {}, shown(value)))];
  return made("dl", {}, ...members.flatMap(row));
}

function table(caption, heads, rows) {
  const cell = (text) => made("td", {}, made("code", {}, text ?? ""));
  const head = made("tr", {}, ...heads.map((text) => made("th", { scope: "col" }, text)));
  const body = rows.map((row) => made("tr", {}, ...row.map(cell)));
  return made("table", {}, made("caption", {}, caption), made("thead", {}, head), made("tbody", {}, ...body));
}

// What is wrong, with the line of the text and a mark below the byte.
function wrong({ error, at, in: member }, request) {
  const said = made("div", { className: "wrong", role: "alert" }, made("p", {}, error));
  const text = request[member];
  if (typeof text !== "string" || at === undefined) return said;
  const before = new TextDecoder().decode(new TextEncoder().encode(text).slice(0, at)).split("\n");
  const column = before.at(-1).length;
  const line = text.split("\n")[before.length - 1];
  const from = Math.max(column - 60, 0);
  const mark = " ".repeat(column - from) + "^";
  said.append(made("pre", {}, `${line.slice(from, column + 40)}\n${mark} line ${before.length}, column ${column + 1}`));
  return said;
}

// The parts of a result for a request: the error, or what `of` makes of the answer.
async function part(request, of, about, seconds) {
  const answer = await answered(request, about, seconds);
  return answer.ok ? of(answer) : wrong(answer, request);
}

const heading = (text) => made("h3", {}, text);

const picture = ({ svg }) => made("img", { src: `data:image/svg+xml,${encodeURIComponent(svg)}`, alt: "Picture of the layout" });

function report(answer) {
  // The content of an error RESOURCE_EXHAUSTED has no page.
  if (answer.html === undefined) return facts(answer);
  const frame = made("iframe", { title: "Report", srcdoc: answer.html });
  frame.setAttribute("sandbox", "allow-scripts");
  const file = URL.createObjectURL(new Blob([answer.html], { type: "text/html" }));
  return made("div", {}, made("p", {}, made("a", { href: file, download: "report.html" }, "Save the report")), frame);
}

// What each form asks and shows. `show` replaces the part of this name.
const forms = {
  async program({ text, assignment, old, machine, plan, entry, seconds }, show) {
    if (!text) return;
    if (old) {
      const difference = ({ difference }) => made("div", {}, heading("Difference"), made("pre", {}, difference));
      show("difference", await part({ op: "hlo", text, old, machine, top: 20 }, difference, "Comparison"));
    }
    const request = { op: "hlo", html: true, text, assignment, machine };
    show("report", await part(request, report, "Report"));
    if (plan) {
      const limit = Number(seconds);
      show("report", await part({ ...request, plan: true, entry, seconds: limit }, report, "Plan", limit));
    }
  },

  async layout({ text, machine, element }, show) {
    // `layout` takes two notations, `convert` all of them.
    const translated = (notation) => answered({ op: "convert", from: text, notation, element });
    const isKnown = (await answered({ op: "layout", text })).ok;
    const own = isKnown ? text : ((await translated("tensor-layout")).text ?? text);
    show("facts", await part({ op: "layout", text: own }, facts));
    const drawn = await answered({ op: "draw", text: own });
    if (drawn.ok) show("picture", picture(drawn));
    const shape = text.split("{")[0];
    const layouts = await answered({ op: "layouts", text: shape, machine });
    if (layouts.ok) {
      const row = ({ layout, padded_bytes, jax }) => [layout === layouts.default ? "default" : "", layout, shown(padded_bytes), jax];
      show("layouts", table(`Layouts of ${shape} on ${machine}, by padded bytes`, ["", "Layout", "Bytes", "JAX"], layouts.layouts.map(row)));
    }
    const rows = [];
    for (const notation of (await version).notations) {
      const { text: found, error } = await translated(notation);
      rows.push([notation, found ?? `none: ${error}`]);
    }
    show("notations", table("In other notations", ["Notation", "Text"], rows));
  },

  async algebra({ of }, show) {
    show("value", await part({ op: "algebra", of }, facts));
  },

  async map({ map }, show) {
    const steps = ({ map, steps }) => {
      const row = ({ rule, equation, before, after, fact }) => [rule, equation, before, after, fact];
      const list = table(`${steps.length} steps`, ["Rule", "Equation", "Before", "After", "Because"], steps.map(row));
      return made("div", {}, facts({ map }), list);
    };
    show("map", await part({ op: "simplify", map, explain: true }, steps));
  },
};

// The texts that were taken from files, by their field, and XLA's addresses: they are not typed, and so in no link.
const loaded = new Map();

function values(form) {
  const fields = Object.fromEntries(new FormData(form));
  for (const [field, { text, assignment }] of loaded) {
    if (field.form !== form) continue;
    fields[field.name] = text;
    if (field.name === "text") fields.assignment = assignment;
  }
  return fields;
}

async function run(form) {
  const result = form.querySelector(".result");
  result.replaceChildren();
  const parts = new Map();
  const running = (form.running = {});
  const show = (name, element) => {
    // A later run of the same form counts.
    if (form.running !== running) return;
    if (parts.has(name)) parts.get(name).replaceWith(element);
    else result.append(element);
    parts.set(name, element);
  };
  await forms[form.id](values(form), show);
}

// The link of a form holds what was typed: `#layout?text=f32[8]`.
const LONGEST = 20000;

function link(form) {
  const typed = [...new FormData(form)].filter(([, value]) => value.length <= LONGEST);
  return `#${form.id}?${new URLSearchParams(typed)}`;
}

// Shows the form that the address names. Returns it, and what was typed.
function opened() {
  const [id, typed] = location.hash.slice(1).split("?");
  const form = document.forms[id] ?? document.forms[0];
  for (const own of document.forms) own.classList.toggle("shown", own === form);
  for (const own of document.querySelectorAll("nav a")) {
    if (own.hash === `#${form.id}`) own.setAttribute("aria-current", "page");
    else own.removeAttribute("aria-current");
  }
  return [form, typed];
}

function follow() {
  const [form, typed] = opened();
  if (typed === undefined) return;
  const fields = new URLSearchParams(typed);
  for (const field of form.elements) {
    if (!field.name) continue;
    if (field.type === "checkbox") field.checked = fields.has(field.name);
    else if (fields.has(field.name)) field.value = fields.get(field.name);
  }
  run(form);
}

for (const form of document.forms) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    history.pushState(null, "", link(form));
    run(form);
  });
}
window.addEventListener("hashchange", follow);

// The text of a file, unpacked where gzip packed it.
async function textOf(file) {
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (start[0] === 0x28 && start[1] === 0xb5) throw new Error(`${file.name}: browsers cannot unpack zstd; unpack it with zstd -d`);
  const isPacked = start[0] === 0x1f && start[1] === 0x8b;
  return isPacked ? new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text() : file.text();
}

// Takes the module of these files, as `layout-inspect hlo FOLDER` does.
async function load(field, files) {
  const output = field.parentElement.querySelector("output");
  try {
    let [file] = files;
    let assignment;
    let others = 0;
    if (files.length > 1) {
      const names = files.map(({ name, size }) => ({ name, bytes: size }));
      const found = await answered({ op: "dump", files: names }, "Folder");
      if (!found.ok) throw new Error(found.error);
      [file, assignment] = [found.file, found.assignment].map((own) => files.find(({ name }) => name === own));
      others = found.others;
    }
    if (!file) return;
    loaded.set(field, { text: await textOf(file), assignment: assignment && (await textOf(assignment)) });
    const more = others ? `; of ${others + 1} modules this one` : "";
    output.textContent = `${file.name}, ${file.size.toLocaleString("en")} bytes${more}`;
    field.hidden = true;
    if (field.name === "text") run(field.form);
  } catch (error) {
    output.textContent = error.message;
  }
}

function clear(field) {
  loaded.delete(field);
  field.hidden = false;
  field.value = "";
  field.parentElement.querySelector("output").textContent = "";
}

// The files of what was dropped; of a folder, those directly in it.
async function dropped(items) {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  const file = (entry) => new Promise((take, fail) => entry.file(take, fail));
  const inside = async (folder) => {
    const reader = folder.createReader();
    const found = [];
    for (;;) {
      const some = await new Promise((take, fail) => reader.readEntries(take, fail));
      if (!some.length) return found.filter((entry) => entry.isFile);
      found.push(...some);
    }
  };
  const all = await Promise.all(entries.map((entry) => (entry.isFile ? [entry] : inside(entry))));
  return Promise.all(all.flat().map(file));
}

const EXAMPLE = `HloModule example, is_scheduled=true

ENTRY main {
  x = f32[1000,3]{1,0:T(8,128)} parameter(0), metadata={op_name="x"}
  c = f32[1000,3]{0,1:T(4,128)} copy(x), metadata={op_name="jit(f)/neg" source_file="f.py" source_line=7}
  ROOT n = f32[1000,3]{0,1:T(4,128)} negate(c), metadata={op_name="jit(f)/neg" source_file="f.py" source_line=7}
}
`;

for (const place of document.querySelectorAll(".drop")) {
  const field = place.querySelector("textarea");
  place.addEventListener("dragover", (event) => {
    event.preventDefault();
    place.classList.add("over");
  });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", async (event) => {
    event.preventDefault();
    place.classList.remove("over");
    const text = event.dataTransfer.getData("text");
    if (text) field.value = text;
    else load(field, await dropped(event.dataTransfer.items));
  });
  for (const picked of place.querySelectorAll("input")) picked.addEventListener("change", () => load(field, [...picked.files]));
  place.querySelector(".clear").addEventListener("click", () => clear(field));
  place.querySelector(".example")?.addEventListener("click", () => {
    clear(field);
    field.value = EXAMPLE;
    field.form.requestSubmit();
  });
}

opened();
const version = answered({ op: "version" }, "Loading");
version.then(({ machines }) => {
  performance.mark("answered");
  for (const list of document.querySelectorAll(".machines")) {
    list.append(...machines.map((name) => made("option", { selected: name === "tpu_v5e" }, name)));
  }
  follow();
});
