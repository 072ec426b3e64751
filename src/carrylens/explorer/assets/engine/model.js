// The model: its weights, and passes through it.
//
// A pass holds every value of one sequence, position after position. `propagate` brings a pass up to date after tokens or
// writes of nodes were changed, and computes only what that can change:
// 1. A position is computed anew in a layer if its own stream changed, or if it can attend to one that did.
// 2. In the last layer only positions whose logits are read are computed, unless the pass is for looking at.
// 3. What layer 0 makes of a token at a position before it looks at others depends on nothing else, and is kept.
// A clean pass is the same with every position changed. What an edit replaces is what interventions/ replaces in Python:
// for a head what it brings home (before W_O), for an MLP its whole write.

const PARTS = ["stream", "q", "k", "v", "z", "mid", "mlp"];

class Model {
  constructor({ config, weights, means }) {
    Object.assign(this, config);
    this.inner = this.nHeads * this.dHead;
    this.end = this.readsStop;
    this.hasMlp = this.dMlp > 0;
    const reader = new WeightReader(floatsOf(weights));
    this.embed = reader.take(this.dVocab * this.dModel);
    this.places = reader.take(this.nCtx * this.dModel);
    this.layers = [];
    for (let l = 0; l < this.nLayers; l++) this.layers.push(this.readLayer(reader));
    this.normFinal = this.readNorm(reader);
    this.unembed = transposed(reader.take(this.dModel * this.dVocabOut), 0, this.dModel, this.dVocabOut);
    this.unembedBias = reader.take(this.dVocabOut);
    this.means = this.readMeans(floatsOf(means));
    this.scratch = {
      read: new Float64Array(this.end * this.dModel),
      hidden: new Float64Array(this.end * Math.max(1, this.dMlp)),
      scores: new Float64Array(this.end),
      places: new Int32Array(Math.max(1, this.dMlp)),
      values: new Float64Array(Math.max(1, this.dMlp)),
    };
    // For each token at each position of layer 0, once it was asked for: q, k and v.
    this.firstKnown = new Uint8Array(this.end * this.dVocab);
    this.firstRows = null;
  }

  readNorm(reader) {
    if (this.normalization === "none") return null;
    if (this.normalization === "LNPre") return { gain: null, bias: null };
    return { gain: reader.take(this.dModel), bias: reader.take(this.dModel) };
  }

  readLayer(reader) {
    const { dModel, dHead, nHeads, inner, dMlp } = this, layer = { norm1: this.readNorm(reader) };
    if (this.hasMlp) layer.norm2 = this.readNorm(reader);
    for (const name of ["q", "k", "v"]) {
      const given = reader.take(nHeads * dModel * dHead), together = new Float64Array(inner * dModel);
      for (let h = 0; h < nHeads; h++)
        together.set(transposed(given, h * dModel * dHead, dModel, dHead), h * dHead * dModel);
      layer[name] = together;
      layer[name + "Bias"] = reader.take(inner);
    }
    layer.out = transposed(reader.take(inner * dModel), 0, inner, dModel);
    layer.outBias = reader.take(dModel);
    if (this.hasMlp) {
      layer.mlpIn = transposed(reader.take(dModel * dMlp), 0, dModel, dMlp);
      layer.mlpInBias = reader.take(dMlp);
      const out = reader.take(dMlp * dModel);
      layer.mlpOut = this.actFn === "relu" ? out : transposed(out, 0, dMlp, dModel);
      layer.mlpOutBias = reader.take(dModel);
    }
    return layer;
  }

  // Means begin at the first position whose write is read; here they stand at their own positions.
  readMeans(numbers) {
    const reader = new WeightReader(numbers);
    return this.layers.map((_, l) => {
      const first = this.firstComputed(l), count = this.end - first;
      const z = new Float64Array(this.end * this.inner), mlp = new Float64Array(this.end * this.dModel);
      z.set(reader.take(count * this.inner), first * this.inner);
      if (this.hasMlp) mlp.set(reader.take(count * this.dModel), first * this.dModel);
      return { z, mlp };
    });
  }

  // The first position whose stream after a layer somebody reads.
  firstComputed(layer) {
    return layer >= this.nLayers - 1 ? this.readsStart : 0;
  }

  // Whether the write of a node is read by anything.
  isRead({ position, layer }) {
    return position >= this.firstComputed(layer) && position < this.end;
  }

