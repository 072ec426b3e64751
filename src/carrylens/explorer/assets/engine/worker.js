// The worker's side: it gets the page's data once, then experiments by name; it tells how far each is, then its result.

function serve(scope) {
  let subject = null;
  scope.onmessage = ({ data: { data, id, name, given } }) => {
    if (data) {
      subject = new Subject(data);
      return;
    }
    try {
      const steps = EXPERIMENTS[name](subject, given);
      let step = steps.next(), told = 0;
      while (!step.done) {
        if (Date.now() - told > 80) {
          scope.postMessage({ id, progress: step.value });
          told = Date.now();
        }
        step = steps.next();
      }
      scope.postMessage({ id, result: step.value });
    } catch (error) {
      scope.postMessage({ id, error: String(error.message || error) });
    }
  };
}

globalThis.carrylens = {
  Subject, Causal, Random, EXPERIMENTS, UNKNOWN, checkGolden, finished, interval, nodeName, parseNode, blake2b64, argmax, checksum,
};
if (typeof WorkerGlobalScope !== "undefined" && globalThis instanceof WorkerGlobalScope) serve(globalThis);
