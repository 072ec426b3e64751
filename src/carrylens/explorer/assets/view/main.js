// The page: builds its parts, checks itself, and keeps them up to date with the state.

class Page {
  constructor(data) {
    this.data = data;
    this.subject = new Subject(data);
    this.hovered = null;
    this.isBegun = false;
    this.breaks = null;
    this.jobs = new Jobs(data);
    this.store = new Store(this.subject, data);
    this.useful = new Set(data.map?.useful ?? []);
    this.roleIndex = new Map();
    for (const role of rolesOf(data)) for (const name of role.nodes) this.roleIndex.set(name, [...(this.roleIndex.get(name) ?? []), role]);
    for (const roles of this.roleIndex.values()) roles.sort((a, b) => a.nodes.length - b.nodes.length || b.confidence - a.confidence || b.hit.hits / b.hit.n - a.hit.hits / a.hit.n);
  }

  build() {
    this.attention = new Attention(this);
    this.board = new Board(this);
    this.board.stage.append(this.attention.lines);
    this.algorithm = new AlgorithmRows(this);
    this.answers = new AnswerRows(this);
    this.ask = new AskPanel(this);
    this.watch = this.watchPanel();
    this.challenge = this.data.challenge ? new Challenge(this) : null;
    this.touch = new TouchPanel(this);
    this.hunting = new HuntPanel(this);
    this.tour = new Tour(this);
    this.sharing = new Sharing(this);
    const patch = this.store.fromHash(location.hash);
    if (patch) Object.assign(this.store.state, patch);
    this.store.on((changed) => this.update(changed));
    this.update(new Set(Object.keys(this.store.state)));
    addEventListener("hashchange", () => {
      const next = this.store.fromHash(location.hash);
      if (next && location.hash !== this.store.toHash()) this.store.set(next);
    });
    addEventListener("resize", () => this.attention.draw());
    this.board.scroller.addEventListener("scroll", () => this.attention.draw(), { passive: true });
    addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
        event.preventDefault();
        if (event.shiftKey) this.store.redo();
        else this.store.undo();
      }
    });
  }

  // What is not seen at first waits until the page was drawn and checked.
  begin() {
    this.isBegun = true;
    this.algorithm.update();
    this.showReads();
    this.attention.draw();
    if (this.store.state.tint === "breaks") this.ablateAll();
  }

  // On a narrow screen the board begins where answers are read.
  showReads() {
    const { scroller, tokens } = this.board, wanted = tokens[Math.max(0, this.subject.model.readsStart - 3)];
    if (scroller.scrollWidth > scroller.clientWidth + 2 * wanted.offsetWidth) scroller.scrollLeft = wanted.offsetLeft - 80;
  }

  watchPanel() {
    const { store, data, subject } = this, last = subject.model.end - 1;
    const tints = [...(data.map ? [["map", "roles by the map"]] : []), ...(data.challenge ? [["tags", "your tags"]] : []), ["breaks", "what breaks here without it"]];
    this.tint = h("select", { id: "tint", onchange: (event) => store.set({ tint: event.target.value }) }, tints.map(([value, text]) => h("option", { value, text })));
    this.cursor = h("input", { id: "cursor", type: "range", min: 0, max: last, step: 1, oninput: (event) => store.set({ cursor: Number(event.target.value) === last ? null : Number(event.target.value) }) });
    this.play = button("Play", () => this.playTokens(), { title: "Let the tokens arrive one by one" });
    const tools = h("div", { class: "watch-tools" },
      h("span", { class: "together" }, h("label", { for: "tint", class: "field inline", text: "Cells show" }), this.tint),
      h("span", { class: "together" }, h("label", { for: "cursor", class: "field inline", text: "Tokens read" }), this.cursor, this.play),
      h("span", { class: "together" }, h("span", { class: "field inline", text: "Algorithm" }), this.algorithm.chips));
    replaceKept(byId("watch"), h("h2", { class: "aloud", text: "Watch" }), tools, this.board.scroller, this.legend());
    return tools;
  }

  // What marks on the board mean.
  legend() {
    const sample = (look, text) => h("span", { class: `sample ${look}`, "aria-hidden": "true", text });
    const said = (mark, text) => h("span", { class: "said" }, mark, ` ${text}`);
    return h("p", { class: "legend small soft" },
      this.data.map ? [said(sample("alone", "ST"), "carries it alone, by the map"), said(sample("shared", "ST"), "with other nodes"), said(sample("", "•"), "useful, no role found")] : null,
      Object.keys(MARKS).map((fill) => said(sample("edit", MARKS[fill]), FILL_WORDS[fill])),
      said(sample("settles", "1"), "settled at this place"), said(sample("", "U"), "open until later tokens are read"));
  }

  playTokens() {
    clearInterval(this.playing);
    const { store, subject } = this, last = subject.model.end - 1;
    let at = 0;
    store.set({ cursor: 0 });
    this.playing = setInterval(() => {
      at++;
      store.set({ cursor: at >= last ? null : at });
      if (at >= last) clearInterval(this.playing);
    }, 450);
  }

  // All that follows from questions and edits.
  compute() {
    const { subject, store } = this, { question, second, edits, reading } = store.state;
    const clean = subject.ask(question, [], null, { reading: "own", shown: true }), moves = store.moves;
    const shown = edits.length ? subject.ask(question, edits, second, { reading, shown: true }) : clean;
    const predicted = moves.length ? subject.predicted(question, second, moves, reading) : null;
    const whole = predicted && subject.predicted(question, second, moves.map(({ variable }) => ({ variable, outputs: null })), reading);
    this.view = {
      isPart: Boolean(predicted) && predicted.some((token, t) => token !== whole[t]),
      clean, shown, right: subject.right(question), stated: subject.stated(question), cleanSure: subject.certainties(clean.pass), shownSure: subject.certainties(shown.pass),
      predicted, moves,
    };
  }

  update(changed) {
    const has = (...names) => names.some((name) => changed.has(name));
    if (has("question", "second", "edits", "reading", "claim")) this.compute();
    if (has("question", "families") && this.isBegun) this.algorithm.update();
    if (has("question") && this.ask) this.ask.update();
    if (has("question", "reading")) this.breaks = null;
    if (has("question", "second", "edits", "reading", "claim")) this.answers.update();
    this.board.update();
    this.attention.draw();
    this.touch.update(changed);
    this.hunting.update();
    this.challenge?.update();
    this.tint.value = this.store.state.tint;
    this.cursor.value = this.store.state.cursor ?? this.subject.model.end - 1;
    this.cursor.setAttribute("aria-valuetext", `up to ${this.subject.task.slots[this.cursor.value].name}`);
    if (this.store.state.tint === "breaks" && !this.breaks && this.isBegun) this.ablateAll();
    this.sharing.update();
  }

  async ablateAll() {
    const { question, reading } = this.store.state;
    this.breaks = new Map();
    try {
      const found = await this.jobs.start("breaks", "ablateAll", { inputs: Array.from(question), reading });
      if (this.store.state.question !== question) return;
      this.breaks = new Map(found.map(({ name, changed }) => [name, changed]));
      this.board.updateNodes();
    } catch {
      this.breaks = null;
    }
  }

  placeOf(name) {
    return this.subject.task.slots[parseNode(name).position].name;
  }

  saidNode(name) {
    const { head, layer } = parseNode(name);
    return `${head === null ? "MLP" : `head ${head}`} of layer ${layer} at ${this.placeOf(name)}`;
  }

  rolesAt(name) {
    return this.roleIndex.get(name) ?? [];
  }

  // The variable a cell is labelled with: computed ones before inputs, sets that are small and sure before others.
  bestRole(name) {
    const { nInputs } = this.subject.causal, sure = this.rolesAt(name).filter(({ confidence }) => confidence >= 0.9);
    return sure.find(({ variable }) => variable >= nInputs) ?? sure[0] ?? null;
  }

  chooseSet(names) {
    const others = this.store.state.edits.filter(({ node }) => !names.includes(nodeName(node)));
    this.store.edit([...others, ...names.map((name) => ({ node: parseNode(name), fill: "source" }))]);
  }

  // The intervention in words; where the nodes do not reach every output that it would move, for which outputs.
  doText() {
    const { subject, store, view } = this, { causal, task } = subject, there = causal.run(store.state.second);
    const forced = view.moves.map(({ variable }) => `${causal.names[variable]} := ${causal.label(variable, there[variable])}`);
    const reached = [...new Set(view.moves.flatMap(({ outputs }) => outputs ?? [...task.readPositions.keys()]))].sort((a, b) => a - b);
    return `do(${forced.join(", ")})${view.isPart ? ` for ${reached.map((t) => task.outputPlaces[t]).join(", ")}` : ""}`;
  }

  doNames() {
    return `do(${this.view.moves.map(({ variable }) => this.subject.causal.names[variable]).join(", ")})`;
  }

  spotlight(id) {
    document.querySelectorAll(".spot").forEach((element) => element.classList.remove("spot"));
    const element = id && byId(id);
    if (element) element.classList.add("spot");
  }

  // Bring what a step of the tour is about into the part of the window that its card leaves free.
  bringUp(selector) {
    const element = document.querySelector(selector);
    if (!element) return;
    const room = Math.min(innerHeight * 0.3, 280), isCell = element.classList.contains("node");
    element.scrollIntoView({ block: "nearest", inline: "nearest" });
    scrollTo({ top: element.getBoundingClientRect().top + scrollY - (isCell ? room : 60) });
  }
}

