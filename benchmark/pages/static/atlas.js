// The page of an atlas: choices, the sentence for them, a dot for each dataset, and failures.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const names = Object.keys(data.choices);
const select = Object.fromEntries(names.map(name => [name, document.getElementById(name)]));
const technique = document.getElementById("technique");
const COLUMNS = ["card", "technique", "restoration_distance", "distance", "accuracy", "given_back",
  "given_back_by_chance"];
const three = value => value === null ? "not known" : value.toFixed(3);

function element(name, attributes, ...children) {
  const svg = ["svg", "line", "circle", "text", "a", "title"].includes(name) && attributes.ns !== "html";
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (key !== "ns") made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const chosen = () => Object.fromEntries(names.map(name => [name, select[name].value]));
const key = choice => names.map(name => choice[name]).join("|");

// Rows of all chosen kinds and doses, averaged over them for each dataset and technique.
function averaged(choice) {
  const sums = new Map();
  for (const [where, rows] of Object.entries(data.rows)) {
    const [classifier, bias, dose] = where.split("|");
    if (classifier !== choice.classifier) continue;
    if (choice.bias !== "any" && bias !== choice.bias) continue;
    if (choice.dose !== "any" && dose !== choice.dose) continue;
    for (const row of rows) {
      const at = `${row[0]}|${row[1]}`;
      if (!sums.has(at)) sums.set(at, {card: row[0], technique: row[1], n: 0, sums: [0, 0, 0, 0, 0], counts: [0, 0, 0, 0, 0],
        reasons: {}});
      const sum = sums.get(at);
      sum.n += 1;
      for (let i = 0; i < 5; i += 1) if (row[2 + i] !== null) { sum.sums[i] += row[2 + i]; sum.counts[i] += 1; }
      data.choices.goal.forEach((goal, i) => { if (row[7 + i]) (sum.reasons[goal] ??= []).push(row[7 + i]); });
    }
  }
  for (const sum of sums.values()) sum.means = sum.sums.map((value, i) => sum.counts[i] ? value / sum.counts[i] : null);
  return sums;
}

function most(reasons) {
  const counts = new Map();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}

function datasets(choice, name) {
  const sums = averaged(choice), position = choice.goal === "restore" ? 0 : 1, rows = [];
  for (const sum of sums.values()) {
    if (sum.technique !== name) continue;
    const of = other => sums.get(`${sum.card}|${other}`)?.means[position] ?? null;
    const reasons = sum.reasons[choice.goal] ?? [];
    rows.push({card: sum.card, value: sum.means[position], nothing: of("none"), drop: of(data.drop), oracle: of("oracle"),
      allowed: 2 * reasons.length <= sum.n && sum.means[position] !== null, reason: most(reasons), means: sum.means});
  }
  return rows.sort((a, b) => (a.value ?? Infinity) - (b.value ?? Infinity) || (a.card < b.card ? -1 : 1));
}

function draw(choice, name) {
  const room = document.getElementById("dots").clientWidth || 760;
  const rows = datasets(choice, name), width = Math.min(760, Math.max(320, room)), left = 170, step = 26, top = 8;
  const all = rows.flatMap(row => [row.value, row.nothing, row.drop, row.oracle]).filter(value => value !== null);
  const end = Math.max(0.05, ...all) * 1.04, height = top + step * rows.length + 54;
  const x = value => left + (width - left - 20) * value / end;
  const told = choice.goal === "restore" ? "Distance to the acceptance rates of a model without the bias"
    : "Gap in acceptance between the groups";
  document.getElementById("dots-told").textContent =
    `${told}, for ${data.techniques[name] ?? name}: a dot for each dataset, 0 is best. A dot leads to its row and its file.`;
  const svg = element("svg", {viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${told} on ${rows.length} datasets`});
  const tick = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find(size => end / size <= (width < 500 ? 4 : 8)) ?? 1;
  for (let value = 0; value <= end; value += tick) {
    svg.append(element("line", {class: "grid", x1: x(value), x2: x(value), y1: top, y2: height - 46}),
      element("text", {x: x(value), y: height - 28, "text-anchor": "middle"}, value.toFixed(2)));
  }
  svg.append(element("text", {x: left, y: height - 6}, choice.goal === "restore" ? "distance (0 is best)" : "gap (0 is best)"));
  rows.forEach((row, i) => {
    const y = top + step * (i + 0.5);
    svg.append(element("text", {x: left - 10, y: y + 4, "text-anchor": "end"}, row.card));
    for (const mark of ["nothing", "drop", "oracle"]) if (row[mark] !== null)
      svg.append(element("line", {class: mark, x1: x(row[mark]), x2: x(row[mark]), y1: y - 9, y2: y + 9}));
    if (row.value === null) return;
    const link = element("a", {href: "#", "data-card": row.card, "aria-label": `${row.card}: ${three(row.value)}`});
    link.append(element("circle", {class: row.allowed ? "dot" : "dot not", cx: x(row.value), cy: y, r: 6}));
    link.addEventListener("click", event => { event.preventDefault(); show(choice, name, row); });
    svg.append(link);
  });
  document.getElementById("dots").replaceChildren(svg);
  const failed = data.failed[["goal", "bias", "dose", "classifier"].map(of => choice[of]).join("|")]?.[name] ?? [];
  const lines = rows.filter(row => failed.includes(row.card)).map(row => element("li", {},
    row.reason === "" ? `${row.card}: ${data.reasons[""]} (${three(row.value)} in place of ${three(row.nothing)}).`
      : `${row.card}: ${data.reasons[row.reason]}.`));
  if (!rows.length) lines.push(element("li", {}, "The technique was not tried there."));
  else if (!lines.length) lines.push(element("li", {}, `On none of these ${rows.length} datasets.`));
  document.getElementById("failures").replaceChildren(...lines);
}

function show(choice, name, row) {
  const list = element("dl", {});
  const facts = {card: row.card, technique: name, classifier: choice.classifier, bias: choice.bias, level: choice.dose};
  COLUMNS.slice(2, 7).forEach((column, i) => { facts[column] = three(row.means[i]); });
  for (const [term, value] of Object.entries(facts)) list.append(element("dt", {}, term), element("dd", {}, String(value)));
  document.getElementById("row").replaceChildren(
    element("h2", {}, "The row in means.csv"),
    element("p", {}, "Means over both halves of the splits, over editions of a card, and over the chosen kinds and doses."),
    list, element("h2", {}, "Its experiment in atlas.toml"), element("pre", {tabindex: "0"},
      (data.parts[`${choice.classifier}|${row.card}`] ?? []).map(part => data.toml[part]).join("\n\n")));
  document.getElementById("details").showModal();
}

function update(keep) {
  const choice = chosen(), [name, ...texts] = data.advice[key(choice)];
  document.getElementById("answer").replaceChildren(...texts.map(i => element("p", {}, data.texts[i])));
  const tried = new Set([...averaged(choice).values()].map(sum => sum.technique));
  const options = Object.keys(data.techniques).filter(other => tried.has(other));
  const wanted = keep && options.includes(keep) ? keep : options.includes(name) ? name : options.includes(data.drop) ? data.drop : options[0];
  technique.replaceChildren(...options.map(other => {
    const option = element("option", {value: other}, data.techniques[other]);
    option.selected = other === wanted;
    return option;
  }));
  if (wanted) draw(choice, wanted);
  const view = new URLSearchParams({...choice, ...(wanted && wanted !== name ? {technique: wanted} : {})});
  history.replaceState(null, "", `#${view}`);
}

function restore() {
  const view = new URLSearchParams(location.hash.slice(1));
  for (const name of names) if (data.choices[name].includes(view.get(name))) select[name].value = view.get(name);
  update(view.get("technique"));
}

for (const name of names) select[name].addEventListener("change", () => update(null));
technique.addEventListener("change", () => update(technique.value));
document.getElementById("choices").addEventListener("submit", event => event.preventDefault());
addEventListener("hashchange", restore);
addEventListener("resize", () => update(technique.value));
restore();
