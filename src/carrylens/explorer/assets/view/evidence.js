// Evidence: what the map measured about a node, beside every click.

function evidenceOf(page, name) {
  return [...mapEvidence(page, name), ...jointEvidence(page, name)];
}

// Which variables the alignment of the verdict has at this node, each tested as a whole.
function jointEvidence(page, name) {
  const found = (page.data.verdict?.carriers ?? []).filter(([, nodes]) => nodes.split(" ").includes(name));
  if (!found.length) return [];
  return [h("p", { class: "small field sites-title", text: "In the alignment that the verdict tests" }), h("ul", { class: "sites small" }, found.map(([target, nodes, hits, n, nullHits, nullN]) =>
    h("li", {}, h("b", { class: "mono", text: target }), ` at ${nodes.split(" ").join(" + ")}: hit ${hits}/${n}, null ${nullHits}/${nullN} `, button("choose all", () => page.chooseSet(nodes.split(" ")), { class: "plain", "aria-label": `Interchange all nodes of ${target}`, "data-key": `site ${target}` }))))];
}

function mapEvidence(page, name) {
  const { data } = page;
  if (!data.map) return [h("p", { class: "soft small", text: "No map of this model came with the page, so there is no evidence but your own: run the edit on fresh questions." })];
  const use = data.map.nodes[name], parts = [];
  if (use) {
    const [mean, n, resample, m, clean, k] = use;
    parts.push(h("p", { class: "small" }, `Ablated over the map's questions: ${mean} of ${n} fail with its mean, ${resample} of ${m} with a resampled write; ${clean} of ${k} fail anyway.`));
  } else parts.push(h("p", { class: "small", text: "No question of the map fails without it." }));
  const roles = page.rolesAt(name);
  if (roles.length) parts.push(roleTable(page, roles));
  else parts.push(h("p", { class: "small soft", text: "The map found no variable that it carries, alone or with others." }));
  return parts;
}

function roleTable(page, roles) {
  const alike = mergedRoles(roles), top = alike.slice(0, 6);
  return h("div", { class: "tablewrap" }, h("table", { class: "roles" },
    h("caption", { text: `Roles by the map${alike.length > top.length ? ` (best ${top.length} of ${alike.length})` : ""}` }),
    h("thead", {}, h("tr", {},
      h("th", { scope: "col", title: "Interchanges that moved the token as the algorithm under do predicts, of N pairs", text: "hit / N" }),
      h("th", { scope: "col", title: "Matched pairs in which the token should stay, but moved", text: "null / N" }),
      h("th", { scope: "col", title: "How probable it is that the role is true", text: "confidence" }))),
    top.map((role) => roleRows(page, role))));
}

// What is carried for which output in one row, its rates in the next.
function roleRows(page, { nodes, variables, output, hit, nothing, confidence, way }) {
  const { causal, task } = page.subject, others = nodes.length - 1;
  const chips = variables.map((variable) => h("span", { class: `chip ${causal.family(variable).kind}`, text: causal.names[variable], title: causal.family(variable).meaning }));
  const said = [`for ${task.outputPlaces[output]}`, way ? "by difference patching" : "", others ? `with ${others} other${others > 1 ? "s" : ""}` : ""].filter(Boolean).join(", ");
  return h("tbody", {},
    h("tr", { class: "what" }, h("th", { scope: "rowgroup", colspan: 3 }, h("span", { class: "chips", title: variables.length > 1 ? "No question tells these apart at this output" : "" }, chips,
      h("span", { class: "soft small", text: said }), others ? button("choose all", () => page.chooseSet(nodes), { class: "plain small", title: nodes.join(" + "), "data-key": `all ${nodes} ${variables} ${output}` }) : null))),
    h("tr", {},
      h("td", {}, rateBar(hit, "hit"), h("span", { class: "mono", text: `${hit.hits}/${hit.n}` })),
      h("td", {}, rateBar(nothing, "null"), h("span", { class: "mono", text: `${nothing.hits}/${nothing.n}` })),
      h("td", { class: "mono", text: (Math.floor(confidence * 100) / 100).toFixed(2) })));
}

// Roles of one set for one output that were measured alike: variables that no question tells apart there.
function mergedRoles(roles) {
  const found = new Map();
  for (const role of roles) {
    const key = [role.nodes, role.output, role.way, role.hit.hits, role.hit.n, role.nothing.hits, role.nothing.n].join(";");
    if (found.has(key)) found.get(key).variables.push(role.variable);
    else found.set(key, { ...role, variables: [role.variable] });
  }
  return [...found.values()];
}
