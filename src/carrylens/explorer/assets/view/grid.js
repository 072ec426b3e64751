// The board: places across; above the tokens the model's layers, below them the algorithm. Made once, then only updated.

class Board {
  constructor(page) {
    this.page = page;
    const { model, task } = page.subject;
    this.cells = new Map();
    this.columns = Array.from({ length: task.slots.length }, () => []);
    this.element = h("div", { class: "board", role: "grid", "aria-label": "Nodes of the model by place and layer", id: "board" });
    this.element.style.setProperty("--places", task.slots.length);
    this.lensRows = [];
    for (let layer = model.nLayers - 1; layer >= 0; layer--) {
      this.lensRows[layer + 1] = this.lensRow(layer + 1);
      if (model.hasMlp) this.nodeRow(layer, null);
      for (let head = model.nHeads - 1; head >= 0; head--) this.nodeRow(layer, head);
    }
    this.tokenRow();
    this.stage = h("div", { class: "stage" }, this.element);
    this.scroller = h("div", { class: "scroller", tabindex: "-1" }, this.stage);
    this.focusName = null;
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    this.element.addEventListener("pointerover", (event) => this.onHover(event.target.closest("[data-node]")));
    this.element.addEventListener("pointerleave", () => this.onHover(null));
    this.element.addEventListener("focusin", (event) => this.onHover(event.target.closest("[data-node]")));
    this.element.addEventListener("click", (event) => this.onClick(event.target.closest("[data-node]")));
  }

  row(label, kind, title = "") {
    const head = h("div", { class: `label ${kind}`, role: "rowheader", title, text: label });
    const row = h("div", { class: `row ${kind}`, role: "row" }, head);
    this.element.append(row);
    return row;
  }

  place(row, position, cell) {
    this.columns[position].push(cell);
    row.append(cell);
    return cell;
  }

  lensRow(layer) {
    const { model, task } = this.page.subject, isLast = layer === model.nLayers;
    const row = this.row(isLast ? "answers" : `after L${layer - 1}`, "lens",
      isLast ? "What the model answers" : "What each place would answer if its stream were read here: the logit lens");
    return task.slots.map((_, p) => this.place(row, p, h("div", { class: "cell lens", role: "gridcell" })));
  }

  nodeRow(layer, head) {
    const { model, task } = this.page.subject;
    const row = this.row(head === null ? `L${layer} MLP` : `L${layer} H${head}`, `nodes layer${layer % 2}`);
    task.slots.forEach((slot, position) => {
      const name = nodeName({ position, layer, head });
      // A challenge does not tell which nodes nothing reads: decoys stand there, too.
      const isShown = model.isRead({ position, layer }) || (this.page.data.challenge && position < model.end);
      const cell = isShown ? h("button", { type: "button", class: "cell node", "data-node": name, tabindex: "-1" }) : null;
      if (isShown) this.cells.set(name, cell);
      this.place(row, position, h("div", { class: isShown ? "slot" : "slot unread", role: "gridcell" }, cell));
    });
  }

  tokenRow() {
    const { task } = this.page.subject, tokens = this.row("token", "tokens"), names = this.row("place", "places");
    this.tokens = task.slots.map((_, p) => this.place(tokens, p, h("div", { class: "cell token", role: "gridcell" })));
    task.slots.forEach((slot, p) => this.place(names, p, h("div", { class: "cell name", role: "columnheader", text: slot.name })));
    this.algorithmAt = this.element.children.length;
  }

  // Put the algorithm's rows below; `rows` are elements.
  setAlgorithm(rows) {
    while (this.element.children.length > this.algorithmAt) this.element.lastChild.remove();
    this.element.append(...rows);
  }

  update() {
    this.updateTokens();
    this.updateNodes();
    this.lightColumns();
  }

  updateTokens() {
    const { subject, view, store } = this.page, { task, model } = subject, pass = view.shown.pass;
    this.tokens.forEach((cell, p) => {
      const isOutput = task.slots[p].output !== undefined;
      const token = p < model.end ? pass.tokens[p] : isOutput ? task.fedId[view.shown.tokens.at(-1)] : task.encode(store.state.question)[p];
      cell.textContent = task.vocabulary[token] ?? "";
      cell.classList.toggle("output", isOutput);
      cell.classList.toggle("long", cell.textContent.length > 2);
    });
    for (let layer = 1; layer <= model.nLayers; layer++) this.updateLens(layer, model.lens(pass, layer));
  }

  updateLens(layer, lens) {
    const { subject, view } = this.page, { task, model } = subject, isLast = layer === model.nLayers;
    this.lensRows[layer].forEach((cell, p) => {
      const t = task.readPositions.indexOf(p), seen = p < model.end && (!isLast || t >= 0);
      cell.textContent = seen ? task.outputVocabulary[lens[p].token] : "";
      cell.title = seen ? `${task.slots[p].name}: ${percent(lens[p].share)} sure of ${task.outputVocabulary[lens[p].token]}` : "";
      cell.style.setProperty("--sure", seen ? lens[p].share.toFixed(3) : 0);
      cell.classList.toggle("reads", t >= 0);
      cell.classList.toggle("wrong", t >= 0 && isLast && view.shown.tokens[t] !== (view.predicted ?? view.right)[t]);
    });
  }

