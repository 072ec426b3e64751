// The tour: six steps, each a text and a state of the page to look at it with.

class Tour {
  constructor(page) {
    this.page = page;
    this.at = -1;
    this.element = byId("tour");
    this.element.addEventListener("keydown", (event) => event.key === "Escape" && this.end());
  }

  start() {
    this.show(0);
  }

  show(at) {
    const { data, store } = this.page, step = data.tour[at];
    this.at = at;
    this.page.spotlight(step.look);
    if (step.hash) store.set(store.fromHash(step.hash));
    if (step.hash) store.past = [];
    this.element.classList.toggle("left", step.look === "touch");
    const last = at === data.tour.length - 1;
    this.element.replaceChildren(
      h("p", { class: "eyebrow", text: `Tour, step ${at + 1} of ${data.tour.length}` }), h("h2", { text: step.title }),
      ...step.text.map((text) => h("p", { text })),
      h("div", { class: "together" }, button("Back", () => this.show(at - 1), { disabled: at === 0 }), button(last ? "Done" : "Next", () => (last ? this.end() : this.show(at + 1)), { class: "primary" }), step.play ? button("Play", () => this.page.playTokens()) : "", button("Leave", () => this.end(), { class: "plain" })));
    this.element.hidden = false;
    document.body.classList.add("touring");
    this.page.bringUp(step.show);
    this.element.focus({ preventScroll: true });
  }

  end() {
    this.element.hidden = true;
    this.at = -1;
    this.page.spotlight(null);
    document.body.classList.remove("touring");
    byId("actions").querySelector("button")?.focus();
  }
}
