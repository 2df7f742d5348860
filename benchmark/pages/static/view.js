// The view: the facts and words of the page, what is chosen, and the link with the choices.

const [facts, words] = ["facts", "words"].map((id) => JSON.parse($(id).textContent));

const ACCURACY = "accuracy";
const titles = new Map(Object.entries(words.titles));
const techniques = new Map(facts.techniques.map((technique) => [technique.name, technique]));
// What techniques are told about the bias.
const STATES = [...new Set(facts.techniques.map(({ knows }) => knows))];
const BLIND = "nothing";
const metrics = new Map(facts.metrics.map((metric) => [metric.name, metric]));
const levelText = (level) => `${words.level}${words.level === "β" ? " =" : ""} ${level}`;

// As Python rounds: exact halves go to the even digit, and no zero stands before the point.
function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const isHalf = Math.abs((value * 2 ** (digits + 1)) % 2) === 1;
  const shown = isHalf ? (2 * Math.round((value * 10 ** digits) / 2)) / 10 ** digits : value;
  return shown.toFixed(digits).replace(/^-(0\.?0*)$/, "$1").replace(/^(-?)0\./, "$1.");
}
const signed = (value) => (value > 0 && Number(number(value)) ? "+" : "") + number(value);
const interval = ({ low, high }, shown = number) => (low === null ? "" : `[${shown(low)}, ${shown(high)}]`);
function share(value) {
  if (value === null) return "–";
  const percent = 100 * value;
  if (percent > 0 && percent < 0.05) return "<0.1 %";
  if (percent >= 99.95 && percent < 100) return ">99.9 %";
  const isExact = percent === 0 || percent === 100 || (percent >= 1 && percent <= 99);
  return `${number(percent, isExact ? 0 : 1).replace(/^\./, "0.")} %`;
}

// ------------------------------------------------------------------------------- what is chosen

const CHOICES = ["goal", "metric", "at", "knows", "technique"];
const AXES = ["dataset", "bias", "classifier", "test"];
let state = { scenario: 0 };

// What is shown: the choices that the scenario has, and defaults for the others.
function current() {
  const scenario = facts.scenarios[state.scenario];
  const g = Math.max(0, scenario.answers.findIndex(({ goal }) => goal === state.goal));
  const answers = scenario.answers[g];
  const levels = answers ? answers.levels.map(({ level }) => level) : scenario.levels;
  const usual = { at: answers?.highest ?? levels.at(-1), metric: answers?.metric ?? scenario.values[0]?.metric };
  const values = scenario.values.find(({ metric }) => metric === state.metric);
  return {
    scenario,
    answers,
    levels,
    said: words.said[state.scenario][g],
    goal: answers?.goal,
    usual,
    at: levels.find((level) => String(level) === state.at) ?? usual.at,
    metric: values?.metric ?? usual.metric,
    knows: STATES.includes(state.knows) ? state.knows : null,
    technique: scenario.techniques.includes(state.technique) ? state.technique : null,
  };
}

const titleOf = (metric) => metrics.get(metric)?.title ?? metric;
const NONE = { mean: null, low: null, high: null };
const meanIn = (values, l, t) => ({ mean: values.mean[l][t], low: values.low[l][t], high: values.high[l][t] });
const changeIn = (values, l, t) => ({
  mean: values.change[l][t],
  low: values.change_low[l][t],
  high: values.change_high[l][t],
});

// Of techniques that are chosen by what they know, doing nothing is one.
const isShown = ({ knows }, { technique, role }) => {
  return knows === null || techniques.get(technique)?.knows === knows || (role ?? "technique") !== "technique";
};

