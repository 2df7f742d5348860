"use strict";
// The view: the choices, the tables, and the link with the choices.

const $ = (id) => document.getElementById(id);
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
};

const TABS = [...document.querySelectorAll("[role=tab]")].map((tab) => tab.id.slice("tab-".length));

const COLUMNS = [
  { key: "technique", title: "Technique", by: (row) => row.technique.title.toLowerCase() },
  { key: "beta", title: run.level.one, by: (row) => row.beta },
  { key: "metric", title: "Metric", by: (row) => row.metric.title.toLowerCase() },
  { key: "mean", title: "Mean", by: (row) => row.mean },
  { key: "interval", title: "95 % interval", by: (row) => row.high - row.low },
  { key: "n", title: "n", by: (row) => row.n },
  { key: "missing", title: "Missing", by: (row) => row.missing },
  { key: "difference", title: "Difference", by: (row) => row.difference },
  { key: "difference_interval", title: "95 % interval of it", by: (row) => row.differenceHigh - row.differenceLow },
  { key: "verdict", title: "Verdict", by: (row) => row.verdict },
  { key: "p", title: "p (Holm)", by: (row) => row.p },
  { key: "accepted", title: "Selection rate", by: (row) => row.accepted[0] },
  { key: "remarks", title: "Remarks", by: (row) => row.why },
];

// Paths in a box of 16 by 16, one for each mark.
const MARKS = {
  circle: "M8 3a5 5 0 1 0 .01 0z",
  square: "M3.5 3.5h9v9h-9z",
  "triangle-up": "M8 2.5l6 10H2z",
  diamond: "M8 2l6 6-6 6-6-6z",
  "triangle-down": "M8 13.5l-6-10h12z",
  cross: "M6 2h4v4h4v4h-4v4H6v-4H2V6h4z",
  x: "M4.5 2L8 5.5 11.5 2 14 4.5 10.5 8l3.5 3.5-2.5 2.5L8 10.5 4.5 14 2 11.5 5.5 8 2 4.5z",
  "triangle-left": "M2.5 8l10-6v12z",
  "triangle-right": "M13.5 8l-10 6V2z",
};

function defaults(scenario) {
  const names = run.metrics.map((metric) => metric.name);
  // A difference between the groups: bias changes it.
  const difference = run.metrics.find(({ direction }) => direction === "lower" || direction === "closer_to_ideal");
  const x = names.includes("discrimination") ? "discrimination" : (difference?.name ?? names[0]);
  const y = names.includes("accuracy") ? "accuracy" : names[names.length - 1];
  const techniques = scenario.techniques.map((t) => run.techniques[t].name);
  return {
    tab: TABS[0],
    scenario: run.scenarios.indexOf(scenario),
    goal: Object.keys(scenario.against.goals)[0] ?? "",
    x,
    y,
    over: x,
    // The most bias that there is: at less there may be nothing to undo.
    at: String(tellingLevels(scenario).at(-1)),
    by: "",
    betas: scenario.betas.map(String),
    metrics: [...new Set([x, y])],
    techniques,
    highlight: null,
    sort: "",
    find: "",
    colors: "",
  };
}

let state = defaults(run.scenarios[0]);

// The part of a link that this run does not have.
let notHere = "";

// ------------------------------------------------------------------------------------- the fragment

const LISTS = { betas: "beta", metrics: "metric", techniques: "technique" };
const SINGLE = ["tab", "goal", "at", "by", "x", "y", "over", "highlight", "sort", "find", "colors"];

// Defaults are left out, so that links stay short.
function toFragment() {
  const scenario = run.scenarios[state.scenario];
  const usual = defaults(scenario);
  const parts = new URLSearchParams();
  if (state.scenario) {
    for (const axis of ["dataset", "bias", "classifier"]) parts.set(axis, scenario[axis]);
    if (scenario.test !== "original") parts.set("test", scenario.test);
  }
  for (const name of SINGLE) if (state[name] !== usual[name]) parts.set(name, state[name]);
  for (const [name, key] of Object.entries(LISTS)) {
    if (state[name].length === usual[name].length && state[name].every((v) => usual[name].includes(v))) continue;
    if (state[name].length) state[name].forEach((value) => parts.append(key, value));
    else parts.append(key, "");
  }
  return parts.toString();
}

