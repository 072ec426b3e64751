// Hunt: questions that break an edit, or the model, looked for until one is found or the reader stops it.

class HuntPanel {
  constructor(page) {
    this.page = page;
    this.found = null;
    this.running = null;
    this.tries = 0;
    this.body = h("div", { "aria-live": "polite" });
    replaceKept(byId("hunt"), h("h2", { text: "Hunt" }), this.body);
  }

  async start(what) {
    const { page } = this, { store, jobs } = page, { edits, reading, second } = store.state;
    this.found = null;
    this.running = { what, done: 0 };
    this.update();
    const source = what === "breaks" && edits.some(({ fill }) => fill === "source") ? Array.from(second) : null;
    try {
      const given = { what, edits: what === "breaks" ? edits : [], source, moves: what === "breaks" ? store.moves : [], reading, seed: (Date.now() + this.tries++) % 2 ** 31 };
      const result = await jobs.start("hunt", "hunt", given, ({ done }) => {
        this.running = { what, done };
        this.update();
      });
      this.found = result ? { what, ...result } : { what, none: true };
    } catch (error) {
      this.found = { error: error.message };
    }
    this.running = null;
    this.update();
  }

  stop() {
    this.page.jobs.stop("hunt");
    this.found = { what: this.running.what, stopped: this.running.done };
    this.running = null;
    this.update();
  }

  update() {
    const { store } = this.page, hasEdits = store.state.edits.length > 0;
    this.body.setAttribute("aria-busy", String(Boolean(this.running))); // so that not every step is read aloud
    if (this.running) {
      const text = `${this.running.done.toLocaleString("en")} questions tried …`;
      if (this.body.querySelector("progress")) this.body.firstChild.textContent = text; // the button stays under a click
      else replaceKept(this.body, h("p", { text }), h("progress", { "aria-label": "Hunting" }), button("Stop", () => this.stop(), { "data-key": "stop hunt" }));
      return;
    }
    replaceKept(this.body,
      h("div", { class: "together" },
        button("Find a question this edit breaks", () => this.start("breaks"), { disabled: !hasEdits }),
        button("Find a question the model gets wrong", () => this.start("wrong"))),
      this.said());
  }

  said() {
    const { found } = this, { subject, store } = this.page, { task } = subject;
    if (!found) return h("p", { class: "soft small", text: "New questions are made until one is found; you can stop at any time." });
    if (found.error) return h("p", { class: "error", text: found.error });
    if (found.stopped !== undefined) return h("p", { text: `Stopped: none among ${found.stopped.toLocaleString("en")} questions.` });
    if (found.none) return h("p", { text: "None among a million questions." });
    const text = task.questionText(found.inputs);
    return h("div", { class: "found" },
      h("p", {}, `Found after ${found.tried.toLocaleString("en")} questions: `, h("b", { class: "mono", text }), " gives ", h("b", { class: "mono", text: task.answerText(found.tokens) }), ", wanted was ", h("b", { class: "mono", text: task.answerText(found.wanted) }), "."),
      button("Show it", () => store.set({ question: Uint8Array.from(found.inputs) })));
  }
}
