// The task: how questions are written, read as tokens, and drawn. Inputs are rows of small values.

class Task {
  constructor(record, causal, questions) {
    Object.assign(this, record);
    this.causal = causal;
    this.questions = questions;
    this.nInputs = causal.nInputs;
    this.arrivals = new Array(this.nInputs).fill(0);
    this.slots.forEach((slot, at) => slot.input !== undefined && (this.arrivals[slot.input] = at));
    this.fixedInputs = new Map(causal.fixed);
    this.valueOfId = this.outputIds.map((ids) => new Map(Object.entries(ids).map(([value, id]) => [id, Number(value)])));
    // The id that an output's token has when it is read again, from the id that it is predicted as.
    this.fedId = this.outputVocabulary.map((token) => this.vocabulary.indexOf(token));
    this.pools = questions.populations.map(({ name, seed, rows }) => ({ name, seed, rows: rowsOf(rows, this.nInputs) }));
    this.classes = questions.classes.map(({ name, rows }) => ({ name, rows: rowsOf(rows, this.nInputs) }));
    this.ladders = questions.ladders.map((each) => ({ ...each, rows: each.rows.map((row) => rowsOf(row, this.nInputs)) }));
  }

  get reference() {
    this.referenceRows ??= rowsOf(this.questions.reference.rows, this.nInputs);
    return this.referenceRows;
  }

  rightOutputs(inputs) {
    return this.causal.outputsOf(this.causal.run(inputs));
  }

  // The token ids of a question with outputs, as values, after it; the right ones if none are given.
  encode(inputs, outputs = null) {
    const written = this.fedBack ? outputs ?? this.rightOutputs(inputs) : [];
    return Int32Array.from(this.slots, (slot) => {
      if (slot.input !== undefined) return slot.ids[inputs[slot.input]];
      if (slot.output !== undefined) return slot.ids[written[slot.output]];
      return slot.token;
    });
  }

  outputTokens(values) {
    return values.map((value, t) => this.outputIds[t][value]);
  }

  // An answer as people read it: arithmetic from its sign and top digit on, whatever order it is written in.
  answerText(tokens) {
    const order = this.written?.order ?? tokens.map((_, t) => t);
    return order.map((t) => this.outputVocabulary[tokens[t]]).join("");
  }

  valuesText(values) {
    return this.answerText(this.outputTokens(values));
  }

  questionText(inputs) {
    if (this.written) {
      const { digits } = this.written, sign = this.causal.label(digits, inputs[digits]);
      return Array.from(inputs.slice(0, digits)).join("") + sign + Array.from(inputs.slice(digits + 1)).join("");
    }
    const tokens = this.encode(inputs);
    return Array.from(tokens.slice(0, this.nQuestion), (id) => this.vocabulary[id]).join("");
  }

  // The inputs that a text states, or an Error whose message says what to write instead.
  parse(text) {
    const given = text.replace(/\s+/g, "");
    return this.written ? this.parseArithmetic(given) : this.parseTokens(given);
  }

  parseArithmetic(given) {
    const { digits, signs } = this.written, match = /^(\d+)([+\-−])(\d+)=?$/.exec(given);
    if (!match) throw new Error(`Write two numbers with ${[...signs].join(" or ")} between them, such as 45${signs[0]}7.`);
    const sign = match[2] === "+" ? "+" : "-";
    if (!signs.includes(sign)) throw new Error(`This model was made for ${signs} only.`);
    const numbers = [match[1], match[3]].map((number) => number.replace(/^0+(?=\d)/, ""));
    if (numbers.some((number) => number.length > digits)) throw new Error(`This model takes at most ${digits} digits.`);
    const [first, second] = numbers.map((number) => [...number.padStart(digits, "0")].map(Number));
    return this.checked(Uint8Array.from([...first, sign === "+" ? 0 : 1, ...second]));
  }

  parseTokens(given) {
    const inputs = new Uint8Array(this.nInputs);
    for (const [variable, value] of this.fixedInputs) inputs[variable] = value;
    let left = given;
    this.slots.slice(0, this.nQuestion).forEach((slot) => {
      const choices = slot.ids ? Object.entries(slot.ids) : [["0", slot.token]];
      const fits = choices.filter(([, id]) => left.startsWith(this.vocabulary[id]));
      fits.sort((a, b) => this.vocabulary[b[1]].length - this.vocabulary[a[1]].length);
      if (!fits.length) throw new Error(`${slot.name} must be ${choices.map(([, id]) => this.vocabulary[id]).join(" or ")}.`);
      left = left.slice(this.vocabulary[fits[0][1]].length);
      if (slot.input !== undefined) inputs[slot.input] = Number(fits[0][0]);
    });
    if (left) throw new Error(`“${left}” is left over at the end.`);
    return this.checked(inputs);
  }

  checked(inputs) {
    this.questions.values.forEach((values, at) => {
      const fixed = this.fixedInputs.has(at) || !this.questions.free;
      if (fixed && !values.includes(inputs[at]))
        throw new Error("This model was not made for that question.");
    });
    return inputs;
  }

  // A question of its own: one of the pool, with some inputs drawn anew. Only where any input may have any value.
  invented(random) {
    const pool = this.pools[0].rows, row = Uint8Array.from(pool[random.below(pool.length)]);
    if (!this.questions.free) return row;
    const share = random.next();
    this.questions.values.forEach((values, at) => {
      if (random.next() < share * 0.6) row[at] = values[random.below(values.length)];
    });
    return row;
  }
}

// Random numbers that a seed gives again (mulberry32).
class Random {
  constructor(seed) {
    this.state = seed >>> 0;
  }

  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  below(bound) {
    return Math.floor(this.next() * bound);
  }
}
