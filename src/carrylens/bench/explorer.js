// What `carrylens bench explore` runs in node and in a browser: a job is run `times` times, and how long each took, in
// milliseconds, is given back. Whoever calls it counts the processor time.
function explorerBench(text) {
  const { Subject, EXPERIMENTS, checkGolden, finished } = globalThis.carrylens;
  const subject = new Subject(JSON.parse(text)), rows = subject.task.pools[0].rows, tokens = rows.map((row) => subject.task.encode(row));
  const pass = subject.model.blank();
  const jobs = {
    load: () => new Subject(JSON.parse(text)),
    forward: (round) => subject.model.clean(tokens[round % rows.length], false, pass),
    ablations: (round) => finished(EXPERIMENTS.ablateAll(subject, { inputs: rows[round % rows.length] })),
  };
  return {
    ok: checkGolden(subject, subject.data.golden).ok,
    nNodes: jobs.ablations(0).length,
    run: (name, times) => {
      const taken = [];
      for (let round = 0; round < times; round++) {
        const began = performance.now();
        jobs[name](round);
        taken.push(performance.now() - began);
      }
      return taken;
    },
  };
}
