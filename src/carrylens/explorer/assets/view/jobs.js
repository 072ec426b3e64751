// Jobs: long work in a worker that is made of this page's own engine; without workers, in pieces between two frames.

class Jobs {
  constructor(data) {
    this.data = data;
    this.running = new Map();
    this.count = 0;
  }

  // Start an experiment; a second of the same `lane` stops the first. Gives a promise of its result.
  start(lane, name, given, onProgress = () => {}) {
    this.stop(lane);
    return new Promise((resolve, reject) => {
      const worker = this.makeWorker();
      if (!worker) {
        this.runHere(lane, name, given, onProgress, resolve, reject);
        return;
      }
      const id = ++this.count;
      this.running.set(lane, { stop: () => worker.terminate(), id });
      worker.onmessage = ({ data: message }) => {
        if (message.id !== id) return;
        if (message.progress) return onProgress(message.progress);
        worker.terminate();
        this.running.delete(lane);
        return message.error ? reject(new Error(message.error)) : resolve(message.result);
      };
      worker.onerror = (event) => {
        event.preventDefault();
        worker.terminate();
        this.running.delete(lane);
        this.noWorker = true;
        this.runHere(lane, name, given, onProgress, resolve, reject);
      };
      worker.postMessage({ data: this.needed });
      worker.postMessage({ id, name, given });
    });
  }

  get needed() {
    const { model, layout, causal, truth, questions } = this.data;
    return { model, layout, causal, truth, questions };
  }

  makeWorker() {
    if (this.noWorker) return null;
    try {
      this.address ??= URL.createObjectURL(new Blob([byId("engine").textContent], { type: "text/javascript" }));
      this.policy ??= globalThis.trustedTypes?.createPolicy("carrylens", { createScriptURL: (address) => {
        if (address !== this.address) throw new TypeError("Only this page's own engine runs in a worker.");
        return address;
      } });
      return new Worker(this.policy ? this.policy.createScriptURL(this.address) : this.address);
    } catch {
      this.noWorker = true;
      return null;
    }
  }

  runHere(lane, name, given, onProgress, resolve, reject) {
    this.here ??= new Subject(this.data);
    const steps = EXPERIMENTS[name](this.here, given);
    let isStopped = false;
    this.running.set(lane, { stop: () => (isStopped = true) });
    const go = () => {
      if (isStopped) return;
      try {
        const until = performance.now() + 30;
        let step = steps.next();
        while (!step.done && performance.now() < until) step = steps.next();
        if (step.done) {
          this.running.delete(lane);
          resolve(step.value);
          return;
        }
        onProgress(step.value);
        setTimeout(go);
      } catch (error) {
        this.running.delete(lane);
        reject(error);
      }
    };
    setTimeout(go);
  }

  stop(lane) {
    this.running.get(lane)?.stop();
    this.running.delete(lane);
  }

  isRunning(lane) {
    return this.running.has(lane);
  }
}
