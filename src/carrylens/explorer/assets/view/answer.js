// The answer: token by token with its certainty, under edits, and what the algorithm says; and one sentence about it.

class AnswerRows {
  constructor(page) {
    this.page = page;
    this.rows = h("div", { class: "answers", role: "table", "aria-label": "Answers" });
    this.sentence = h("p", { class: "sentence", role: "status", "aria-live": "polite" });
    this.element = h("div", { class: "answer" }, this.sentence, this.rows);
  }

  update() {
    const { page } = this, { view, store, subject } = page, { task } = subject;
    const isEdited = store.state.edits.length > 0, rows = [this.header()];
    rows.push(this.row("Model", view.clean.tokens, { sure: view.cleanSure, wanted: view.right, tone: isEdited ? "quiet" : "" }));
    if (isEdited) rows.push(this.row("Edited model", view.shown.tokens, { sure: view.shownSure, wanted: view.predicted ?? view.right, tone: "main", was: view.clean.tokens }));
    if (view.predicted) rows.push(this.row(page.doText(), view.predicted, { tone: "do", was: view.stated }));
    rows.push(this.row("Algorithm", view.stated, { tone: "quiet", wanted: view.right }));
    this.rows.replaceChildren(...rows);
    replaceKept(this.sentence, this.said(isEdited, task));
  }

  // Which output each box is.
  header() {
    const names = this.page.subject.task.outputPlaces.map((text) => h("span", { class: "digit place", role: "columnheader", text }));
    return h("div", { class: "answer-row places", role: "row" }, h("span", { class: "answer-name", role: "columnheader" }, h("span", { class: "aloud", text: "Who" })), h("span", { class: "digits" }, names));
  }

  row(name, tokens, { sure = null, wanted = null, was = null, tone = "" }) {
    const { task } = this.page.subject;
    const boxes = tokens.map((token, t) => {
      const isWrong = wanted !== null && token !== wanted[t], isMoved = was !== null && token !== was[t];
      const said = `${task.outputPlaces[t]}: ${task.outputVocabulary[token]}${sure ? `, ${percent(sure[t])} sure` : ""}${isWrong ? ", not as wanted" : ""}`;
      const box = h("span", { class: `digit${isWrong ? " wrong" : ""}${isMoved ? " moved" : ""}`, role: "cell", title: said, "aria-label": said }, h("span", { text: task.outputVocabulary[token] }));
      if (sure) {
        const bar = h("i", { "aria-hidden": "true" });
        bar.style.setProperty("--sure", sure[t].toFixed(3));
        box.append(bar);
      }
      return box;
    });
    return h("div", { class: `answer-row ${tone}`, role: "row" }, h("span", { class: "answer-name", role: "rowheader", text: name }), h("span", { class: "digits" }, boxes));
  }

  said(isEdited, task) {
    const { page } = this, { view, store } = page, text = (tokens) => h("b", { class: "mono", text: task.answerText(tokens) });
    const mark = (good) => h("span", { class: `verdict ${good ? "good" : "bad"}`, text: good ? "agrees" : "differs" });
    const isRight = view.clean.tokens.every((token, t) => token === view.right[t]);
    if (!isEdited) {
      const [worst] = [...view.cleanSure.keys()].sort((a, b) => view.cleanSure[a] - view.cleanSure[b]);
      const sure = `least sure of ${task.outputPlaces[worst]}, ${percent(view.cleanSure[worst])}.`;
      return ["The model answers ", text(view.clean.tokens), isRight ? ", which is " : ", which is not the right ", isRight ? h("span", { class: "verdict good", text: "right" }) : text(view.right), isRight ? "; it is " : "; it is ", sure];
    }
    if (view.predicted) {
      const good = view.shown.tokens.every((token, t) => token === view.predicted[t]);
      return ["The algorithm under ", h("b", { class: "mono", text: page.doText() }), " predicts ", text(view.predicted), "; the model says ", text(view.shown.tokens), ": it ", mark(good), ".", view.isPart ? " These nodes reach no other output." : "", " One click is one question: N = 1."];
    }
    const same = view.shown.tokens.every((token, t) => token === view.clean.tokens[t]);
    const isInterchange = store.state.edits.some(({ fill }) => fill === "source");
    const why = isInterchange ? "No role of the map says what these nodes carry, so say it yourself below." : "An ablation takes information away, so the algorithm predicts no other answer.";
    return ["With this edit the model says ", text(view.shown.tokens), same ? ", as without it. " : [" instead of ", text(view.clean.tokens), ". "], why, " One click is one question: N = 1."];
  }
}
