// The challenge: a planted circuit whose truth is hidden. The reader tags nodes with variables, and is scored at the end
// with the evidence that would have told.

class Challenge {
  constructor(page) {
    this.page = page;
    this.record = page.data.challenge;
    this.scored = null;
    this.banner = byId("banner");
    this.banner.hidden = false;
    this.update();
  }

  // The truth: { pairs: [[node, variable], ...], groups: [{ variable, copies }], decoys: [[node, variable], ...] }.
  truth() {
    const { veiled, key } = this.record, bytes = Uint8Array.from(atob(veiled), (letter) => letter.charCodeAt(0));
    const random = new globalThis.carrylens.Random(key);
    return JSON.parse(new TextDecoder().decode(bytes.map((byte) => byte ^ random.below(256))));
  }

  tagger(name) {
    const { store, subject } = this.page, { causal } = subject, id = "tag-variable";
    const own = store.state.tags.filter(({ node }) => node === name);
    const select = h("select", { id, "data-key": "tag" }, h("option", { value: "", text: "choose a variable" }),
      this.record.variables.map((text) => h("option", { value: text, text })));
    select.addEventListener("change", () => {
      const variable = causal.place.get(select.value);
      if (variable === undefined || own.some((tag) => tag.variable === variable)) return;
      store.set({ tags: [...store.state.tags, { node: name, variable }] });
    });
    return h("div", { class: "tagger" }, h("label", { for: id, class: "field", text: "This node carries" }), select,
      h("ul", { class: "stack" }, own.map((tag) => h("li", {}, h("span", { class: `chip ${causal.family(tag.variable).kind}`, text: causal.names[tag.variable] }), button("×", () => store.set({ tags: store.state.tags.filter((other) => other !== tag) }), { class: "plain", "aria-label": `Remove the tag ${causal.names[tag.variable]}`, "data-key": `untag ${tag.variable}` })))));
  }

  update() {
    const { store } = this.page, { record } = this;
    replaceKept(this.banner, h("h2", { text: `Challenge, level ${record.level}: ${record.title}` }), record.text.map((text) => h("p", { text })),
      h("div", { class: "together" }, h("span", { text: `${store.state.tags.length} tags` }), button("Finish and score", () => this.finish(), { class: "primary", disabled: !store.state.tags.length }), this.busy ? h("span", { class: "soft", text: "measuring the evidence …" }) : null),
      this.scored ? this.results() : null);
  }

  async finish() {
    const { store, subject, jobs } = this.page, { causal } = subject, truth = this.truth();
    const key = (node, name) => `${node} ${name}`, wanted = new Set(truth.pairs.map(([node, name]) => key(node, name)));
    const decoys = new Map(truth.decoys.map(([node, name]) => [key(node, name), true]));
    const tags = store.state.tags.map(({ node, variable }) => ({ node, variable, name: causal.names[variable] }));
    const given = new Set(tags.map(({ node, name }) => key(node, name)));
    const hits = tags.filter(({ node, name }) => wanted.has(key(node, name)));
    const missed = truth.pairs.filter(([node, name]) => !given.has(key(node, name)));
    this.scored = { nTags: tags.length, nHits: hits.length, nTrue: wanted.size, missed, wrong: tags.filter((tag) => !hits.includes(tag)).map((tag) => ({ ...tag, decoy: decoys.has(key(tag.node, tag.name)) })), evidence: [] };
    this.busy = true;
    this.update();
    const asked = [...this.scored.wrong.slice(0, 6).map(({ node, name }) => ({ nodes: [node], name })), ...this.told(truth, missed)];
    for (const { nodes, name } of asked) {
      const run = await jobs.start("evidence", "carries", { nodes: nodes.map(parseNode), variable: causal.place.get(name) });
      this.scored.evidence.push({ nodes, name, run });
      this.update();
    }
    this.busy = false;
    this.update();
  }

  // What would have told of the first few missed: one copy alone, which backups may outvote, and all copies together.
  told(truth, missed) {
    const sets = new Map();
    for (const [node, name] of missed) {
      const group = truth.groups.find(({ variable, copies }) => variable === name && copies.flat().includes(node));
      const own = group?.copies.find((copy) => copy.includes(node)) ?? [node];
      for (const nodes of group && group.copies.length > 1 ? [own, group.copies.flat()] : [own]) sets.set(`${nodes} ${name}`, { nodes, name });
      if (sets.size >= 8) break;
    }
    return [...sets.values()];
  }

  results() {
    const { nTags, nHits, nTrue, missed, wrong, evidence } = this.scored;
    const list = (items) => h("ul", { class: "small" }, items);
    return h("div", { class: "scored", role: "status" },
      h("p", { class: "big" }, h("b", { text: `${nHits} of ${nTags}` }), " tags are true; ", h("b", { text: `${nHits} of ${nTrue}` }), " true roles were found."),
      wrong.length ? [h("h3", { text: "Not so" }), list(wrong.map(({ node, name, decoy }) => h("li", {}, h("span", { class: "mono", text: `${node} ${name}` }), decoy ? ": a decoy. It holds the right value, and no later component reads it, so an interchange changes nothing." : ": this node does not carry it.")))] : null,
      missed.length ? [h("h3", { text: `Missed (${missed.length})` }), h("p", { class: "small mono", text: missed.map(([node, name]) => `${node} ${name}`).join(" · ") })] : null,
      evidence.length ? [h("h3", { text: "The evidence that would have told" }), list(evidence.map(({ nodes, name, run }) => h("li", {}, h("span", { class: "mono", text: `${nodes.join(" + ")} for ${name}` }), `: ${rateText(run.effect)} pairs give the predicted answer; null ${run.null.hits} of ${run.null.n}.`)))] : null);
  }
}
