"use strict";
// The answers at one level of bias. Python makes the sentences and cells and orders them.

// The goals with answers in a scenario; the chosen goal, or the first of these.
const goalsOf = (scenario) => Object.keys(scenario.against.goals);
const goalOf = (scenario) => {
  const goals = goalsOf(scenario);
  return goals.includes(state.goal) ? state.goal : goals[0];
};

// The words for the chosen goal; empty words where a scenario has no answers.
const shownGoal = (view) => run.goals[goalOf(view.scenario)] ?? { choices: [], column: "Discrimination", metric: DISCRIMINATION };

// Rows and sentences of a level of bias; nothing where the page lacks one of the two metrics.
function levelOf(scenario, beta) {
  const goal = goalOf(scenario);
  const measured = goal && [run.goals[goal].metric, ACCURACY].every((name) => run.metrics.some((metric) => metric.name === name));
  return (measured && scenario.against.goals[goal].levels[tellingLevels(scenario).indexOf(beta)]) || null;
}

// A cell of answers.csv, as text. A column of equal values has one value.
function fieldOf(scenario, line, name) {
  const column = scenario.against.goals[goalOf(scenario)].fields[name];
  return Array.isArray(column) ? column[line.at] : column;
}

const techniqueOf = (line) => run.techniques[line.technique];

// The lines of a level in Python's order, or sorted by a column. Techniques without a comparison come last, after yardsticks.
function shownLines(view, level) {
  const shown = new Set(view.techniques);
  const lines = level.rows.filter((line) => line.technique === undefined || shown.has(techniqueOf(line)));
  if (!state.by) return lines;
  const techniques = lines.filter((line) => line.technique !== undefined);
  return [
    ...sorted(techniques.filter((line) => !line.last), ANSWER_COLUMNS, state.by),
    ...lines.filter((line) => line.technique === undefined),
    ...techniques.filter((line) => line.last),
  ];
}

const number = (line, name) => {
  const text = fieldOf(run.scenarios[state.scenario], line, name);
  return text === "" ? NaN : Number(text);
};

// Columns of the table of answers.
const ANSWER_COLUMNS = [
  { key: "technique", title: "Technique", by: (line) => techniqueOf(line).title.toLowerCase() },
  { key: "value", title: "Left", by: (line) => number(line, "value") },
  { key: "change", title: "Change [95 %]", by: (line) => number(line, "change") },
  { key: "accuracy", title: "Accuracy", by: (line) => number(line, "accuracy") },
  { key: "accuracy_change", title: "Change of accuracy [95 %]", by: (line) => number(line, "accuracy_change") },
  { key: "accepted", title: "Selection rate: all", by: (line) => number(line, "accepted") },
  { key: "accepted_deprived", title: "deprived", card: "of the deprived", by: (line) => number(line, "accepted_deprived") },
  { key: "accepted_favored", title: "favored", card: "of the favored", by: (line) => number(line, "accepted_favored") },
  { key: "remarks", title: "Remarks", by: (line) => line.place },
];

function answerRow(view, line) {
  const [title, value, change, accuracy, cost, ...rest] = line.cells;
  const [shares, remarks] = [rest.slice(0, 3), rest[3]];
  const changed = ([size = "–", ...interval], look) =>
    make("td", { class: look }, size, ...interval.map((ends) => make("span", { class: "interval" }, ` ${ends}`)));
  if (line.technique === undefined) {
    const cells = [value, change, accuracy, cost, ...shares].map((text) => make("td", {}, text));
    const heading = make("th", { scope: "row" }, title);
    return titled(make("tr", { class: "useless constant" }, heading, ...cells, make("td", { class: "word" }, remarks)), view);
  }
  const technique = techniqueOf(line);
  const is = (name) => !line.useless && fieldOf(view.scenario, line, name) === "True";
  const intervalOf = (metric) => {
    const row = view.all.find((cell) => cell.technique === technique && cell.metric.name === metric && String(cell.beta) === state.at);
    return row ? `${row.metric.title}: ${range(row.low, row.high)}` : null;
  };
  const classes = [state.highlight === technique.name ? "picked" : "", line.useless ? "useless" : ""].join(" ").trim();
  return titled(
    make(
      "tr",
      { class: classes || null },
      make("th", { scope: "row" }, picker(technique)),
      make("td", { title: intervalOf(shownGoal(view).metric) }, value),
      changed(change, is("better") ? "better" : is("worse") ? "worse" : null),
      make("td", { title: intervalOf(ACCURACY) }, accuracy),
      changed(cost, is("less_accurate") ? "worse" : null),
      ...shares.map((text) => make("td", {}, text)),
      make("td", { class: line.recommended ? "word better" : "word" }, remarks),
    ),
    view,
  );
}