function stop(text) {
  byId("check").className = "check bad";
  byId("check").textContent = `Stopped: ${text}`;
  byId("main").remove();
  document.body.dataset.ready = "no";
}

function describe(data) {
  byId("name").textContent = data.name;
  byId("shape").textContent = data.shape;
  if (data.verdict) showVerdict(data.verdict);
  byId("foot").replaceChildren(
    h("p", {}, "Everything here runs in this file: nothing is sent, nothing is fetched. Ablations refer to ",
      `${data.questions.reference.count} ${data.questions.reference.population} questions (seed ${data.questions.reference.seed}). `,
      ...(data.report ? [h("a", { href: "report.html", text: "The report about this model" }), ". "] : [])),
    h("p", { class: "mono small", text: `carrylens ${data.version} · weights ${data.sha256.slice(0, 16)}` }));
}

// What was judged: the verdict and, folded, what it rests on: rates, claims, rivals, what is open.
function showVerdict({ hypothesis, verdict, population, required, rates, notes, rivals }) {
  const facts = [
    ...rates.map(([name, hits, n]) => `${name}: ${rateText({ hits, n })}${population ? ` ${population} questions` : ""}.`),
    ...notes,
    required.length ? `Claims on the map: ${required.map(([name, count]) => `${count} ${name}`).join(", ")}.` : "",
    rivals.length ? `Rivals: ${rivals.map(([name, said]) => `${name}, ${said ?? "not judged"}`).join("; ")}.` : "",
  ].filter(Boolean);
  const [first, ...more] = facts, small = (text) => h("p", { class: "small soft", text });
  byId("verdict").hidden = false;
  byId("verdict").replaceChildren(
    h("p", {}, h("span", { class: "soft", text: population ? "Does it run the algorithm? " : "Judged on its map: " }), hypothesis, ": ", h("b", { text: verdict }), "."),
    ...(first ? [small(first)] : []),
    ...(more.length ? [h("details", { class: "small" }, h("summary", { text: "What the verdict rests on" }), more.map(small))] : []));
}

