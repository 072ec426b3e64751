// Share: the whole state as an address, a picture to save, and how to cite the page.

class Sharing {
  constructor(page) {
    this.page = page;
    this.said = h("span", { class: "small soft", role: "status" });
    const { data } = page;
    byId("actions").replaceChildren(
      ...(data.tour.length ? [button("Guided tour", () => page.tour.start(), { class: "primary" })] : []),
      button("Copy link", () => this.copy()), button("Save picture", () => this.save()), button("Cite", () => this.cite()), this.said);
  }

  update() {
    try {
      history.replaceState(null, "", this.page.store.toHash());
    } catch {
      // A page inside a notebook has no address of its own.
    }
  }

  tell(text) {
    this.said.textContent = text;
    setTimeout(() => (this.said.textContent = ""), 4000);
  }

  async copy() {
    this.update();
    const address = location.href.split("#")[0] + this.page.store.toHash();
    try {
      await navigator.clipboard.writeText(address);
      this.tell("Copied.");
    } catch {
      this.show("Link to this view", [h("p", { text: "Copy this address; it holds the questions, the edits and the view." }), h("textarea", { class: "mono", rows: 4, readonly: true, "aria-label": "Address", text: address })]);
    }
  }

  save() {
    const address = URL.createObjectURL(new Blob([pictureOf(this.page)], { type: "image/svg+xml" }));
    h("a", { href: address, download: `${this.page.data.name.replace(/[^\w.-]+/g, "_")}.svg` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  cite() {
    const { data } = this.page;
    const text = `@software{carrylens,\n  title   = {carrylens: does a small transformer run this algorithm?},\n  version = {${data.version}},\n  note    = {Explorer of ${data.name}, weights ${data.sha256.slice(0, 16)}}\n}`;
    this.show("Cite", [
      h("p", { text: "This page, with the model in it, is one file. To cite what it shows, name the model, the hash of its weights and the version." }),
      h("pre", { class: "mono", tabindex: "0", text }),
      h("p", { class: "small soft" }, "The algorithm and its sub-tasks are those of Quirke, Neo and Barez, ", h("i", { text: "Understanding Addition and Subtraction in Transformers" }), "."),
    ]);
  }

  show(title, content) {
    const dialog = byId("dialog");
    dialog.replaceChildren(h("h2", { text: title }), ...content, h("div", { class: "together" }, button("Close", () => dialog.close(), { class: "primary" })));
    dialog.showModal();
  }
}
