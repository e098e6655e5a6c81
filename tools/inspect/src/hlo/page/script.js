"use strict";

// The chart of a memory: a range of steps, with the numbers of the chosen one. All texts are in the page as data.
for (const chart of document.querySelectorAll(".chart")) {
  const steps = JSON.parse(chart.querySelector("script").textContent);
  const range = chart.querySelector("input");
  const cells = chart.querySelectorAll("td.chosen");
  const drawing = chart.querySelector(".axes svg");
  const show = () => {
    const [text, parts] = steps[range.value];
    const x = (Number(range.value) + 0.5) / steps.length * 1000;
    chart.querySelector(".cursor").setAttribute("transform", `translate(${x} 0)`);
    chart.querySelector("output").textContent = text;
    range.setAttribute("aria-valuetext", text);
    cells.forEach((cell, layer) => { cell.textContent = parts[layer]; });
  };
  const point = (event) => {
    const box = drawing.getBoundingClientRect();
    const step = Math.floor((event.clientX - box.left) / box.width * steps.length);
    range.value = Math.min(Math.max(step, 0), steps.length - 1);
    show();
  };
  drawing.addEventListener("click", point);
  drawing.addEventListener("pointermove", (event) => { if (event.buttons) point(event); });
  range.addEventListener("input", show);
  chart.querySelectorAll("[hidden]").forEach((part) => { part.hidden = false; });
  show();
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
