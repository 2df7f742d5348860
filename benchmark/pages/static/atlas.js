// The page of an atlas: choices, the sentences for them, a dot for each dataset, and failures.
const data = JSON.parse($("data").textContent);
const selects = [...document.querySelectorAll("#choices select")];
const three = (value) => (value === null ? "not known" : value.toFixed(3));

const chosen = () => Object.fromEntries(selects.map(({ name, value }) => [name, value]));
const rowsOf = ({ classifier, bias, dose }) => data.rows[`${classifier}|${bias}|${dose}`];

// The datasets where a technique was tried, the best first.
function datasets(choice, name) {
  const rows = rowsOf(choice);
  const position = choice.goal === "restore" ? 0 : 1;
  const valueOf = (technique, card) => rows[technique]?.[card]?.[position] ?? null;
  const found = Object.entries(rows[name] ?? {}).map(([card, row]) => {
    const marks = Object.entries(data.marks).map(([mark, technique]) => [mark, valueOf(technique, card)]);
    return { card, row, value: row[position], reason: row[data.numbers.length + position], marks };
  });
  return found.sort((a, b) => (a.value ?? Infinity) - (b.value ?? Infinity) || (a.card < b.card ? -1 : 1));
}

function draw(choice, name) {
  const found = datasets(choice, name);
  const restores = choice.goal === "restore";
  const told = restores
    ? "Distance to the error rates of a model without the bias"
    : "Gap in acceptance between the groups";
  $("dots-told").textContent =
    `${told}, for ${data.techniques[name] ?? name}: a dot for each dataset, 0 is best. A dot leads to its row and its file.`;
  const end = 1.04 * Math.max(0.05, ...found.flatMap(({ value, marks }) => [value, ...marks.map(([, at]) => at)]));
  const at = (value) => `left: ${(100 * value) / end}%`;
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((size) => end / size <= 5) ?? 1;
  const ticks = Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);
  const lines = found.map(({ card, row, value, reason, marks }) => {
    const grid = ticks.map((tick) => make("i", { class: "grid", style: at(tick) }));
    const others = marks.filter(([, other]) => other !== null);
    const shown = others.map(([mark, other]) => make("i", { class: mark, style: at(other) }));
    if (value !== null) {
      const looks = reason ? "dot not" : "dot";
      const dot = make("button", { class: looks, style: at(value), "aria-label": `${card}: ${three(value)}` });
      dot.addEventListener("click", () => show(choice, name, card, row));
      shown.push(dot);
    }
    return make("tr", {}, make("th", { scope: "row" }, card), make("td", {}, ...grid, ...shown));
  });
  const axis = make("td", {}, ...ticks.map((tick) => make("span", { style: at(tick) }, tick.toFixed(2))));
  const foot = make("th", { scope: "row" }, restores ? "distance (0 is best)" : "gap (0 is best)");
  $("dots").replaceChildren(...lines, make("tr", { class: "axis" }, foot, axis));
  const failed = data.failed[`${choice.goal}|${choice.bias}|${choice.dose}|${choice.classifier}`][name] ?? [];
  const texts = found.filter(({ card }) => failed.includes(card)).map(({ card, reason, value, marks }) => {
    const numbers = reason ? "" : ` (${three(value)} in place of ${three(marks[0][1])})`;
    return `${card}: ${data.reasons[reason]}${numbers}.`;
  });
  if (!found.length) texts.push("The technique was not tried there.");
  else if (!texts.length) texts.push(`On none of these ${found.length} datasets.`);
  $("failures").replaceChildren(...texts.map((text) => make("li", {}, text)));
}

function show(choice, name, card, row) {
  const numbers = data.numbers.map((column, i) => [column, three(row[i])]);
  const { classifier, bias, dose } = choice;
  const entries = Object.entries({ card, technique: name, classifier, bias, level: dose });
  const terms = [...entries, ...numbers].flatMap(([term, text]) => [make("dt", {}, term), make("dd", {}, text)]);
  $("row").replaceChildren(...terms);
  $("parts").textContent = (data.parts[`${classifier}|${card}`] ?? []).map((part) => data.toml[part]).join("\n\n");
  $("details").showModal();
}

function update(kept) {
  const choice = chosen();
  const [best, ...texts] = data.advice[selects.map(({ value }) => value).join("|")];
  $("answer").replaceChildren(...texts.map((i) => make("p", {}, data.texts[i])));
  const options = Object.keys(data.techniques).filter((name) => name in rowsOf(choice));
  const name = [kept, best, data.marks.drop, ...options].find((name) => options.includes(name));
  const shown = options.map((value) => make("option", { value, selected: value === name }, data.techniques[value]));
  $("technique").replaceChildren(...shown);
  draw(choice, name);
  const view = new URLSearchParams({ ...choice, ...(name && name !== best ? { technique: name } : {}) });
  history.replaceState(null, "", `#${view}`);
}

function restore() {
  const view = new URLSearchParams(location.hash.slice(1));
  for (const select of selects) {
    const has = [...select.options].some(({ value }) => value === view.get(select.name));
    if (has) select.value = view.get(select.name);
  }
  update(view.get("technique"));
}

$("choices").addEventListener("change", () => update(null));
$("technique").addEventListener("change", ({ target }) => update(target.value));
addEventListener("hashchange", restore);
restore();
