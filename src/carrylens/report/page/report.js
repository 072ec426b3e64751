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
  // The section that is read is marked in the table of contents.
  const places = [...document.querySelectorAll("nav a")].map((link) => [link, document.querySelector(link.hash)]);
  function follow() {
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2; // short last sections never reach the top
    const above = places.filter(([, section]) => section && section.getBoundingClientRect().top < (atEnd ? innerHeight : 140));
    const named = atEnd && above.find(([link, section]) => link.hash === location.hash && section.getBoundingClientRect().top >= 0);
    const read = named || above.pop() || places[0];
    for (const [link] of places) link.toggleAttribute("aria-current", read && link === read[0]);
    const list = read && read[0].closest("ol"); // on a phone it is one line, which goes along
    if (list) list.scrollLeft = read[0].offsetLeft - list.offsetLeft - 40;
  }
  addEventListener("scroll", follow, { passive: true });
  follow();

  // Every section, experiment and claim can be linked to.
  for (const named of document.querySelectorAll("section[id] > h2, h3[id], #claims li[id]")) {
    const link = document.createElement("a");
    link.className = "permalink";
    link.href = "#" + encodeURIComponent(named.id || named.parentElement.id);
    link.textContent = "#";
    link.setAttribute("aria-label", "Link to this part");
    named.append(link);
  }

  // Search: claims that do not fit are hidden, nodes that fit are marked.
  const find = document.getElementById("find");
  const claims = [...document.querySelectorAll("#claims li[id]")];
  function search() {
    const words = find.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (text) => words.every((word) => text.toLowerCase().includes(word));
    let n_claims = 0;
    for (const claim of claims) {
      claim.hidden = !fits(claim.textContent);
      n_claims += !claim.hidden;
    }
    for (const group of document.querySelectorAll("#claims details")) {
      const some = [...group.querySelectorAll("li[id]")].some((claim) => !claim.hidden);
      group.hidden = !some;
      group.open = words.length > 0 && some;
    }
    const cells = flat.filter((link) => words.length && fits(link.getAttribute("aria-label") || ""));
    for (const link of flat) link.classList.toggle("found", cells.includes(link));
    if (grid) grid.classList.toggle("searched", cells.length > 0);
    find.closest("search").querySelector("output").textContent = words.length ? `${n_claims} claims, ${cells.length} nodes` : "";
  }
  if (find) {
    find.closest("search").hidden = false;
    find.addEventListener("input", search);
  }

  // Tables as files: made here, from what the page shows.
  const cell = (text) => '"' + text.replace(/\s+/g, " ").trim().replaceAll('"', '""') + '"';
  function csv(place) {
    const table = document.querySelector(place);
    if (table && table.tagName === "TABLE") return [...table.rows].map((row) => [...row.cells].map((each) => cell(each.textContent)).join(","));
    return ["verdict,claim", ...claims.map((each) => [each.querySelector(".badge"), each].map((part) => cell(part.textContent)).join(","))];
  }
  for (const button of document.querySelectorAll("button[data-rows]")) {
    button.closest("p").hidden = false;
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([csv(button.dataset.rows).join("\n") + "\n"], { type: "text/csv" }));
      link.download = `${document.querySelector(".model").textContent}.${button.dataset.name}.csv`;
      link.click();
      URL.revokeObjectURL(link.href);
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
