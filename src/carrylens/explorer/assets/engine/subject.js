// The subject: a model with its task, asked under edits.
//
// An edit is { node: { position, layer, head }, fill }, fill one of zero, mean, resample, source. A source takes the write
// from a second question. With `reading` "own" the model reads what it wrote itself, as when it is used; with "right" it
// reads the right answer before each token, as when the map was made and as the Engine of Python does.

const KEPT = 24;

class Subject {
  constructor(data) {
    this.data = data;
    this.causal = new Causal(data.causal);
    // Right answers are the task's, also where the algorithm on the page is another that answers otherwise.
    this.task = new Task(data.layout, data.truth ? new Causal(data.truth) : this.causal, data.questions);
    this.model = new Model(data.model);
    this.passes = new Map();
    this.sparePass = this.spareOf = null;
    this.spareFrom = 0;
  }

  // The clean pass of a question that is read with its right answer. Those asked for last are kept, and the oldest of the
  // others is written over, unless it is for looking at: what this gives is good for the next few questions.
  cleanPass(inputs, shown = false) {
    const key = `${shown}:${inputs.join()}`;
    let pass = this.passes.get(key);
    if (pass) this.passes.delete(key);
    else {
      const oldest = this.passes.size >= KEPT ? this.passes.entries().next().value : null;
      if (oldest) this.passes.delete(oldest[0]);
      const isFree = oldest && !shown && !oldest[1].shown;
      pass = this.model.clean(this.task.encode(inputs), shown, isFree ? oldest[1] : undefined);
      if (isFree && this.spareOf === pass) this.spareOf = null;
    }
    this.passes.set(key, pass);
    return pass;
  }

  nodes() {
    const found = [], { nLayers, nHeads, end, hasMlp } = this.model;
    for (let position = 0; position < end; position++)
      for (let layer = 0; layer < nLayers; layer++) {
        for (let head = 0; head < nHeads; head++) found.push({ position, layer, head });
        if (hasMlp) found.push({ position, layer, head: null });
      }
    return found;
  }

  // The reference passes' order and tokens, as the Engine sorts them.
  get referenceOrder() {
    if (!this.sortedReference) {
      // Alike questions have alike answers, so their own tokens order them.
      const none = new Uint8Array(this.causal.outputs.length);
      const rows = this.task.reference.map((inputs) => ({ inputs, tokens: this.task.encode(inputs, none) }));
      rows.sort((a, b) => {
        for (let p = 0; p < a.tokens.length; p++) if (a.tokens[p] !== b.tokens[p]) return a.tokens[p] - b.tokens[p];
        return 0;
      });
      this.sortedReference = rows;
      this.sortedTokens = rows.map((each) => each.tokens);
    }
    return this.sortedReference;
  }

  drawn(inputs, seed = 0) {
    const order = this.referenceOrder, tokens = this.task.encode(inputs);
    return order[drawnPlace(this.sortedTokens, tokens, this.task.nQuestion, seed)].inputs;
  }

  // The edits as values to write; nodes that nothing reads are left out.
  writes(edits, inputs, source) {
    const { inner, dHead, dModel } = this.model;
    const drawn = new Map();
    return edits.filter(({ node }) => this.model.isRead(node)).map(({ node, fill, seed = 0 }) => {
      const { position, layer, head } = node, isHead = head !== null;
      const offset = isHead ? position * inner + head * dHead : position * dModel, part = isHead ? "z" : "mlp";
      if (fill === "zero") return { ...node, value: new Float64Array(isHead ? dHead : dModel), offset: 0 };
      if (fill === "mean") return { ...node, value: this.model.means[layer][part], offset };
      if (fill === "source" && !source) throw new Error("An interchange needs a second question.");
      if (fill === "resample" && !drawn.has(seed)) drawn.set(seed, this.drawn(inputs, seed));
      const from = fill === "source" ? source : drawn.get(seed);
      return { ...node, value: this.cleanPass(from).layers[layer][part], offset };
    });
  }

