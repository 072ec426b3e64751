// The algorithm beside the model: what it knows at each place, its columns lined up with the model's.

class AlgorithmRows {
  constructor(page) {
    this.page = page;
    this.chips = h("div", { class: "chips", role: "group", "aria-label": "Variables of the algorithm to show" });
  }

  // The families to show: the reader's choice, or those with few values that matter for this question.
  shownFamilies() {
    const { store, subject } = this.page, { causal } = subject, { families, question } = store.state;
    if (families) return families;
    const matters = causal.familiesThatMatter(question);
    const few = causal.families.filter((family, at) => matters.has(at) && Object.keys(family.labels).length <= 3);
    return (few.length ? few : causal.families.filter((_, at) => matters.has(at))).map(({ name }) => name);
  }

  update() {
    const { page } = this, { subject, store, board } = page, { causal, task } = subject, { question } = store.state;
    const shown = this.shownFamilies(), known = causal.timeline(question, task.arrivals, task.nQuestion);
    const computed = new Set(causal.steps.map(({ variable }) => causal.variables[variable][0]));
    const outputFamilies = new Set(causal.outputs.map((output) => causal.variables[output][0]));
    const choices = causal.families.filter((_, at) => computed.has(at) && !outputFamilies.has(at));
    replaceKept(this.chips, choices.map((family) =>
      h("button", {
        type: "button", class: `chip ${family.kind}`, "aria-pressed": String(shown.includes(family.name)), "data-key": `chip ${family.name}`,
        title: `${family.title}: ${family.meaning}`, text: family.name,
        onclick: () => store.set({ families: shown.includes(family.name) ? shown.filter((name) => name !== family.name) : [...shown, family.name] }),
      })));
    board.columns.forEach((cells) => cells.splice(cells.findLastIndex((cell) => !cell.classList.contains("known")) + 1));
    const rows = choices.filter(({ name }) => shown.includes(name)).flatMap((family) =>
      causal.steps.map(({ variable }) => variable).filter((variable) => causal.family(variable) === family)
        .sort((a, b) => (causal.variables[b][1] ?? 0) - (causal.variables[a][1] ?? 0))
        .map((variable, at) => this.variableRow(variable, known[variable], at === 0)));
    board.setAlgorithm(rows);
    board.lightColumns();
    page.shownFamilies = shown;
  }

  variableRow(variable, known, isFirst) {
    const { subject, board, store } = this.page, { causal, task } = subject, family = causal.family(variable);
    const isFew = Object.keys(family.labels).length <= 3, values = causal.run(store.state.question);
    const row = h("div", { class: `row variable${isFirst ? " first" : ""}`, role: "row" },
      h("div", { class: `label variable ${family.kind}`, role: "rowheader", title: `${family.title}: ${family.meaning}`, text: causal.names[variable] }));
    let was = UNKNOWN;
    task.slots.forEach((_, p) => {
      const value = p < task.nQuestion ? known[p] : values[variable], isKnown = value !== UNKNOWN;
      const text = isKnown ? causal.label(variable, value) : isFew ? "U" : "·";
      const cell = h("div", { class: `cell known ${isKnown ? family.kind : "unknown"}${isKnown && was === UNKNOWN ? " settles" : ""}${text === "U" && isKnown ? " uncertain" : ""}`, role: "gridcell", text,
        title: isKnown ? `${causal.names[variable]} is ${text} from here` : `${causal.names[variable]} is not settled at ${task.slots[p].name}` });
      was = value;
      board.columns[p].push(cell);
      row.append(cell);
    });
    return row;
  }
}
