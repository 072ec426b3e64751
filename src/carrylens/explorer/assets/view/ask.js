// Ask: a question is typed, drawn from a population or class, or made harder step by step.

class AskPanel {
  constructor(page) {
    this.page = page;
    const { store, subject } = page, { task } = subject;
    this.random = new globalThis.carrylens.Random(Date.now() % 2 ** 31);
    this.input = h("input", { id: "question", class: "question mono", type: "text", autocomplete: "off", spellcheck: "false", inputmode: "text", "aria-describedby": "question-error", size: Math.max(8, task.questionText(store.state.question).length + 1) });
    this.error = h("p", { id: "question-error", class: "error", role: "alert", hidden: true });
    const form = h("form", { class: "ask-form", onsubmit: (event) => { event.preventDefault(); this.ask(this.input.value); } },
      h("label", { for: "question", class: "field", text: "Question" }),
      h("span", { class: "together" }, this.input, h("button", { type: "submit", class: "primary", text: "Ask" })));
    const choices = [...task.pools.map(({ name }, at) => [`pool ${at}`, `${name} questions`]), ...task.classes.map(({ name }, at) => [`class ${at}`, `class ${name}`])];
    this.kind = h("select", { id: "draw-kind", "aria-label": "Draw a question of" }, choices.map(([value, text]) => h("option", { value, text })));
    const draw = h("div", { class: "ask-draw" }, h("label", { for: "draw-kind", class: "field", text: "Or draw one" }),
      h("span", { class: "together" }, this.kind, button("Draw", () => this.draw())));
    this.sliders = h("div", { class: "ask-ladders" }, task.ladders.map((ladder, at) => this.slider(ladder, at)));
    this.element = h("div", { class: "ask" }, form, draw, this.sliders);
    replaceKept(byId("ask"), h("h2", { class: "aloud", text: "Ask" }), this.element, this.error, page.answers.element);
  }

  slider(ladder, at) {
    const id = `ladder${at}`, rows = ladder.rows;
    let row = 0;
    const out = h("output", { for: id, class: "mono" });
    const slide = h("input", { id, type: "range", min: 0, max: ladder.steps - 1, step: 1, value: ladder.steps - 1 });
    const tell = () => {
      out.textContent = `${slide.value} column${slide.value === "1" ? "" : "s"}`;
      slide.setAttribute("aria-valuetext", out.textContent);
    };
    const go = () => {
      tell();
      this.take(rows[row][Number(slide.value)]);
    };
    slide.addEventListener("input", go);
    tell();
    return h("div", {}, h("label", { for: id, class: "field", text: ladder.title }),
      h("span", { class: "together" }, slide, out, button("Other digits", () => { row = (row + 1) % rows.length; go(); }, { class: "plain", "data-key": `other${at}` })));
  }

  draw() {
    const { task } = this.page.subject, [kind, at] = this.kind.value.split(" ");
    const rows = (kind === "pool" ? task.pools : task.classes)[Number(at)].rows;
    this.take(rows[this.random.below(rows.length)]);
  }

  take(question) {
    this.error.hidden = true;
    this.input.removeAttribute("aria-invalid");
    this.page.store.set({ question });
  }

  ask(text) {
    try {
      this.take(this.page.subject.task.parse(text));
    } catch (error) {
      this.error.textContent = error.message;
      this.error.hidden = false;
      this.input.setAttribute("aria-invalid", "true");
    }
  }

  update() {
    if (document.activeElement !== this.input || this.error.hidden) this.input.value = this.page.subject.task.questionText(this.page.store.state.question);
  }
}
