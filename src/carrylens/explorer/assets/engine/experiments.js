// Experiments: the same edit on many questions, hunts, and every ablation of one question.
// Each is a generator that yields how far it is, so that a worker can tell and the page stays alive without one.

const isInterchange = (edits) => edits.some(({ fill }) => fill === "source");
const isAlike = (a, b) => a.every((token, at) => token === b[at]);

// One edit on `count` fresh questions of a population, from place `start` on.
// Ablations: how many answers that were right break. Interchanges: pairs whose sources move the answer, by the algorithm
// under do, and how many the model answers as predicted; as the null, pairs in which the variables do not differ.
function* runEdit(subject, { edits, moves = [], reading = "own", count = 200, population = 0, start = 0, seed = 1 }) {
  const pool = subject.task.pools[population].rows, random = new Random(seed), total = Math.min(count, pool.length);
  const result = { kind: isInterchange(edits) ? "interchange" : "ablation", population: subject.task.pools[population].name };
  const effect = { hits: 0, n: 0 }, nothing = { hits: 0, n: 0 }, outputs = subject.causal.outputs.map(() => 0);
  for (let i = 0; i < total; i++) {
    if (i % 8 === 0) yield { done: i, total };
    const base = pool[(start + i) % pool.length];
    if (result.kind === "ablation") tryAblation(subject, base, edits, reading, effect, nothing, outputs);
    else tryInterchange(subject, base, pool, random, { edits, moves, reading }, effect, nothing, outputs);
  }
  for (const rate of [effect, nothing]) rate.interval = interval(rate.hits, rate.n);
  return { ...result, effect, null: nothing, outputs, next: (start + total) % pool.length, reused: start + total > pool.length };
}

function tryAblation(subject, base, edits, reading, effect, nothing, outputs) {
  const right = subject.right(base), clean = isAlike(subject.ask(base, [], null, { reading }).tokens, right);
  const { tokens } = subject.ask(base, edits, null, { reading });
  nothing.n++;
  nothing.hits += !clean;
  effect.n++;
  effect.hits += !isAlike(tokens, right);
  tokens.forEach((token, t) => (outputs[t] += token !== right[t]));
}

function tryInterchange(subject, base, pool, random, { edits, moves, reading }, effect, nothing, outputs) {
  const clean = subject.ask(base, [], null, { reading }).tokens, own = subject.causal.run(base);
  let moved = false, still = false;
  for (let tries = 0; tries < 40 && !(moved && still); tries++) {
    const source = pool[random.below(pool.length)];
    if (source === base) continue;
    const there = subject.causal.run(source), differs = moves.some(({ variable }) => there[variable] !== own[variable]);
    if (!moves.length || (differs && !moved)) {
      const predicted = moves.length ? subject.predicted(base, source, moves, reading) : null;
      if (predicted && isAlike(predicted, subject.right(base))) continue;
      const { tokens } = subject.ask(base, edits, source, { reading });
      moved = true;
      effect.n++;
      effect.hits += predicted ? isAlike(tokens, predicted) : !isAlike(tokens, clean);
      tokens.forEach((token, t) => (outputs[t] += token !== clean[t]));
      if (!moves.length) return;
    } else if (!differs && !still) {
      still = true;
      nothing.n++;
      nothing.hits += !isAlike(subject.ask(base, edits, source, { reading }).tokens, clean);
    }
  }
}

// A question that the model gets wrong (`what` is "wrong"), or that an edit breaks ("breaks"): with an interchange, one
// that is not answered as the algorithm under do predicts. Questions are made anew; gives null after `most` of them.
function* hunt(subject, { what, edits = [], source = null, moves = [], reading = "own", seed = 1, most = 1_000_000 }) {
  const random = new Random(seed);
  for (let tried = 0; tried < most; tried++) {
    if (tried % 16 === 0) yield { done: tried, total: most };
    const inputs = subject.task.invented(random), right = subject.right(inputs);
    const clean = subject.ask(inputs, [], null, { reading }).tokens;
    if (what === "wrong") {
      if (!isAlike(clean, right)) return { inputs: Array.from(inputs), tokens: clean, wanted: right, tried: tried + 1 };
      continue;
    }
    const wanted = source && moves.length ? subject.predicted(inputs, source, moves, reading) : right;
    const { tokens } = subject.ask(inputs, edits, source, { reading });
    if (isAlike(clean, right) && !isAlike(tokens, wanted))
      return { inputs: Array.from(inputs), tokens, wanted, tried: tried + 1 };
  }
  return null;
}

// Every node whose write is read, ablated by itself on one question: which outputs change.
function* ablateAll(subject, { inputs, fill = "mean", reading = "own" }) {
  const clean = subject.ask(inputs, [], null, { reading }).tokens, found = [];
  const nodes = subject.nodes().filter((node) => subject.model.isRead(node));
  for (let i = 0; i < nodes.length; i++) {
    if (i % 16 === 0) yield { done: i, total: nodes.length };
    const { tokens } = subject.ask(inputs, [{ node: nodes[i], fill }], null, { reading });
    const changed = tokens.flatMap((token, t) => (token === clean[t] ? [] : [t]));
    found.push({ name: nodeName(nodes[i]), changed });
  }
  return found;
}

// How one set of nodes carries one variable: the evidence that a challenge shows at its end.
function* carries(subject, { nodes, variable, count = 60, seed = 7 }) {
  const edits = nodes.map((node) => ({ node, fill: "source" })), moves = [subject.moveOf(variable, nodes)];
  return yield* runEdit(subject, { edits, moves, reading: "right", count, seed });
}

// The page against what Python computed: the largest difference of a logit, and whether every answer is the same.
function checkGolden(subject, golden) {
  const { model, task } = subject, { dVocabOut } = model;
  let worst = 0, same = true;
  for (const { inputs, source, edits, logits } of golden) {
    const given = edits.map(([name, fill]) => ({ node: parseNode(name), fill }));
    const question = rowsOf(inputs, task.nInputs)[0], from = source && rowsOf(source, task.nInputs)[0];
    const { pass } = subject.ask(question, given, from, { reading: "right" }), wanted = floatsOf({ kind: "f8", text: logits });
    task.readPositions.forEach((p, t) => {
      for (let i = 0; i < dVocabOut; i++)
        worst = Math.max(worst, Math.abs(pass.logits[p * dVocabOut + i] - wanted[t * dVocabOut + i]));
      same &&= argmax(pass.logits, p * dVocabOut, dVocabOut) === argmax(wanted, t * dVocabOut, dVocabOut);
    });
  }
  return { worst, same, count: golden.length, ok: same && worst < 1e-3 };
}

const EXPERIMENTS = { runEdit, hunt, ablateAll, carries };

function finished(generator) {
  let step = generator.next();
  while (!step.done) step = generator.next();
  return step.value;
}