  // A pass with nothing in it yet. One that is for looking at has attention and the last layer at every position.
  blank(shown = false) {
    const { end, dModel, inner } = this, rows = (width) => new Float64Array(end * width);
    const layer = () => ({
      stream: rows(dModel), q: rows(inner), k: rows(inner), v: rows(inner), z: rows(inner),
      mid: rows(dModel), mlp: rows(dModel),
      pattern: shown ? new Float64Array(end * this.nHeads * end) : null,
    });
    return {
      tokens: new Int32Array(end), shown, layers: Array.from({ length: this.nLayers }, layer), last: rows(dModel),
      logits: rows(this.dVocabOut),
    };
  }

  // `to` becomes like `from`; where they differ only from a position on, the rest need not be copied.
  copy(from, to, first = 0) {
    const fromRow = (values) => values.subarray(first * (values.length / this.end));
    const bring = (here, there) => there.set(fromRow(here), first * (here.length / this.end));
    bring(from.tokens, to.tokens);
    for (let l = 0; l < this.nLayers; l++)
      for (const name of to.shown ? [...PARTS, "pattern"] : PARTS) bring(from.layers[l][name], to.layers[l][name]);
    bring(from.last, to.last);
    bring(from.logits, to.logits);
    return to;
  }

  // The pass of these tokens without edits, written into one that nobody needs any more where there is one.
  clean(tokens, shown = false, pass = this.blank(shown)) {
    pass.tokens.set(tokens.subarray ? tokens.subarray(0, this.end) : tokens.slice(0, this.end));
    this.propagate(pass, 0, []);
    return pass;
  }

  // Bring a pass up to date: its tokens changed from position `from` on, and `edits` replace writes there and before.
  // An edit is { position, layer, head (null for the MLP), value, offset }: `value[offset...]` is what is written.
  propagate(pass, from, edits) {
    const { end, dModel } = this;
    let dirty = new Uint8Array(end);
    for (let p = from; p < end; p++) {
      dirty[p] = 1;
      const token = pass.tokens[p] * dModel, stream = pass.layers[0].stream;
      for (let i = 0; i < dModel; i++) stream[p * dModel + i] = this.embed[token + i] + this.places[p * dModel + i];
    }
    for (let l = 0; l < this.nLayers; l++) dirty = this.passLayer(pass, l, dirty, edits);
    this.readLogits(pass, dirty);
  }

  passLayer(pass, l, dirty, edits) {
    const { end, dModel, inner, dHead } = this, here = pass.layers[l];
    const first = pass.shown ? 0 : this.firstComputed(l), acting = edits.filter((edit) => edit.layer === l);
    const isAnew = this.attend(pass, l, dirty, first);
    const heads = acting.filter((edit) => edit.head !== null && edit.position >= first && edit.position < end);
    for (const { position, head, value, offset } of heads) {
      const at = position * inner + head * dHead;
      for (let i = 0; i < dHead; i++) here.z[at + i] = value[offset + i];
      isAnew[position] = 1;
    }
    const rows = positionsOf(isAnew), layer = this.layers[l];
    projectRows(layer.out, layer.outBias, inner, dModel, here.z, here.mid, rows);
    addRows(here.mid, here.stream, here.mid, dModel, rows);
    if (this.hasMlp) {
      this.think(layer, here, rows);
      for (const { position, head, value, offset } of acting) {
        if (head !== null || position < first || position >= end) continue;
        for (let i = 0; i < dModel; i++) here.mlp[position * dModel + i] = value[offset + i];
        isAnew[position] = 1;
      }
    }
    const next = l + 1 < this.nLayers ? pass.layers[l + 1].stream : pass.last, anew = positionsOf(isAnew);
    if (this.hasMlp) addRows(here.mid, here.mlp, next, dModel, anew);
    else for (const p of anew) next.set(here.mid.subarray(p * dModel, (p + 1) * dModel), p * dModel);
    return isAnew;
  }

  // Heads look anew from every position that can see a stream that changed; gives those positions.
  attend(pass, l, dirty, first) {
    const { end, inner, nHeads, dHead } = this, here = pass.layers[l], { scores } = this.scratch;
    const rows = positionsOf(dirty), isAnew = new Uint8Array(end), scale = 1 / Math.sqrt(dHead);
    if (!rows.length) return isAnew;
    if (l === 0) this.readFirst(pass, rows);
    else this.readStream(here, this.layers[l], rows, first);
    for (let p = Math.max(first, rows[0]); p < end; p++) {
      isAnew[p] = 1;
      for (let h = 0; h < nHeads; h++) {
        const offset = h * dHead, at = p * inner + offset;
        scoreKeys(here.q, at, here.k, offset, inner, dHead, p, scale, scores);
        softmax(scores, 0, p + 1);
        bringHome(scores, here.v, offset, inner, dHead, p, here.z, at);
        if (pass.shown) here.pattern.set(scores.subarray(0, p + 1), (p * nHeads + h) * end);
      }
    }
    return isAnew;
  }

