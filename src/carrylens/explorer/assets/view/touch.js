// Touch: the chosen node, its edits, the second question, what the edit is said to move, and the same edit on 200 questions.

class TouchPanel {
  constructor(page) {
    this.page = page;
    this.run = null;
    this.running = null;
    this.starts = 0;
    const { task } = page.subject;
    this.second = h("input", { id: "second", class: "mono", type: "text", autocomplete: "off", spellcheck: "false", "aria-describedby": "second-error", size: Math.max(8, task.nQuestion + 1) });
    this.secondError = h("p", { id: "second-error", class: "error", role: "alert", hidden: true });
    this.secondForm = h("form", { class: "second", onsubmit: (event) => { event.preventDefault(); this.takeSecond(this.second.value); } },
      h("label", { for: "second", class: "field", text: "Second question, to interchange from" }),
      h("span", { class: "together" }, this.second, h("button", { type: "submit", text: "Set" }), button("Draw", () => this.drawSecond(), { "data-key": "draw second" })), this.secondError);
    this.node = h("div", { class: "node-part" });
    this.stack = h("div", { class: "stack-part" });
    this.many = h("div", { class: "many-part", "aria-live": "polite" });
    replaceKept(byId("touch"), h("h2", { text: "Touch" }), this.node, this.secondForm, this.stack, this.many);
  }

  takeSecond(text) {
    try {
      const second = this.page.subject.task.parse(text);
      this.secondError.hidden = true;
      this.page.store.set({ second });
    } catch (error) {
      this.secondError.textContent = error.message;
      this.secondError.hidden = false;
    }
  }

  drawSecond() {
    const { subject, ask } = this.page, pool = subject.task.pools[0].rows;
    this.page.store.set({ second: pool[ask.random.below(pool.length)] });
  }

  update(changed) {
    if (changed.has("edits") || changed.has("claim") || changed.has("reading")) this.forgetRun();
    if (document.activeElement !== this.second) this.second.value = this.page.subject.task.questionText(this.page.store.state.second);
    this.updateNode();
    this.updateStack();
    this.updateMany();
  }

  updateNode() {
    const { page } = this, { store, attention } = page, name = store.state.selected;
    if (!name) {
      replaceKept(this.node, h("p", { class: "soft", text: "Choose a node on the board: a click, or the arrow keys and Enter. Keys on a node: m mean, z zero, r resample, i interchange." }));
      return;
    }
    const edit = store.editOf(name), looks = attention.words(name);
    const fills = Object.keys(FILLS).map((fill) =>
      button(fill === "source" ? "Interchange" : `Ablate: ${fill}`, () => store.toggle(name, fill), { class: fill === "source" ? "fill interchange" : "fill", "aria-pressed": String(edit?.fill === fill), title: FILL_HELP[fill], "data-key": `fill ${fill}` }));
    replaceKept(this.node,
      h("h3", {}, h("span", { class: "mono", text: name }), h("span", { class: "soft", text: ` ${page.saidNode(name)}` })),
      looks ? h("p", { class: "small", text: `Looks at ${looks}.` }) : null,
      h("div", { class: "fills", role: "group", "aria-label": `Edit ${name}` }, fills),
      page.challenge ? page.challenge.tagger(name) : evidenceOf(page, name));
  }

  updateStack() {
    const { store } = this.page, { edits, reading } = store.state;
    const items = edits.map(({ node, fill }) => {
      const name = nodeName(node);
      return h("li", {}, button(name, () => store.set({ selected: name }), { class: "plain mono", "data-key": `stack ${name}` }), h("span", { class: "soft", text: ` ← ${fill === "source" ? "second question" : fill} ` }), button("×", () => store.toggle(name, null), { class: "plain", "aria-label": `Remove the edit of ${name}`, "data-key": `remove ${name}` }));
    });
    const tools = h("div", { class: "together tools" },
      button("Undo", () => store.undo(), { disabled: !store.past.length }), button("Redo", () => store.redo(), { disabled: !store.future.length }), button("Clear", () => store.edit([]), { disabled: !edits.length }));
    const reads = this.page.subject.task.fedBack && h("label", { class: "reading small" }, h("input", { type: "checkbox", checked: reading === "right", "data-key": "reading", onchange: (event) => store.set({ reading: event.target.checked ? "right" : "own" }) }), " read the right answer before each token, as maps are made");
    replaceKept(this.stack, h("h3", { text: edits.length ? `Edits (${edits.length})` : "No edits" }), items.length ? h("ul", { class: "stack" }, items) : null, tools, reads || null, this.claim());
  }