// Parts of a link that the run does not have stay at their defaults.
function fromFragment(fragment) {
  const parts = new URLSearchParams(fragment);
  const axes = ["dataset", "bias", "classifier", "test"].filter((axis) => parts.has(axis));
  // The first scenario with these axes; one axis may be enough.
  const linked = run.scenarios.find((scenario) => axes.every((axis) => parts.get(axis) === scenario[axis]));
  notHere = linked ? "" : axes.map((axis) => `${axis} ${parts.get(axis)}`).join(", ");
  const scenario = linked ?? run.scenarios[0];
  const view = defaults(scenario);
  const metrics = run.metrics.map((metric) => metric.name);
  const allowed = {
    tab: TABS,
    goal: Object.keys(run.goals),
    highlight: view.techniques,
    x: metrics,
    y: metrics,
    over: metrics,
    betas: view.betas,
    metrics,
    techniques: view.techniques,
    at: tellingLevels(scenario).map(String),
    by: ANSWER_COLUMNS.flatMap(({ key }) => [key, `-${key}`]),
    sort: COLUMNS.flatMap(({ key }) => [key, `-${key}`]),
    colors: ["light", "dark"],
  };
  for (const name of SINGLE) {
    const value = parts.get(name);
    if (value !== null && (!allowed[name] || allowed[name].includes(value))) view[name] = value;
  }
  for (const [name, key] of Object.entries(LISTS)) {
    if (parts.has(key)) view[name] = allowed[name].filter((value) => parts.getAll(key).includes(value));
  }
  return view;
}

// ----------------------------------------------------------------------------------------- the view

const isDark = () =>
  state.colors ? state.colors === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const look = () => (isDark() ? DARK : LIGHT);

function currentView() {
  const scenario = run.scenarios[state.scenario];
  const metric = (name) => run.metrics.find((item) => item.name === name);
  const betas = new Set(state.betas);
  const techniques = new Set(state.techniques);
  const every = rowsOf(scenario);
  return {
    scenario,
    every,
    all: every.filter((row) => betas.has(String(row.beta)) && techniques.has(row.technique.name)),
    title: `${run.name}: ${scenario.title}${scenario.embedded ? ", not real data" : ""}`,
    file: scenario.file,
    techniques: run.techniques.filter((technique) => techniques.has(technique.name)),
    baselineTitle: scenario.against.title,
    x: metric(state.x),
    y: metric(state.y),
    over: metric(state.over),
    highlight: state.highlight !== null && techniques.has(state.highlight) ? state.highlight : null,
  };
}

