// DOM: elements made of names and texts. No text is ever parsed as HTML.

const { Subject, UNKNOWN, checkGolden, checksum, interval, nodeName, parseNode, EXPERIMENTS } = globalThis.carrylens;

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

// The same element with other children; what had the focus keeps it, if it is still there by its key.
function replaceKept(element, ...children) {
  const key = element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (key) [...element.querySelectorAll("[data-key]")].find((each) => each.dataset.key === key)?.focus({ preventScroll: true });
}

function button(text, onclick, more = {}) {
  return h("button", { type: "button", text, onclick, "data-key": text, ...more });
}

const percent = (share) => {
  const figures = share > 0.995 && share < 1 ? Math.floor(share * 1000) / 10 : Math.round(share * 1000) / 10;
  return `${figures}%`;
};

function rateText({ hits, n }, bounds = null) {
  const [low, high] = bounds ?? interval(hits, n);
  return `${hits} of ${n} (${percent(n ? hits / n : 0)}, 95% interval ${percent(low)} to ${percent(high)})`;
}

// A rate as a bar: its interval, and a mark at the rate itself.
function rateBar({ hits, n }, tone) {
  const [low, high] = interval(hits, n), bar = h("span", { class: `bar ${tone}`, "aria-hidden": "true" }, h("i"), h("b"));
  bar.firstChild.style.left = `${100 * low}%`;
  bar.firstChild.style.width = `${Math.max(1, 100 * (high - low))}%`;
  bar.lastChild.style.left = `${n ? (100 * hits) / n : 0}%`;
  return bar;
}
