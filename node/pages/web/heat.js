// Shows the number of a heat map's cell that is pointed at, tapped, or reached with the
// arrow keys. Without this script, the cells' titles and the tables show the numbers.
"use strict";
for (const svg of document.querySelectorAll("svg[data-numbers]")) {
  const grid = svg.querySelector("g.grid"), names = svg.dataset.names.split("\n"), cell = Number(svg.dataset.cell), last = names.length - 1;
  const numbers = svg.dataset.numbers.split(";").map(text => text.replace(/^(\S+) (\S+) (\S+)$/, "$1 [$2, $3] for these records").replace(/^(\S+) (\S+) (\S+) (\S+) (\S+)$/, "$1 [$2, $3] for these records, [$4, $5] for people like these").replaceAll("-", "\u2212"));
  const mark = document.createElementNS(svg.namespaceURI, "rect"), says = document.createElement("p");
  let row = 1, column = 0, shown = "";
  mark.setAttribute("class", "cursor");
  mark.setAttribute("width", cell);
  mark.setAttribute("height", cell);
  says.className = "readout";
  says.setAttribute("role", "status");
  says.textContent = "Point at a cell, or reach the map with Tab and move with the arrow keys, for its interval.";
  svg.closest("figure").querySelector("figcaption").before(says);
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "application");
  svg.setAttribute("aria-roledescription", "heat map");

  function show(toRow, toColumn) {
    row = Math.min(Math.max(toRow, 0), last);
    column = Math.min(Math.max(toColumn, 0), last);
    const below = Math.max(row, column), before = Math.min(row, column);
    const text = names[row] + (row === column ? ": itself" : ", " + names[column] + ": " + (numbers[below * (below - 1) / 2 + before] || "not computed"));
    if (text === shown) return;
    says.textContent = shown = text;
    says.classList.add("on");
    mark.setAttribute("x", column * cell);
    mark.setAttribute("y", row * cell);
    if (!mark.parentNode) grid.append(mark);
  }

  for (const kind of ["pointermove", "pointerdown"]) svg.addEventListener(kind, event => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(grid.getScreenCTM().inverse());
    const toRow = Math.floor(at.y / cell), toColumn = Math.floor(at.x / cell);
    if (toRow >= 0 && toRow <= last && toColumn >= 0 && toColumn <= last) show(toRow, toColumn);
  });
  svg.addEventListener("focus", () => { if (svg.matches(":focus-visible")) show(row, column); });
  svg.addEventListener("keydown", event => {
    const to = { ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], Home: [row, 0], End: [row, last] }[event.key];
    if (!to || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    show(...to);
    mark.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}