// The model and its answer are drawn first; in the frame after, the page is checked and what is further down is added.
function open() {
  const { textContent: text, dataset } = byId("data");
  if (checksum(text) !== Number(dataset.sum)) throw new Error("the data of this page were changed. Do not trust it; make it again.");
  const data = JSON.parse(text), page = new Page(data);
  describe(data);
  byId("main").setAttribute("aria-busy", "true");
  page.build();
  document.body.dataset.drawn = performance.now().toFixed(1);
  afterPaint(() => check(page));
}

function check(page) {
  const { ok, worst, count } = checkGolden(page.subject, page.data.golden);
  if (!ok) throw new Error(`this page does not give the model's golden answers (largest difference ${worst.toPrecision(2)}). Do not trust it; make it again.`);
  byId("main").removeAttribute("aria-busy");
  byId("check").className = "check good";
  byId("check").textContent = `Checked: ${count} golden answers, clean and under every kind of edit, found again; largest difference of a logit ${worst.toExponential(0)}.`;
  page.begin();
  document.body.dataset.ready = "yes";
  document.body.dataset.milliseconds = performance.now().toFixed(1);
}

// Once what was built is on the screen; in a tab that is not looked at there are no frames, so time runs out instead.
function afterPaint(work) {
  let isDone = false;
  const go = () => {
    if (!isDone) guarded(work);
    isDone = true;
  };
  requestAnimationFrame(() => setTimeout(go));
  setTimeout(go, 500);
}

function guarded(work) {
  try {
    work();
  } catch (error) {
    stop(error.message);
  }
}

guarded(open);