// The techniques at a level, each with its number in the chosen metric and what is said of it.
function rowsAt(now, level) {
  const { scenario, answers } = now;
  const l = now.levels.indexOf(level);
  const own = answers?.metric === now.metric;
  const values = scenario.values.find(({ metric }) => metric === now.metric);
  const accuracies = scenario.values.find(({ metric }) => metric === ACCURACY);
  const at = scenario.levels.indexOf(level);
  const standings = answers?.levels[l].techniques ?? scenario.techniques.map((technique) => ({ technique }));
  const rows = standings.map((standing, i) => {
    const t = scenario.techniques.indexOf(standing.technique);
    const isBaseline = standing.role === "baseline" || standing.technique === scenario.baseline;
    // Where nothing is compared, nothing is found not to be shown.
    const open = standing.verdict === "not_shown" && now.said?.[l].reason;
    const verdict = open ? undefined : (words.verdict[standing.verdict] ?? words.role[standing.role]);
    // Color and sign are of the verdict on the goal, or of the change in another metric.
    const shown = own || isBaseline ? null : values.shown[at][t];
    return {
      ...standing,
      title: titles.get(standing.technique),
      short: techniques.get(standing.technique)?.title,
      knows: techniques.get(standing.technique)?.knows,
      isBaseline,
      against: standing.baseline ?? scenario.baseline,
      verdictWord: verdict,
      word: shown === null ? verdict : words.shown[shown],
      kind: shown === null ? (standing.verdict ?? "role") : `shown-${shown.replace(".", "none")}`,
      texts: now.said?.[l].texts[i] ?? [],
      number: own ? standing.value : meanIn(values, at, t),
      numberChange: own ? standing.change : changeIn(values, at, t),
      accurate: standing.accuracy ?? (accuracies ? meanIn(accuracies, at, t) : NONE),
      usable: standing.verdict !== "not_usable",
    };
  });
  return rows.filter((row) => row.isBaseline || isShown(now, row));
}

// ----------------------------------------------------------------------------------- the fragment

// Defaults are left out, so that links stay short.
function toFragment() {
  const now = current();
  const parts = new URLSearchParams();
  if (state.scenario) for (const axis of AXES) parts.set(axis, now.scenario[axis]);
  const usual = { ...now.usual, at: String(now.usual.at), goal: now.scenario.answers[0]?.goal };
  for (const name of CHOICES) if (state[name] && state[name] !== usual[name]) parts.set(name, state[name]);
  return parts.toString();
}

// Parts of a link that the run does not have stay at their defaults.
function fromFragment(fragment) {
  const parts = new URLSearchParams(fragment);
  const axes = AXES.filter((axis) => parts.has(axis));
  const i = facts.scenarios.findIndex((scenario) => axes.every((axis) => parts.get(axis) === scenario[axis]));
  state = { scenario: Math.max(0, i) };
  for (const name of CHOICES) state[name] = parts.get(name) ?? "";
}

// ----------------------------------------------------------------------------------------- the page

const darkColors = matchMedia("(prefers-color-scheme: dark)");

function fillSelect(id, options, chosen) {
  const made = options.map(([value, title]) => make("option", { value, selected: value === chosen }, title));
  $(id).replaceChildren(...made);
  $(id).disabled = options.length < 2;
}

function drawChoices(now) {
  fillSelect("scenario", facts.scenarios.map(({ heading }, i) => [String(i), heading]), String(state.scenario));
  fillSelect("goal", now.scenario.answers.map(({ goal }) => [goal, words.goal[goal].title]), now.goal);
  const offered = new Set([now.usual.metric, ...now.scenario.values.map(({ metric }) => metric)]);
  fillSelect("metric", [...offered].map((metric) => [metric, titleOf(metric)]), now.metric);
  fillSelect("at", now.levels.map((level) => [String(level), levelText(level)]), String(now.at));
  fillSelect("knows", [["", "all"], ...STATES.map((knows) => [knows, knows])], now.knows ?? "");
  $("knows").parentElement.hidden = STATES.length < 2;
  const named = now.scenario.techniques.map((technique) => [technique, titles.get(technique)]);
  fillSelect("technique", [["", "all"], ...named], now.technique ?? "");
}

function draw() {
  const now = current();
  drawChoices(now);
  drawTables(now);
  // The tables stand before the plotting library has been read.
  if (window.Plotly) drawPicture(now);
}

function change(changes) {
  Object.assign(state, changes);
  draw();
  const fragment = toFragment();
  history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
}

function listen() {
  $("choices").addEventListener("change", ({ target: { id, value } }) => {
    // Another goal has its own metric.
    change(id === "scenario" ? { scenario: Number(value) } : { [id]: value, ...(id === "goal" && { metric: "" }) });
  });
  $("matrix").addEventListener("click", ({ target }) => {
    const cell = target.closest("[data-at], [data-technique]");
    if (cell) choose(cell, current());
  });
  addEventListener("hashchange", () => {
    fromFragment(location.hash.slice(1));
    draw();
  });
  darkColors.addEventListener("change", draw);
}