// Rows of the table with the chosen metrics and every word of the filter, sorted.
function shownRows(view) {
  const metrics = new Set(state.metrics);
  const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = view.all.filter((row) => {
    if (!metrics.has(row.metric.name)) return false;
    const { technique, metric } = row;
    const texts = [technique.title, technique.name, metric.title, metric.name, row.verdict, row.why, row.missing ? row.reason : ""];
    const text = texts.join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
  rows.sort((a, b) => a.position - b.position || a.beta - b.beta);
  return sorted(rows, COLUMNS, state.sort);
}

// Rows by a column; rows without a value come last.
function sorted(rows, columns, by) {
  const down = by.startsWith("-");
  const column = columns.find(({ key }) => key === by.replace("-", ""));
  if (!column) return rows;
  const none = (value) => typeof value === "number" && Number.isNaN(value);
  return rows.sort((a, b) => {
    const [first, second] = [column.by(a), column.by(b)];
    if (none(first) || none(second)) return none(first) - none(second);
    return (first < second ? -1 : first > second ? 1 : 0) * (down ? -1 : 1);
  });
}

// Headings that sort; `key` names the part of the state with the column.
function headings(columns, key) {
  return columns.map((column) => {
    const chosen = state[key].replace("-", "") === column.key;
    const order = chosen ? (state[key].startsWith("-") ? "descending" : "ascending") : "none";
    const button = make("button", { type: "button" }, column.title);
    button.dataset.sort = column.key;
    return make("th", { scope: "col", "aria-sort": order }, button);
  });
}

function mark(technique) {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawn.setAttribute("viewBox", "0 0 16 16");
  drawn.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", MARKS[technique.symbol]);
  path.setAttribute("fill", colorOf(technique, look()));
  drawn.append(path);
  return drawn;
}

function picker(technique) {
  const pressed = String(state.highlight === technique.name);
  const button = make("button", { type: "button", class: "pick", "aria-pressed": pressed });
  button.append(mark(technique), technique.title);
  button.dataset.technique = technique.name;
  return button;
}

// The sign of a useless technique, with its meaning.
function signOf({ sign, why }) {
  return sign ? [make("span", { class: "sign", title: why }, ` ${sign}`, make("span", { class: "unseen" }, ` (${why})`))] : [];
}

const rowClass = (technique) => ({ class: state.highlight === technique.name ? "picked" : null });

function tableRow(row) {
  const basis = Number.isFinite(row.low) ? `over ${row.n} repetitions` : row.reason || "no interval";
  const missing = make("td", { title: row.missing ? row.reason : null }, String(row.missing));
  if (row.missing && row.reason) missing.append(make("span", { class: "unseen" }, ` (${row.reason})`));
  const difference = row.isBaseline
    ? [make("td", { colspan: "4", class: "soft" }, "baseline")]
    : [
        make("td", { title: `over ${row.pairs} pairs` }, fixed(row.difference)),
        make("td", { title: `over ${row.pairs} pairs` }, range(row.differenceLow, row.differenceHigh)),
        make("td", { class: row.verdict }, row.verdict),
        make("td", {}, row.pairs ? pText(row.p) : "–"),
      ];
  return make(
    "tr",
    rowClass(row.technique),
    make("th", { scope: "row" }, picker(row.technique)),
    make("td", {}, String(row.beta)),
    make("td", { class: "word" }, row.metric.title),
    make("td", { title: basis }, fixed(row.mean)),
    make("td", { title: basis }, range(row.low, row.high)),
    make("td", {}, String(row.n)),
    missing,
    ...difference,
    make("td", {}, row.accepts),
    make("td", { class: "word" }, row.why),
  );
}

function drawTable(view) {
  const rows = shownRows(view);
  $("table-caption").textContent =
    `${view.title}. Differences to ${view.baselineTitle}. Intervals: ${run.intervals}. ` +
    `p: ${run.tested}, Holm-corrected. Selection rate: all / deprived / favored.`;
  $("table").tHead.rows[0].replaceChildren(...headings(COLUMNS, "sort"));
  const none = make("tr", {}, make("td", { colspan: String(COLUMNS.length) }, "No row is left."));
  const shown = rows.length ? rows.map(tableRow) : [none];
  $("table").tBodies[0].replaceChildren(...shown);
  $("count").textContent = `${rows.length} of ${view.scenario.betas.length * view.scenario.techniques.length * run.metrics.length} rows`;
}

// A title within a sentence: names such as AUC stay as they are.
const inSentence = (title) => (/^\p{Lu}\p{Ll}/u.test(title) ? title[0].toLowerCase() + title.slice(1) : title);

function drawHolding(view) {
  const { holding, notes } = view.scenario.against;
  const { rule, techniques } = holding[view.over.name];
  const shown = new Set(view.techniques);
  const lines = techniques.filter(({ technique }) => shown.has(run.techniques[technique]));
  const rows = view.every.filter((row) => row.metric === view.over);
  const traded = view.over.name !== ACCURACY && run.metrics.some(({ name }) => name === ACCURACY);
  $("holding-title").textContent = `Which technique holds up: ${inSentence(view.over.titleWithGoal)}`;
  $("holding-caption").textContent = [
    `${view.title}, all ${run.level.several}. Means. ${rule}`,
    `The table sorts techniques by greatest ${run.level.one}, then by accuracy loss, then by mean gain.`,
    ...notes,
  ].join(" ");
  const head = ["Technique", ...view.scenario.betas.map(levelText), `Better up to ${run.level.one}`];
  $("holding").tHead.rows[0].replaceChildren(...head.map((title) => make("th", { scope: "col" }, title)));
  if (traded) $("holding").tHead.rows[0].append(make("th", { scope: "col", class: "word" }, "Accuracy, at worst"));
  $("holding").tBodies[0].replaceChildren(
    ...lines.map(({ technique, up_to, less_accurate, cost = "" }) => {
      const cells = rows.filter((row) => row.position === technique);
      const means = cells.map((row) => {
        // A better mean of a useless technique has no mark.
        const look = row.sign === run.degenerate ? "useless" : row.mark ? row.verdict : "";
        const cell = make("td", { class: look, title: linesOf(row).join("\n") }, fixed(row.mean));
        if (row.mark) cell.append(make("span", { "aria-hidden": "true" }, ` ${row.mark}`), make("span", { class: "unseen" }, ` ${row.verdict}`));
        cell.append(...signOf(row));
        if (row.metric.name === ACCURACY && row.n) cell.append(make("span", { class: "soft" }, ` (${row.accepts.split(" / ")[0]})`));
        return cell;
      });
      const { isBaseline } = cells[0];
      const last = [make("td", { class: isBaseline ? "soft" : null }, isBaseline ? "baseline" : up_to)];
      if (traded) last.push(make("td", { class: less_accurate ? "word worse" : "word" }, cost));
      return make("tr", rowClass(run.techniques[technique]), make("th", { scope: "row" }, picker(run.techniques[technique])), ...means, ...last);
    }),
  );
}

function drawAbout(view) {
  const warnings = notHere ? [`The link asks for ${notHere}, which this run does not have: ${view.scenario.title} is shown.`] : [];
  warnings.push(...view.scenario.warnings);
  $("about").replaceChildren(...warnings.map((text) => make("p", { class: "warning" }, text)));
  $("tradeoff-title").textContent = `${view.y.titleWithGoal} against ${inSentence(view.x.titleWithGoal)}`;
  $("curves-title").textContent = `${view.over.titleWithGoal} over ${run.level.several}`;
  $("bands-told").textContent =
    view.techniques.length > MOST_BANDS ? "Of so many techniques, only a selected one has a band. " : "";
  const { constant } = view.scenario;
  const accuracy = [view.x, view.y, view.over].find(({ name }) => name === ACCURACY);
  $("constant-told").textContent =
    constant && accuracy && !isNear(constant.accuracy, accuracy, view, CONSTANT_REACH)
      ? `The accuracy of ${constant.words}, ${fixed(constant.accuracy, 3)}, lies beyond the axis. `
      : "";
}

// ------------------------------------------------------------------------------------ the controls

function fillSelect(id, options, chosen) {
  $(id).replaceChildren(
    ...options.map(([value, title]) => make("option", { value, selected: value === chosen }, title)),
  );
}

function fillBoxes(parent, name, options, chosen) {
  parent.querySelectorAll("label").forEach((label) => label.remove());
  parent.append(
    ...options.map(([value, ...shown]) => {
      const box = make("input", { type: "checkbox", name, value });
      box.checked = chosen.includes(value);
      return make("label", { class: "choice" }, box, ...shown);
    }),
  );
}

function drawControls() {
  const scenario = run.scenarios[state.scenario];
  const techniques = scenario.techniques.map((t) => run.techniques[t]);
  const metrics = run.metrics.map(({ name, title }) => [name, title]);
  const scenarios = run.scenarios.map(({ title }, i) => [String(i), title]);
  fillSelect("scenario", scenarios, String(state.scenario));
  fillSelect("goal", goalsOf(scenario).map((name) => [name, run.goals[name].title]), goalOf(scenario));
  for (const id of ["x", "y", "over"]) fillSelect(id, metrics, state[id]);
  fillBoxes($("betas"), "betas", scenario.betas.map((beta) => [String(beta), String(beta)]), state.betas);
  fillBoxes($("metrics"), "metrics", metrics, state.metrics);
  const list = $("techniques").querySelector(".list");
  fillBoxes(list, "techniques", techniques.map((t) => [t.name, mark(t), t.title]), state.techniques);
  $("filter").value = state.find;
  $("theme").value = state.colors;
}

function showTab() {
  for (const name of TABS) {
    const chosen = name === state.tab;
    $(`panel-${name}`).hidden = !chosen;
    $(`tab-${name}`).setAttribute("aria-selected", String(chosen));
    $(`tab-${name}`).tabIndex = chosen ? 0 : -1;
  }
}

function draw({ controls = true, figures = true } = {}) {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  showTab();
  const view = currentView();
  if (controls) drawControls();
  drawAbout(view);
  drawOverview(view);
  drawHolding(view);
  drawAnswers(view);
  drawTable(view);
  // The tables stand before the plotting library has been read.
  if (figures && window.Plotly && state.tab === "results") drawFigures(view, look(), pick);
}

function change(changes, options) {
  Object.assign(state, changes);
  draw(options);
  const fragment = toFragment();
  history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
}

const pick = (name) => change({ highlight: state.highlight === name ? null : name }, { controls: false });
const say = (text) => ($("said").textContent = text);

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Not every browser lets a page from a disk write to the clipboard in this way.
    const area = make("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`${what} copied`);
}

function download(content, type, name) {
  const link = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const digits = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(7))) : "");
