// The picture: the present view as an SVG that stands alone, drawn from the state and not from the page's elements.

const XML = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const xml = (text) => String(text).replace(/[&<>"']/g, (letter) => XML[letter]).replace(/[^\t\n\x20-\ud7ff\ue000-\ufffd]/g, "");

function pictureOf(page) {
  const { subject, store, data, view } = page, { model, task, causal } = subject;
  const width = 34, height = 22, left = 84, top = 96, n = task.slots.length, parts = [];
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colours = { page: style("--page"), text: style("--text"), soft: style("--soft"), rule: style("--rule"), accent: style("--accent") };
  const probe = h("span", {});
  document.body.append(probe);
  const kindColours = (kind) => {
    probe.className = kind;
    const found = getComputedStyle(probe);
    return [found.getPropertyValue("--fill").trim() || colours.page, found.getPropertyValue("--ink").trim() || colours.text];
  };
  const write = (x, y, text, { size = 12, fill = colours.text, anchor = "middle", weight = 400, mono = true } = {}) =>
    parts.push(`<text x="${x}" y="${y}" font-size="${size}" fill="${fill}" text-anchor="${anchor}" font-weight="${weight}" font-family="${mono ? "ui-monospace, Menlo, Consolas, monospace" : "system-ui, sans-serif"}">${xml(text)}</text>`);
  const box = (p, row, fill, stroke, text, ink, { bold = false, wide = 1 } = {}) => {
    const x = left + p * width, y = top + row * height;
    if (fill) parts.push(`<rect x="${x + 2}" y="${y + 2}" width="${width - 4}" height="${height - 4}" rx="4" fill="${fill}" stroke="${stroke ?? "none"}" stroke-width="${wide}"/>`);
    if (text) write(x + width / 2, y + height / 2 + 4, text, { size: 11, fill: ink ?? colours.text, weight: bold ? 700 : 400 });
  };
  const label = (row, text) => write(left - 8, top + row * height + height / 2 + 4, text, { size: 11, fill: colours.soft, anchor: "end" });
  let row = 0;
  for (let layer = model.nLayers - 1; layer >= 0; layer--) {
    const lens = model.lens(view.shown.pass, layer + 1);
    label(row, layer + 1 === model.nLayers ? "answers" : `after L${layer}`);
    task.slots.forEach((_, p) => p < model.end && (layer + 1 < model.nLayers || task.readPositions.includes(p)) && box(p, row, null, null, task.outputVocabulary[lens[p].token], colours.soft));
    row++;
    for (const head of [...(model.hasMlp ? [null] : []), ...Array.from({ length: model.nHeads }, (_, i) => model.nHeads - 1 - i)]) {
      label(row, head === null ? `L${layer} MLP` : `L${layer} H${head}`);
      for (let position = 0; position < model.end; position++) {
        const name = nodeName({ position, layer, head });
        if (!model.isRead({ position, layer })) continue;
        const look = cellLook(page, name), edit = store.editOf(name), [fill, ink] = look.kind ? kindColours(look.kind) : [colours.page, colours.soft];
        box(position, row, fill, edit ? colours.accent : colours.rule, edit ? MARKS[edit.fill] : look.text, ink, { bold: Boolean(edit), wide: edit ? 2.5 : 1 });
      }
      row++;
    }
  }
  page.board.tokens.forEach((cell, p) => box(p, row, null, null, cell.textContent, colours.text, { bold: true }));
  label(row++, "token");
  task.slots.forEach((slot, p) => box(p, row, null, null, slot.name, colours.soft));
  label(row++, "place");
  const known = causal.timeline(store.state.question, task.arrivals, task.nQuestion), values = causal.run(store.state.question);
  for (const { variable } of [...causal.steps].reverse()) {
    const family = causal.family(variable);
    if (!page.shownFamilies.includes(family.name)) continue;
    const [fill, ink] = kindColours(family.kind);
    label(row, causal.names[variable]);
    task.slots.forEach((_, p) => {
      const value = p < task.nQuestion ? known[variable][p] : values[variable];
      if (value === UNKNOWN) box(p, row, null, null, "U", colours.rule);
      else box(p, row, fill, null, causal.label(variable, value), ink);
    });
    row++;
  }
  probe.remove();
  write(left - 76, 30, data.name, { size: 17, anchor: "start", weight: 600 });
  write(left - 76, 52, `${task.questionText(store.state.question)} → ${task.answerText(view.shown.tokens)}${view.predicted ? `; the algorithm under ${page.doText()} predicts ${task.answerText(view.predicted)}` : ""}`, { size: 13, anchor: "start" });
  const edits = store.state.edits.map(({ node, fill }) => `${nodeName(node)} ← ${fill === "source" ? task.questionText(store.state.second) : fill}`).join("; ");
  write(left - 76, 72, edits || "no edits", { size: 12, anchor: "start", fill: colours.soft, mono: false });
  const full = left + n * width + 12, high = top + row * height + 16;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${full} ${high}" width="${full}" height="${high}" role="img" aria-label="${xml(`${data.name}: ${task.questionText(store.state.question)}`)}"><rect width="100%" height="100%" fill="${colours.page}"/>${parts.join("")}</svg>\n`;
}
