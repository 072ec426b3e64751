// The causal model: the algorithm as tables, which runs, runs under `do`, and says what is known when.
// Variables are numbers: their place among all, inputs first. Nothing here knows what one means.

const UNKNOWN = -1;

class Causal {
  constructor(record) {
    Object.assign(this, record);
    this.nVariables = this.variables.length;
    this.names = this.variables.map(([family, index]) => this.families[family].name + (index === null ? "" : `[${index}]`));
    this.place = new Map(this.names.map((name, at) => [name, at]));
    // Where each value stands among those its variable can take.
    this.rank = this.values.map((values) => {
      const rank = new Int8Array(16).fill(-1);
      values.forEach((value, at) => (rank[value] = at));
      return rank;
    });
    this.entries = this.tables.map(valuesOf);
    this.steps = this.mechanisms.map(([variable, parents, table]) => ({ variable, parents, entries: this.entries[table] }));
    this.stepOf = new Map(this.steps.map((step) => [step.variable, step]));
    this.isOutput = new Set(this.outputs);
    this.images = new Map();
  }

  family(variable) {
    return this.families[this.variables[variable][0]];
  }

  label(variable, value) {
    return value === UNKNOWN ? "?" : this.family(variable).labels[value];
  }

  // A short name for a cell: ST3 for ST[3].
  short(variable) {
    const [family, index] = this.variables[variable];
    return this.families[family].name + (index === null ? "" : index);
  }

  // Every variable's value; `forced` has [variable, value] pairs.
  run(inputs, forced = []) {
    const values = new Int8Array(this.nVariables), isForced = new Uint8Array(this.nVariables);
    values.set(inputs);
    for (const [variable, value] of forced) {
      values[variable] = value;
      isForced[variable] = 1;
    }
    for (const { variable, parents, entries } of this.steps) {
      if (isForced[variable]) continue;
      let at = 0;
      for (const parent of parents) at = at * this.values[parent].length + this.rank[parent][values[parent]];
      values[variable] = entries[at];
    }
    return values;
  }

  outputsOf(values) {
    return this.outputs.map((output) => values[output]);
  }

  // The outputs under `do`, one at a time: `forcedFor(t)` gives the [variable, value] pairs that move for output t. An
  // output that later ones depend on is read as it stands: as in `written`, or else as it was made here.
  counterfactual(inputs, forcedFor, written) {
    const made = [], runs = new Map();
    this.outputs.forEach((output, t) => {
      const read = this.steering.filter((s) => s < t).map((s) => [this.outputs[s], (written ?? made)[s]]);
      const forced = [...read, ...forcedFor(t)], key = forced.join(";");
      if (!runs.has(key)) runs.set(key, this.run(inputs, forced));
      made.push(runs.get(key)[output]);
    });
    return made;
  }

  // For each variable and position of the question: its value if what was read settles it, else UNKNOWN.
  timeline(inputs, arrivals, nPositions) {
    const possible = this.variables.map(() => new Uint16Array(nPositions));
    for (let v = 0; v < this.nInputs; v++) {
      const every = this.everyBit(v);
      for (let p = 0; p < nPositions; p++) possible[v][p] = p >= arrivals[v] ? 1 << inputs[v] : every;
    }
    this.mechanisms.forEach(([variable, parents, table]) => {
      const waits = Math.max(0, ...parents.filter((parent) => parent < this.nInputs).map((parent) => arrivals[parent]));
      const anything = this.imageOf(parents, table, parents.map((parent) => this.everyBit(parent)));
      for (let p = 0; p < nPositions; p++)
        possible[variable][p] =
          p < waits ? anything : this.imageOf(parents, table, parents.map((parent) => possible[parent][p]));
    });
    return possible.map((masks) =>
      Int8Array.from(masks, (mask) => (mask & (mask - 1) ? UNKNOWN : 31 - Math.clz32(mask))),
    );
  }

  everyBit(variable) {
    return this.values[variable].reduce((bits, value) => bits | (1 << value), 0);
  }

  // Every value that a rule makes of parents that may each have the values in its mask.
  imageOf(parents, table, masks) {
    const key = `${table}:${masks.join()}`;
    if (this.images.has(key)) return this.images.get(key);
    let indices = [0];
    parents.forEach((parent, at) => {
      const values = this.values[parent], allowed = [];
      values.forEach((value, rank) => masks[at] & (1 << value) && allowed.push(rank));
      const next = [];
      for (const index of indices) for (const rank of allowed) next.push(index * values.length + rank);
      indices = next;
    });
    const image = indices.reduce((bits, index) => bits | (1 << this.entries[table][index]), 0);
    this.images.set(key, image);
    return image;
  }

  // The families of which at least one variable could change an output of this question.
  familiesThatMatter(inputs) {
    const values = this.run(inputs), right = this.outputsOf(values).join();
    const matters = new Set();
    for (const { variable } of this.steps) {
      const family = this.variables[variable][0];
      if (matters.has(family) || this.isOutput.has(variable)) continue;
      for (const other of this.values[variable])
        if (other !== values[variable] && this.outputsOf(this.run(inputs, [[variable, other]])).join() !== right)
          matters.add(family);
    }
    return matters;
  }
}