  // What the interchanged nodes are said to carry: by the map, or by the reader.
  claim() {
    const { store, subject, data } = this.page, { causal } = subject, { edits, claim } = store.state;
    if (!edits.some(({ fill }) => fill === "source")) return null;
    const options = causal.steps.map(({ variable }) => variable);
    const chosen = claim === null ? "map" : claim.length ? causal.names[claim[0]] : "nothing";
    const select = h("select", { id: "claim", "data-key": "claim", onchange: (event) => {
      const { value } = event.target;
      store.set({ claim: value === "map" ? null : value === "nothing" ? [] : [causal.place.get(value)] });
    } }, h("option", { value: "map", text: data.map ? "what the map says" : "not said yet" }), h("option", { value: "nothing", text: "nothing" }),
    options.map((variable) => h("option", { value: causal.names[variable], text: causal.names[variable] })));
    select.value = chosen;
    return h("p", { class: "claim" }, h("label", { for: "claim", class: "field", text: "The interchange moves" }), select);
  }

  forgetRun() {
    this.page.jobs.stop("many");
    this.run = this.running = null;
  }

  async start() {
    const { page } = this, { store, jobs, subject } = page, { edits, reading } = store.state, moves = page.store.moves;
    this.run = null;
    this.running = { done: 0, total: 200 };
    this.updateMany();
    try {
      this.run = await jobs.start("many", "runEdit", { edits, moves, reading, count: 200, start: this.starts, seed: this.starts + 1 }, (progress) => {
        this.running = progress;
        this.updateMany();
      });
      this.starts = this.run.next;
    } catch (error) {
      this.run = { error: error.message };
    }
    this.running = null;
    this.updateMany();
  }

  updateMany() {
    const { edits } = this.page.store.state;
    this.many.setAttribute("aria-busy", String(Boolean(this.running)));
    if (!edits.length) return replaceKept(this.many);
    if (this.running) {
      const { done, total } = this.running, shown = this.many.querySelector("progress");
      if (shown) return Object.assign(shown, { max: total, value: done }); // the button stays: a click is lost with what is redrawn under it
      return replaceKept(this.many, h("progress", { max: total, value: done, "aria-label": "Questions asked" }), button("Stop", () => { this.forgetRun(); this.updateMany(); }));
    }
    return replaceKept(this.many, button("Run on 200 fresh questions", () => this.start(), { class: "primary" }), this.run ? this.result(this.run) : null);
  }

  result(run) {
    if (run.error) return h("p", { class: "error", text: run.error });
    const { effect, null: nothing, population } = run, said = [];
    if (run.kind === "ablation") {
      said.push(h("p", {}, h("b", { text: rateText(effect) }), ` ${population} questions are answered wrong under this edit.`), rateBar(effect, "hit"));
      said.push(h("p", { class: "small soft", text: `Without it: ${rateText(nothing)}.` }), rateBar(nothing, "null"));
    } else if (!this.page.store.moves.length) {
      said.push(h("p", {}, h("b", { text: rateText(effect) }), ` ${population} pairs change their answer. Say what the interchange moves to have a prediction.`), rateBar(effect, "hit"));
    } else {
      said.push(h("p", {}, h("b", { text: rateText(effect) }), ` ${population} pairs give the whole answer that the algorithm under ${this.page.doNames()} predicts.`), rateBar(effect, "hit"));
      said.push(h("p", { class: "small soft", text: `Null, pairs in which that does not differ: ${rateText(nothing)} change their answer.` }), rateBar(nothing, "null"));
    }
    if (run.reused) said.push(h("p", { class: "small soft", text: "Some of these questions were used by an earlier run." }));
    return h("div", { class: "result" }, said);
  }
}

const FILL_HELP = {
  mean: "The node writes its mean over the reference questions",
  zero: "The node writes nothing",
  resample: "The node writes what it writes for another question, drawn from the reference",
  source: "The node writes what it writes for the second question",
};
