// What `carrylens bench explore` runs in node and in a browser: the best of several rounds, in milliseconds.
function measure(text, rounds) {
  const { Subject, EXPERIMENTS, checkGolden, finished } = globalThis.carrylens;
  const timed = (work, times = rounds) => {
    let best = Infinity, result = null;
    for (let round = 0; round < times; round++) {
      const began = performance.now();
      result = work(round);
      best = Math.min(best, performance.now() - began);
    }
    return [best, result];
  };
  const [load, subject] = timed(() => new Subject(JSON.parse(text)));
  const { ok } = checkGolden(subject, subject.data.golden), rows = subject.task.pools[0].rows;
  const [forward] = timed((round) => subject.model.clean(subject.task.encode(rows[round % rows.length])), 40 * rounds);
  const [ablations, found] = timed((round) => finished(EXPERIMENTS.ablateAll(subject, { inputs: rows[round] })));
  return { load, forward, ablations, nNodes: found.length, ok };
}