  updateNodes() {
    const { store } = this.page, { selected } = store.state;
    for (const [name, cell] of this.cells) {
      const look = cellLook(this.page, name), edit = store.editOf(name);
      cell.className = ["cell node", look.kind, look.strong ? "strong" : "", edit ? "edited" : "", name === selected ? "selected" : ""].join(" ");
      cell.textContent = edit ? MARKS[edit.fill] : look.text;
      cell.setAttribute("aria-pressed", String(name === selected));
      const edited = edit ? ` Edited: ${FILL_WORDS[edit.fill]}.` : "";
      cell.setAttribute("aria-label", `${name} at ${this.page.placeOf(name)}. ${look.said}${edited}`);
      cell.title = `${name} at ${this.page.placeOf(name)}\n${look.said}${edited}`;
    }
    const home = this.cells.get(this.focusName ?? selected ?? "") ?? this.cells.values().next().value;
    for (const cell of this.cells.values()) cell.tabIndex = cell === home ? 0 : -1;
  }

  // Columns after the cursor have not been read yet.
  lightColumns() {
    const { cursor } = this.page.store.state, isDimmed = cursor !== null;
    if (!isDimmed && !this.isDimmed) return;
    this.isDimmed = isDimmed;
    this.columns.forEach((cells, p) => cells.forEach((cell) => cell.classList.toggle("later", cursor !== null && p > cursor)));
  }

  onHover(cell) {
    const name = cell?.dataset.node ?? null;
    if (name === this.page.hovered) return;
    this.page.hovered = name;
    this.page.attention.draw();
  }

  onClick(cell) {
    if (!cell) return;
    const { store } = this.page, name = cell.dataset.node;
    this.focusName = name;
    store.set({ selected: store.state.selected === name ? null : name });
  }

  onKey(event) {
    const name = event.target.closest?.("[data-node]")?.dataset.node;
    if (!name || event.ctrlKey || event.metaKey || event.altKey) return;
    const { store } = this.page, fills = { m: "mean", z: "zero", r: "resample", i: "source" };
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (steps) this.moveFocus(name, ...steps);
    else if (fills[event.key]) {
      store.set({ selected: name });
      store.toggle(name, fills[event.key]);
    } else if (event.key === "Escape") store.set({ selected: null });
    else return;
    event.preventDefault();
  }

  moveFocus(name, across, up) {
    const { model } = this.page.subject, node = parseNode(name), perLayer = model.nHeads + (model.hasMlp ? 1 : 0);
    let height = node.layer * perLayer + (node.head ?? model.nHeads), position = node.position;
    for (;;) {
      position += across;
      height += up;
      if (position < 0 || position >= model.end || height < 0 || height >= perLayer * model.nLayers) return;
      const place = height % perLayer, head = place === model.nHeads ? null : place;
      const to = this.cells.get(nodeName({ position, layer: Math.floor(height / perLayer), head }));
      if (!to) continue;
      for (const cell of this.cells.values()) cell.tabIndex = cell === to ? 0 : -1;
      this.focusName = to.dataset.node;
      to.focus();
      to.scrollIntoView({ block: "nearest", inline: "nearest" });
      return;
    }
  }
}

// What a cell shows: the variable it carries by the map, what its ablation breaks here, or the reader's tags.
function cellLook(page, name) {
  const { store, subject } = page, { tint } = store.state, { causal, task } = subject;
  if (tint === "tags") {
    const tags = store.state.tags.filter((tag) => tag.node === name).map(({ variable }) => variable);
    if (!tags.length) return { kind: "", text: "", said: "No tag.", strong: false };
    return { kind: causal.family(tags[0]).kind, text: causal.short(tags[0]) + (tags.length > 1 ? "+" : ""), said: `Tagged ${tags.map((v) => causal.names[v]).join(", ")}.`, strong: true };
  }
  if (tint === "breaks") {
    const changed = page.breaks?.get(name);
    if (!changed) return { kind: "", text: "", said: "Its ablation was not tried yet.", strong: false };
    if (!changed.length) return { kind: "", text: "", said: "Without it this answer stays.", strong: false };
    return { kind: "break", text: String(changed.length), said: `Without it ${changed.map((t) => task.outputPlaces[t]).join(", ")} of this answer change.`, strong: true };
  }
  const best = page.bestRole(name);
  if (best) {
    const said = `Carries ${causal.names[best.variable]} by the map, ${best.nodes.length > 1 ? "with others" : "alone"}.`;
    return { kind: causal.family(best.variable).kind, text: causal.short(best.variable), said, strong: best.nodes.length === 1 };
  }
  const isUseful = page.useful.has(name);
  return { kind: isUseful ? "useful" : "", text: isUseful ? "•" : "", said: isUseful ? "Useful, but no role was found." : "No question of the map fails without it.", strong: false };
}
