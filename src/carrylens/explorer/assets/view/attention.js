// Attention: where the head under the pointer, or the chosen one, looks; lines on the board and words beside it.

class Attention {
  constructor(page) {
    this.page = page;
    this.lines = s("svg", { class: "lines", "aria-hidden": "true" });
  }

  // The places a head at a place looks at, the first of them first: [{ position, share }].
  looks(name) {
    const { subject, view } = this.page, { position, layer, head } = parseNode(name), { nHeads, end } = subject.model;
    if (head === null) return [];
    const pattern = view.shown.pass.layers[layer].pattern, at = (position * nHeads + head) * end, found = [];
    for (let p = 0; p <= position; p++) found.push({ position: p, share: pattern[at + p] });
    return found.sort((a, b) => b.share - a.share);
  }

  words(name) {
    const { task } = this.page.subject, top = this.looks(name).filter(({ share }) => share >= 0.05).slice(0, 4);
    return top.map(({ position, share }) => `${task.slots[position].name} ${percent(share)}`).join(", ");
  }

  draw() {
    const { page, lines } = this, { board, store } = page, name = page.hovered ?? store.state.selected;
    lines.replaceChildren();
    board.tokens.forEach((cell) => cell.style.removeProperty("--look"));
    const cell = name && board.cells.get(name);
    if (!cell || parseNode(name).head === null) return;
    const frame = board.stage.getBoundingClientRect(), from = cell.getBoundingClientRect();
    const x = from.left + from.width / 2 - frame.left, y = from.bottom - frame.top;
    lines.setAttribute("width", frame.width);
    lines.setAttribute("height", frame.height);
    // All places are measured before anything is changed, so that the page is laid out once.
    const looks = this.looks(name).map((look) => ({ ...look, to: board.tokens[look.position].getBoundingClientRect() }));
    for (const { position, share, to } of looks) {
      board.tokens[position].style.setProperty("--look", share.toFixed(3));
      if (share < 0.02) continue;
      const tx = to.left + to.width / 2 - frame.left, ty = to.top - frame.top, bend = y + (ty - y) * 0.55;
      lines.append(s("path", { d: `M${x} ${y}C${x} ${bend} ${tx} ${bend} ${tx} ${ty}`, "stroke-width": (0.6 + 3.4 * share).toFixed(2), "stroke-opacity": (0.15 + 0.75 * share).toFixed(2) }));
    }
  }
}