  // Keys and values of these rows, and queries where heads look from.
  readStream(here, layer, rows, first) {
    const { dModel, inner } = this, { read } = this.scratch;
    for (const p of rows) normalize(layer.norm1, dModel, this.eps, here.stream, p * dModel, read);
    projectRows(layer.k, layer.kBias, dModel, inner, read, here.k, rows);
    projectRows(layer.v, layer.vBias, dModel, inner, read, here.v, rows);
    projectRows(layer.q, layer.qBias, dModel, inner, read, here.q, rows.filter((p) => p >= first));
  }

  // The same in layer 0, from what is kept of these tokens at these positions.
  readFirst(pass, rows) {
    const { inner, dVocab, firstKnown } = this, here = pass.layers[0], keyOf = (p) => p * dVocab + pass.tokens[p];
    const isNew = rows.filter((p) => !firstKnown[keyOf(p)]), isOld = rows.filter((p) => firstKnown[keyOf(p)]);
    this.firstRows ??= new Float64Array(this.end * dVocab * 3 * inner);
    const kept = this.firstRows, parts = [here.q, here.k, here.v];
    for (const p of isOld) {
      const from = keyOf(p) * 3 * inner;
      for (let part = 0; part < 3; part++)
        for (let i = 0, to = p * inner, at = from + part * inner; i < inner; i++) parts[part][to + i] = kept[at + i];
    }
    if (isNew.length) this.readStream(here, this.layers[0], isNew, 0);
    for (const p of isNew) {
      const key = keyOf(p);
      parts.forEach((part, at) => kept.set(part.subarray(p * inner, (p + 1) * inner), (key * 3 + at) * inner));
      firstKnown[key] = 1;
    }
  }

  think(layer, here, rows) {
    const { dModel, dMlp } = this, { read, hidden } = this.scratch;
    for (const p of rows) normalize(layer.norm2, dModel, this.eps, here.mid, p * dModel, read);
    projectRows(layer.mlpIn, layer.mlpInBias, dModel, dMlp, read, hidden, rows);
    for (const p of rows) activate(this.actFn, hidden, p * dMlp, (p + 1) * dMlp);
    const through = this.actFn === "relu" ? projectActive : projectRows;
    through(layer.mlpOut, layer.mlpOutBias, dMlp, dModel, hidden, here.mlp, rows, this.scratch);
  }

  readLogits(pass, dirty) {
    const rows = positionsOf(dirty).filter((p) => p >= this.readsStart), { read } = this.scratch;
    this.unembedRows(pass.last, read, pass.logits, rows);
  }

  unembedRows(stream, read, logits, rows) {
    for (const p of rows) normalize(this.normFinal, this.dModel, this.eps, stream, p * this.dModel, read);
    projectRows(this.unembed, this.unembedBias, this.dModel, this.dVocabOut, read, logits, rows);
  }

  // The logit lens: what each position would answer if the stream entering layer `l` (or the last one) were read.
  lens(pass, l) {
    const rows = Array.from({ length: this.end }, (_, p) => p), logits = new Float64Array(this.end * this.dVocabOut);
    const stream = l < this.nLayers ? pass.layers[l].stream : pass.last;
    this.unembedRows(stream, this.scratch.read, logits, rows);
    return rows.map((p) => {
      const at = p * this.dVocabOut, token = argmax(logits, at, this.dVocabOut);
      softmax(logits, at, this.dVocabOut);
      return { token, share: logits[at + token] };
    });
  }

  // Which token each output gets, in the order of `readPositions`.
  predicted(pass, readPositions) {
    return readPositions.map((p) => argmax(pass.logits, p * this.dVocabOut, this.dVocabOut));
  }
}

class WeightReader {
  constructor(numbers) {
    this.numbers = numbers;
    this.at = 0;
  }

  take(count) {
    this.at += count;
    if (this.at > this.numbers.length) throw new Error("The weights end too early.");
    return this.numbers.subarray(this.at - count, this.at);
  }
}

function positionsOf(marks) {
  const found = [];
  for (let p = 0; p < marks.length; p++) if (marks[p]) found.push(p);
  return found;
}
