// Evidence: what the map measured about a node, beside every click.

function evidenceOf(page, name) {
  const { data, subject } = page, { causal, task } = subject;
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
  const { causal, task } = page.subject, alike = mergedRoles(roles), top = alike.slice(0, 6);
  const rows = top.map(({ nodes, variables, output, hit, nothing, confidence, way }) =>
    h("tr", {},
      h("th", { scope: "row" }, h("div", { class: "chips", title: variables.length > 1 ? "No question tells these apart at this output" : "" }, variables.map((variable) => h("span", { class: `chip ${causal.family(variable).kind}`, text: causal.names[variable], title: causal.family(variable).meaning }))), h("span", { class: "soft small", text: `for ${task.outputPlaces[output]}` }),
        nodes.length > 1 ? h("div", { class: "soft small" }, `with ${nodes.length - 1} other node${nodes.length > 2 ? "s" : ""} `, button("choose all", () => page.chooseSet(nodes), { class: "plain", title: nodes.join(" + "), "data-key": `all ${nodes} ${variables} ${output}` })) : null,
        way ? h("div", { class: "soft small", text: "by difference patching" }) : null),
      h("td", {}, rateBar(hit, "hit"), h("span", { class: "mono", text: `${hit.hits}/${hit.n}` })),
      h("td", {}, rateBar(nothing, "null"), h("span", { class: "mono", text: `${nothing.hits}/${nothing.n}` })),
      h("td", { class: "mono", text: (Math.floor(confidence * 100) / 100).toFixed(2) })));
  return h("div", { class: "tablewrap" }, h("table", { class: "roles" },
    h("caption", { text: `Roles by the map${alike.length > top.length ? ` (best ${top.length} of ${alike.length})` : ""}` }),
    h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "carries" }), h("th", { scope: "col", title: "Interchanges that moved the token as the algorithm under do predicts, of N pairs", text: "hit / N" }), h("th", { scope: "col", title: "Matched pairs in which the token should stay but moved", text: "null / N" }), h("th", { scope: "col", title: "How probable it is that the role is true", text: "confidence" }))),
    h("tbody", {}, rows)));
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