// A row whose cells have their headings, for the cards of a narrow screen.
function titled(row, view) {
  answerColumns(view).forEach(({ title, card }, i) => row.cells[i].setAttribute("data-title", card ?? title));
  return row;
}

// Columns with the measure of the chosen goal.
function answerColumns(view) {
  const { column } = shownGoal(view);
  const titles = { value: `${column} left`, change: `Change of ${inSentence(column)} [95 %]` };
  return ANSWER_COLUMNS.map((shown) => ({ ...shown, title: titles[shown.key] ?? shown.title }));
}

function drawAnswers(view) {
  const level = levelOf(view.scenario, Number(state.at));
  const lines = level ? shownLines(view, level) : [];
  const none = !lines.some((line) => line.technique !== undefined);
  const goal = shownGoal(view);
  $("answers-title").textContent = goal.title ? `At ${levelText(state.at)}, to ${goal.title}` : `At ${levelText(state.at)}`;
  const nothingToUndo = level?.rows.length === 0;
  $("answers-shown").hidden = none;
  $("overview").hidden = none && !nothingToUndo;
  const needed = `This table needs ${inSentence(goal.column)} and accuracy among the metrics, and a technique that is shown.`;
  const sentences = none && !nothingToUndo ? [needed] : level.told;
  $("answers-told").replaceChildren(...sentences.map((text) => make("li", {}, text)));
  if (none) return;
  const hidden = view.techniques.length < view.scenario.techniques.length;
  $("answers-caption").textContent = [
    `${view.title}, ${levelText(state.at)}. Changes are to ${view.baselineTitle}; intervals: ${run.intervals}.`,
    "Green change: shown to be better than the baseline. Red change: shown to be worse. Remarks may still rule the technique out.",
    ...(hidden ? ["Sentences, choices and remarks are about all techniques, hidden ones too."] : []),
    ...level.notes,
  ].join(" ");
  $("answers").tHead.rows[0].replaceChildren(...headings(answerColumns(view), "by"));
  $("answers").tBodies[0].replaceChildren(...lines.map((line) => answerRow(view, line)));
}

// The choices at every level of bias. The answers below are of the level whose row is selected.
function drawOverview(view) {
  const { scenario } = view;
  const goal = shownGoal(view);
  const purpose = goal.title ? ` to ${goal.title}` : "";
  $("overview-title").textContent = `${scenario.title}: which technique${purpose}, at what cost`;
  $("reading").replaceChildren(...[goal.reading, ...run.reading].filter(Boolean).map((text) => make("li", {}, text)));
  $("roles").textContent = scenario.notes.join("; ");
  $("unanswered").textContent = scenario.against.told;
  $("overview").tHead.rows[0].replaceChildren(
    ...["Level of bias", ...goal.choices].map((title) => make("th", { scope: "col" }, title)),
  );
  $("overview").tBodies[0].replaceChildren(
    ...tellingLevels(scenario).map((beta) => {
      const cells = levelOf(scenario, beta)?.choices ?? [];
      const radio = make("input", { type: "radio", name: "at", value: String(beta) });
      radio.checked = String(beta) === state.at;
      const level = make("th", { scope: "row" }, make("label", {}, radio, ` ${levelText(beta)}`));
      return make("tr", { class: radio.checked ? "picked" : null }, level, ...cells.map((text, i) => make("td", { "data-title": goal.choices[i] }, text)));
    }),
  );
}

// The columns of answers.csv, with its texts.
function answersCsv() {
  const view = currentView();
  const level = levelOf(view.scenario, Number(state.at));
  const lines = shownLines(view, level).filter((line) => line.technique !== undefined);
  const cells = lines.map((line) => run.columns.flatMap((name) => {
    const field = fieldOf(view.scenario, line, name);
    return name === "beta" ? levelCells(view.scenario, field) : [field];
  }));
  downloadCsv(run.columns.flatMap((name) => (name === "beta" ? levelColumns : [name])).join(","), cells, `${view.file}_${goalOf(view.scenario)}_${run.level.name}_${state.at}`);
}
