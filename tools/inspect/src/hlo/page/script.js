"use strict";

// The charts of a memory: a range of steps, with the numbers of the chosen one, and a range of the buffers that are live
// then. The pointer chooses both. All texts are in the page.
for (const chart of document.querySelectorAll(".chart")) {
  const steps = JSON.parse(chart.querySelector("script").textContent);
  const [step, choice] = chart.querySelectorAll("input");
  const [reading, named] = chart.querySelectorAll("output");
  const cells = chart.querySelectorAll("td.chosen");
  const buffers = [...chart.querySelectorAll(".buffer")];
  let live = buffers;
  const say = (range, output, text) => {
    output.textContent = text;
    range.setAttribute("aria-valuetext", text);
  };
  const name = () => {
    buffers.forEach((buffer) => buffer.classList.toggle("picked", buffer === live[choice.value]));
    say(choice, named, live[choice.value]?.textContent ?? "none of those that are drawn");
  };
  const show = (isWanted) => {
    const [text, parts, at] = steps[step.value];
    const x = (Number(step.value) + 0.5) / steps.length * 1000;
    chart.querySelectorAll(".cursor").forEach((line) => line.setAttribute("transform", `translate(${x} 0)`));
    cells.forEach((cell, layer) => { cell.textContent = parts[layer]; });
    say(step, reading, text);
    live = buffers.filter(({ dataset }) => Number(dataset.from) <= at && at <= Number(dataset.to));
    choice.max = Math.max(live.length - 1, 0);
    choice.value = Math.max(live.findIndex(isWanted), 0);
    name();
  };
  for (const drawing of chart.querySelectorAll(".axes svg")) {
    const point = ({ clientX, target }) => {
      const box = drawing.getBoundingClientRect();
      const place = Math.floor((clientX - box.left) / box.width * steps.length);
      step.value = Math.min(Math.max(place, 0), steps.length - 1);
      show((buffer) => buffer === target || target.matches(".layer") && buffer.style.fill === target.style.fill);
    };
    drawing.addEventListener("pointermove", point);
    drawing.addEventListener("click", point);
  }
  step.addEventListener("input", () => show(() => true));
  choice.addEventListener("input", name);
  chart.querySelectorAll("[hidden]").forEach((part) => { part.hidden = false; });
  show(() => true);
}

// The tensors that have all words of a search and are of a kind; without both, those that the page begins with.
for (const filter of document.querySelectorAll(".filter")) {
  const [words, kind] = filter.querySelectorAll("input, select");
  const table = filter.nextElementSibling.querySelector("table");
  const rows = [...table.tBodies[0].rows].map((row) => [row, row.hidden, row.textContent.toLowerCase()]);
  const search = () => {
    const wanted = words.value.toLowerCase().split(/\s+/);
    const asked = words.value.trim() !== "" || kind.value !== "";
    const fits = (row, text) => wanted.every((word) => text.includes(word)) && ["", row.cells[4].textContent].includes(kind.value);
    for (const [row, more, text] of rows) row.hidden = asked ? !fits(row, text) : more;
    if (table.tFoot) table.tFoot.hidden = asked;
    const found = rows.filter(([row]) => !row.hidden).length;
    filter.querySelector("output").textContent = asked ? `${found} of ${rows.length} tensors` : "";
  };
  filter.addEventListener("input", search);
  filter.hidden = false;
}

// A table that a click on the head of a column of numbers sorts, the largest first.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.classList.contains("number")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const value = (row) => Number(row.cells[column].querySelector("data").value);
    button.addEventListener("click", () => {
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((a, b) => value(b) - value(a)));
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", "descending");
    });
  });
}