const truth = (value) => (value ? "True" : "False");

function downloadCsv(head, lines, name) {
  const quoted = (cell) => (/[",\n\r]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell);
  const text = [head, ...lines.map((cells) => cells.map(quoted).join(",")), ""].join("\n");
  download(text, "text/csv", `${run.name}_${name}.csv`.replace(/[^\w.-]+/g, "_"));
}

function csv() {
  const view = currentView();
  const { dataset, bias, classifier, test } = view.scenario;
  const head =
    `dataset,bias,${levelColumns},technique,classifier,test,metric,n,missing,mean,ci_low,ci_high,baseline,pairs,` +
    "difference,difference_low,difference_high,p_holm,accepted,accepted_deprived," +
    "accepted_favored,degenerate,below_constant";
  const lines = shownRows(view).map((row) => {
    const texts = [row.isBaseline ? "" : row.baseline.name, row.isBaseline ? "" : String(row.pairs)];
    return [
      ...[dataset, bias, ...levelCells(view.scenario, String(row.beta)), row.technique.name, classifier, test, row.metric.name],
      ...[row.n, row.missing].map(String),
      ...[row.mean, row.low, row.high].map(digits),
      ...texts,
      ...[row.difference, row.differenceLow, row.differenceHigh].map(digits),
      digits(row.p),
      ...row.accepted.map(digits),
      row.sign === run.degenerate ? row.why : "",
      truth(row.below),
    ];
  });
  downloadCsv(head, lines, view.file);
}

// What concerns the rows of the table only.
const ROWS_ONLY = { controls: false, figures: false };

function listen() {
  for (const id of ["goal", "x", "y", "over"]) {
    $(id).addEventListener("change", (event) => change({ [id]: event.target.value }, { controls: false }));
  }
  $("scenario").addEventListener("change", (event) => {
    notHere = "";
    const { tab, colors, goal, by, sort, find, x, y, over, metrics } = state;
    const usual = defaults(run.scenarios[event.target.value]);
    const at = tellingLevels(run.scenarios[event.target.value]).map(String).includes(state.at) ? state.at : usual.at;
    change({ ...usual, tab, colors, goal, at, by, sort, find, x, y, over, metrics });
  });
  $("controls").addEventListener("change", ({ target }) => {
    if (target.type !== "checkbox") return;
    const boxes = [...$("controls").querySelectorAll(`input[name=${target.name}]`)];
    change({ [target.name]: boxes.filter((box) => box.checked).map((box) => box.value) }, { controls: false });
  });
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("all").addEventListener("click", () => change({ techniques: defaults(run.scenarios[state.scenario]).techniques }));
  $("none").addEventListener("click", () => change({ techniques: [] }));
  $("reset").addEventListener("click", () => change({ ...defaults(run.scenarios[0]), colors: state.colors }));
  $("filter").addEventListener("input", (event) => change({ find: event.target.value }, ROWS_ONLY));
  $("theme").addEventListener("change", (event) => change({ colors: event.target.value }));
  $("csv").addEventListener("click", csv);
  $("answers-csv").addEventListener("click", answersCsv);
  $("overview").addEventListener("change", ({ target }) => {
    change({ at: target.value }, ROWS_ONLY);
    $("overview").querySelector("input:checked")?.focus({ preventScroll: true });
  });
  $("copy-link").addEventListener("click", () => copy(location.href, "Link"));
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", () => copy(button.closest("figure").querySelector("pre").textContent, "Text"));
  }
  for (const button of document.querySelectorAll("[data-format]")) {
    const { figure, format } = button.dataset;
    button.addEventListener("click", () => saveFigure(figure, format, currentView()));
  }
  const pressed = (table, button) => {
    const { sort, technique } = button.dataset;
    const position = [...table.querySelectorAll("button")].indexOf(button);
    if (technique !== undefined) pick(technique);
    else {
      const key = table.id === "answers" ? "by" : "sort";
      change({ [key]: state[key] === sort ? `-${sort}` : state[key] === `-${sort}` ? "" : sort }, ROWS_ONLY);
    }
    // The table was made anew: the focus goes on where it was.
    table.querySelectorAll("button")[position]?.focus({ preventScroll: true });
  };
  for (const table of [$("table"), $("holding"), $("answers")]) {
    table.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (button) pressed(table, button);
    });
  }
  const tablist = document.querySelector("[role=tablist]");
  tablist.addEventListener("click", ({ target }) => {
    const tab = target.closest("[role=tab]");
    if (tab) change({ tab: tab.id.slice("tab-".length) });
  });
  tablist.addEventListener("keydown", (event) => {
    const here = TABS.indexOf(state.tab);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    change({ tab: TABS[(to + TABS.length) % TABS.length] });
    $(`tab-${state.tab}`).focus();
  });
  addEventListener("hashchange", () => {
    state = fromFragment(location.hash.slice(1));
    draw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
}

if (matchMedia("(max-width: 48rem)").matches) $("settings").open = false;
state = fromFragment(location.hash.slice(1));
listen();
draw();
addEventListener("DOMContentLoaded", () => {
  if (state.tab === "results") drawFigures(currentView(), look(), pick);
  document.documentElement.dataset.ready = "";
});
