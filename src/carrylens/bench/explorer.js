// What `carrylens bench explore` runs in node and in a browser: the best of several rounds, in milliseconds.
function measure(text, rounds) {
  const { Subject, EXPERIMENTS, checkGolden, finished } = globalThis.carrylens;
  const timed = (work) => {
    let best = Infinity, result = null;
    for (let round = 0; round < rounds; round++) {
      const began = performance.now();
      result = work(round);
      best = Math.min(best, performance.now() - began);
    }
    return [best, result];
  };
  const [load, subject] = timed(() => new Subject(JSON.parse(text)));
  const { ok } = checkGolden(subject, subject.data.golden), rows = subject.task.pools[0].rows;
  const [ten] = timed((round) => {
    for (let i = 0; i < 10; i++) subject.model.clean(subject.task.encode(rows[(10 * round + i) % rows.length]));
  });
  const [ablations, found] = timed((round) => finished(EXPERIMENTS.ablateAll(subject, { inputs: rows[round] })));
  return { load, forward: ten / 10, ablations, nNodes: found.length, ok };
}
