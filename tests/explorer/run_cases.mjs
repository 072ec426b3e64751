// Runs cases under node: `node run_cases.mjs ENGINE DATA CASES`; prints one JSON value with a result for each case.
import fs from "node:fs";
import vm from "node:vm";

const [engine, data, cases] = process.argv.slice(2).map((path) => fs.readFileSync(path, "utf8"));
vm.runInThisContext(engine);
const { Subject, EXPERIMENTS, checkGolden, finished, interval, parseNode, blake2b64, checksum } = globalThis.carrylens;
const page = JSON.parse(data), subject = new Subject(page), { model, task, causal } = subject;
const editsOf = (edits) => edits.map(([name, fill, seed]) => ({ node: parseNode(name), fill, seed }));

const RUN = {
  logits: ({ inputs, edits, source }) => {
    const { tokens, pass } = subject.ask(inputs, editsOf(edits), source, { reading: "right" });
    const logits = task.readPositions.map((p) => Array.from(pass.logits.subarray(p * model.dVocabOut, (p + 1) * model.dVocabOut)));
    return { tokens, logits };
  },
  own: ({ inputs, edits, source, shown }) => subject.ask(inputs, editsOf(edits), source, { reading: "own", shown }).tokens,
  encode: ({ inputs }) => Array.from(task.encode(inputs)),
  parse: ({ text }) => {
    try {
      return Array.from(task.parse(text));
    } catch (error) {
      return error.message;
    }
  },
  text: ({ inputs }) => task.questionText(inputs),
  run: ({ inputs, forced }) => Array.from(causal.run(inputs, forced)),
  predicted: ({ inputs, source, moves, reading }) => subject.predicted(inputs, source, moves, reading),
  timeline: ({ inputs }) => causal.timeline(inputs, task.arrivals, task.nQuestion).map((row) => Array.from(row)),
  pattern: ({ inputs }) => subject.ask(inputs, [], null, { shown: true, reading: "right" }).pass.layers.map(({ pattern }) => Array.from(pattern)),
  lens: ({ inputs, layer }) => model.lens(subject.ask(inputs, [], null, { shown: true, reading: "right" }).pass, layer),
  interval: ({ hits, n }) => interval(hits, n),
  blake: ({ words }) => String(blake2b64(words.map(BigInt))),
  right: ({ inputs }) => subject.right(inputs),
  stated: ({ inputs }) => subject.stated(inputs),
  checksum: ({ text }) => checksum(text),
  carries: ({ given }) => finished(EXPERIMENTS.carries(subject, { ...given, nodes: given.nodes.map(parseNode) })),
  golden: () => checkGolden(subject, page.golden),
  experiment: ({ name, given }) => finished(EXPERIMENTS[name](subject, { ...given, ...(given.edits && { edits: editsOf(given.edits) }) })),
  invented: ({ seed, count }) => {
    const random = new globalThis.carrylens.Random(seed);
    return Array.from({ length: count }, () => Array.from(task.invented(random)));
  },
};
console.log(JSON.stringify(JSON.parse(cases).map((each) => RUN[each.do](each))));
