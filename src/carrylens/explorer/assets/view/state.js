// State: everything that can be shared, in one place; each change is told to all parts of the page.

const FILLS = { mean: "m", zero: "z", resample: "r", source: "i" };
const FILL_WORDS = { mean: "mean", zero: "zero", resample: "resample", source: "interchange" };
const MARKS = { mean: "x̄", zero: "∅", resample: "↻", source: "⇄" };

class Store {
  constructor(subject, data) {
    this.subject = subject;
    this.data = data;
    this.listeners = [];
    this.past = [];
    this.future = [];
    const rows = (text) => rowOf(text);
    this.state = {
      question: rows(data.start.question), second: rows(data.start.second), edits: [], reading: "own", claim: null,
      selected: null, tint: data.map ? "map" : data.challenge ? "tags" : "breaks", families: null, cursor: null, tags: [],
    };
  }

  on(listener) {
    this.listeners.push(listener);
  }

  set(patch) {
    Object.assign(this.state, patch);
    const changed = new Set(Object.keys(patch));
    for (const listener of this.listeners) listener(changed);
  }

  // Change the edits so that it can be undone.
  edit(edits) {
    this.past.push(this.state.edits);
    this.future = [];
    this.set({ edits });
  }

  undo() {
    if (!this.past.length) return;
    this.future.push(this.state.edits);
    this.set({ edits: this.past.pop() });
  }

  redo() {
    if (!this.future.length) return;
    this.past.push(this.state.edits);
    this.set({ edits: this.future.pop() });
  }

  editOf(name) {
    return this.state.edits.find(({ node }) => nodeName(node) === name) ?? null;
  }

  // Put an edit on a node, or take the same one off again.
  toggle(name, fill) {
    const node = parseNode(name), others = this.state.edits.filter((edit) => nodeName(edit.node) !== name);
    const same = this.editOf(name)?.fill === fill;
    this.edit(same || fill === null ? others : [...others, { node, fill }]);
  }

  // What the interchanged nodes move, by the reader's own word or by the map: { variable, outputs }, outputs null for all.
  // The map's word for a set of nodes is the variable that it carries for most outputs; of two alike, the one made first.
  // A variable moves for the outputs that the nodes reach.
  get moves() {
    const { claim, edits } = this.state, { nInputs } = this.subject.causal;
    const nodes = edits.filter(({ fill }) => fill === "source").map(({ node }) => node), moved = new Set(nodes.map(nodeName));
    if (!moved.size) return [];
    if (claim !== null) return claim.map((variable) => this.subject.moveOf(variable, nodes));
    const counts = new Map();
    for (const { nodes, variable, confidence, hit } of rolesOf(this.data)) {
      if (confidence < 0.9 || variable < nInputs || 2 * hit.hits < hit.n || !nodes.every((name) => moved.has(name))) continue;
      const key = nodes.join(" "), of = counts.get(key) ?? new Map();
      counts.set(key, of.set(variable, (of.get(variable) ?? 0) + 1));
    }
    const holders = new Map();
    for (const [key, of] of counts) {
      const [variable] = [...of].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0];
      holders.set(variable, [...(holders.get(variable) ?? []), ...key.split(" ").map(parseNode)]);
    }
    return [...holders].sort((a, b) => a[0] - b[0]).map(([variable, some]) => this.subject.moveOf(variable, some));
  }

  toHash() {
    const { state, subject } = this, { task, causal } = subject, parts = new URLSearchParams();
    parts.set("q", task.questionText(state.question));
    parts.set("s", task.questionText(state.second));
    if (state.edits.length) parts.set("e", state.edits.map(({ node, fill }) => `${nodeName(node)}.${FILLS[fill]}`).join(","));
    if (state.reading !== "own") parts.set("r", state.reading);
    if (state.claim !== null) parts.set("c", state.claim.map((variable) => causal.names[variable]).join(","));
    if (state.selected) parts.set("n", state.selected);
    if (state.tint !== "map") parts.set("t", state.tint);
    if (state.families) parts.set("f", state.families.join(","));
    if (state.cursor !== null) parts.set("u", String(state.cursor));
    if (state.tags.length) parts.set("g", state.tags.map(({ node, variable }) => `${node}.${causal.names[variable]}`).join(","));
    return `#${parts}`;
  }

  // The state that a hash names; what it says wrongly is left out.
  fromHash(hash) {
    const parts = new URLSearchParams(hash.replace(/^#/, "")), patch = {}, { task, causal, model } = this.subject;
    if (!parts.has("q")) return null;
    const question = (name) => {
      try {
        return parts.has(name) ? task.parse(parts.get(name)) : null;
      } catch {
        return null;
      }
    };
    const isHere = (node) =>
      node && node.position < model.end && node.layer < model.nLayers && (node.head === null ? model.hasMlp : node.head < model.nHeads);
    patch.question = question("q") ?? this.state.question;
    patch.second = question("s") ?? this.state.second;
    const fills = Object.fromEntries(Object.entries(FILLS).map(([fill, letter]) => [letter, fill]));
    const named = (parts.get("e") ?? "").split(",").map((text) => text.split("."));
    const wanted = named.map(([name, letter]) => ({ node: parseNode(name), fill: fills[letter] })).filter(({ node, fill }) => isHere(node) && fill);
    patch.edits = [...new Map(wanted.map((edit) => [nodeName(edit.node), edit])).values()];
    patch.reading = parts.get("r") === "right" ? "right" : "own";
    const claimed = parts.has("c") ? parts.get("c").split(",").filter((name) => causal.place.has(name)) : null;
    patch.claim = claimed && claimed.map((name) => causal.place.get(name));
    const selected = parseNode(parts.get("n") ?? "");
    patch.selected = isHere(selected) ? nodeName(selected) : null;
    patch.tint = ["map", "breaks", "tags"].includes(parts.get("t")) ? parts.get("t") : this.data.map ? "map" : this.state.tint;
    const tagged = (parts.get("g") ?? "").split(",").map((text) => text.split("."));
    patch.tags = tagged.filter(([node, name]) => isHere(parseNode(node)) && causal.place.has(name)).map(([node, name]) => ({ node, variable: causal.place.get(name) }));
    const families = causal.families.map(({ name }) => name);
    patch.families = parts.has("f") ? parts.get("f").split(",").filter((name) => families.includes(name)) : null;
    const cursor = Number(parts.get("u") ?? NaN);
    patch.cursor = Number.isInteger(cursor) && cursor >= 0 && cursor < model.end ? cursor : null;
    return patch;
  }
}

function rowOf(text) {
  return Uint8Array.from(text, (letter) => parseInt(letter, 16));
}

// The map's roles as records, made once.
function rolesOf(data) {
  data.roleRecords ??= (data.map?.roles ?? []).map(([nodes, variable, output, hits, n, nullHits, nullN, confidence, way]) => ({
    nodes: nodes.split(" "), variable, output, hit: { hits, n }, nothing: { hits: nullHits, n: nullN }, confidence, way,
  }));
  return data.roleRecords;
}