  // What the model answers: { tokens, pass }. `tokens` are ids of outputs.
  ask(inputs, edits = [], source = null, { reading = "own", shown = false } = {}) {
    const clean = this.cleanPass(inputs, shown), writes = this.writes(edits, inputs, source);
    const { model, task } = this, positions = task.readPositions;
    let pass = clean;
    if (writes.length) {
      pass = this.editable(clean, Math.min(...writes.map(({ position }) => position)));
      model.propagate(pass, model.end, writes);
    }
    let tokens = model.predicted(pass, positions);
    if (reading === "right" || !task.fedBack) return { tokens, pass };
    // Where a token differs from the one that was read after it, what follows is read anew.
    for (let t = 0; t + 1 < positions.length; t++) {
      const next = positions[t] + 1, id = task.fedId[tokens[t]];
      if (next >= model.end || pass.tokens[next] === id) continue;
      if (pass === clean) pass = this.editable(clean, next);
      if (!shown) this.spareFrom = Math.min(this.spareFrom, next);
      pass.tokens[next] = id;
      model.propagate(pass, next, writes.filter(({ position }) => position >= next));
      tokens = model.predicted(pass, positions);
    }
    return { tokens, pass };
  }

  // A copy of a clean pass, to be changed from a position on. One that is not for looking at is used over and over: what
  // it holds is good until the next question, and what the last edit of the same question left alone is not copied again.
  editable(clean, from) {
    if (clean.shown) return this.model.copy(clean, this.model.blank(true));
    this.sparePass ??= this.model.blank();
    this.model.copy(clean, this.sparePass, this.spareOf === clean ? this.spareFrom : 0);
    this.spareOf = clean;
    this.spareFrom = from;
    return this.sparePass;
  }

  certainties(pass) {
    const { dVocabOut } = this.model;
    return this.task.readPositions.map((p) => {
      const some = Float64Array.from(pass.logits.subarray(p * dVocabOut, (p + 1) * dVocabOut)), best = argmax(some, 0, dVocabOut);
      softmax(some, 0, dVocabOut);
      return some[best];
    });
  }

  // The algorithm's own answer, which a wrong algorithm gets wrong.
  stated(inputs) {
    return this.task.outputTokens(this.causal.outputsOf(this.causal.run(inputs)));
  }

  right(inputs) {
    return this.task.outputTokens(this.task.rightOutputs(inputs));
  }

  // The outputs that edits of these nodes can change: of a node in the last layer the one that is read at its place.
  reachOf(nodes) {
    const { model, task } = this, isLast = ({ layer }) => layer === model.nLayers - 1;
    return task.readPositions.flatMap((p, t) =>
      nodes.some((node) => (isLast(node) ? node.position === p : node.position <= p)) ? [t] : [],
    );
  }

  // What an interchange of nodes that carry a variable moves: the variable, for the outputs that they reach.
  moveOf(variable, nodes) {
    const outputs = this.reachOf(nodes);
    return { variable, outputs: outputs.length === this.task.readPositions.length ? null : outputs };
  }

  // The outputs, as token ids, that the algorithm gives under do: `moves` has { variable, outputs } (outputs null: all),
  // values come from the source question. Other outputs read the variable where it was not replaced.
  predicted(inputs, source, moves, reading = "own") {
    const there = this.causal.run(source);
    const forcedFor = (t) =>
      moves.filter(({ outputs }) => !outputs || outputs.includes(t)).map(({ variable }) => [variable, there[variable]]);
    return this.task.outputTokens(
      this.causal.counterfactual(inputs, forcedFor, reading === "right" ? this.task.rightOutputs(inputs) : null),
    );
  }
}

const NODE = /^P(0|[1-9]\d{0,2})L(0|[1-9]\d?)(?:H(0|[1-9]\d?)|MLP)$/;

function nodeName({ position, layer, head }) {
  return `P${position}L${layer}${head === null ? "MLP" : `H${head}`}`;
}

function parseNode(text) {
  const match = NODE.exec(text);
  return match && { position: +match[1], layer: +match[2], head: match[3] === undefined ? null : +match[3] };
}
