// The map with a keyboard: arrows move, Enter opens (a link does that by itself), Escape goes back to the cell.
"use strict";
(function () {
  const grid = document.querySelector("table.grid");
  const rows = grid ? [...grid.tBodies[0].rows].map((row) => [...row.querySelectorAll("a")]) : [];
  const flat = rows.flat();
  let chosen = null;

  function current(link, focus) {
    for (const other of flat) other.tabIndex = other === link ? 0 : -1;
    if (focus) {
      link.focus();
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }

  function show() {
    const name = decodeURIComponent(location.hash.slice(1));
    const target = name ? document.getElementById(name) : null;
    for (let outer = target; outer; outer = outer.parentElement) if (outer.tagName === "DETAILS") outer.open = true;
    const cell = flat.find((link) => link.hash.slice(1) === name);
    if (chosen) chosen.removeAttribute("aria-current");
    chosen = cell || null;
    document.body.classList.toggle("has-choice", Boolean(cell));
    if (cell) {
      cell.setAttribute("aria-current", "true");
      current(cell, false);
      target.focus({ preventScroll: true });
      target.scrollIntoView({ block: "nearest" });
    } else if (target) {
      target.scrollIntoView();
    }
  }

  if (flat.length) {
    current(flat.find((link) => link.classList.contains("useful")) || flat[0], false);
    grid.addEventListener("keydown", (event) => {
      const row = rows.findIndex((links) => links.includes(document.activeElement));
      if (row < 0) return;
      const column = rows[row].indexOf(document.activeElement);
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      let to = null;
      if (step) to = (rows[row + step[0]] || [])[column + step[1]];
      else if (event.key === "Home") to = rows[row][0];
      else if (event.key === "End") to = rows[row][rows[row].length - 1];
      else return;
      event.preventDefault();
      if (to) current(to, true);
    });
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && chosen && document.activeElement.closest(".evidence")) current(chosen, true);
  });
  for (const back of document.querySelectorAll("a.back")) {
    back.addEventListener("click", (event) => {
      const cell = flat.find((link) => link.hash.slice(1) === back.dataset.cell);
      if (!cell) return;
      event.preventDefault();
      current(cell, true);
    });
  }
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")].filter((one) => !one.closest("#evaluated"));
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
  });
  addEventListener("hashchange", show);
  if (location.hash) show();
})();
