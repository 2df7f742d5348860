"use strict";
// The numbers of the page: cells with their intervals, and differences to a baseline. Python made all verdicts.

const run = JSON.parse(document.getElementById("numbers").textContent);
// In CSV files a dose is followed by its β.
const levelColumns = run.level.name === "dose" ? ["dose", "beta"] : ["beta"];
const levelCells = (scenario, level) =>
  run.level.name === "dose" ? [level, scenario.solved[scenario.betas.map(String).indexOf(level)] ?? ""] : [level];
// A level of bias in a sentence or heading.
const levelText = (level) => `${run.level.before}${level}`;

const unpack = (text) => new Float64Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);

const [ACCURACY, DISCRIMINATION] = ["accuracy", "discrimination"];

// The name of a technique's baseline: of one with its own learner, this learner without mitigation.
const baselineOf = (scenario, name) => scenario.baseline ?? scenario.own[name];

const ARRAYS = ["n", "missing", "mean", "ci_low", "ci_high", "accepted"];
const unpackAll = (packed, names) => Object.fromEntries(names.map((name) => [name, unpack(packed[name])]));

// All rows of a scenario: one per level of bias, technique and metric. They are unpacked when they are
// first looked at.
const rowsFound = new Map();
function rowsOf(scenario) {
  if (rowsFound.has(scenario)) return rowsFound.get(scenario);
  const cells = unpackAll(scenario, ARRAYS);
  const compared = scenario.compared;
  const differences = unpackAll(compared, ["n", "difference", "low", "high", "p"]);
  const [T, M] = [scenario.techniques.length, run.metrics.length];
  const names = scenario.techniques.map((t) => run.techniques[t].name);
  const owns = names.map((name) => names.indexOf(baselineOf(scenario, name)));
  const below = new Set(scenario.below);
  const rows = [...cells.mean.keys()].map((cell) => {
    const [b, t, m] = [Math.floor(cell / (T * M)), Math.floor(cell / M) % T, cell % M];
    const [mark, verdict] = run.marks[compared.marks[cell]] ?? ["", ""];
    const [sign, why] = scenario.signs[`${b},${t}`] ?? ["", ""];
    return {
      technique: run.techniques[scenario.techniques[t]],
      metric: run.metrics[m],
      position: scenario.techniques[t],
      beta: scenario.betas[b],
      n: cells.n[cell],
      missing: cells.missing[cell],
      mean: cells.mean[cell],
      low: cells.ci_low[cell],
      high: cells.ci_high[cell],
      baseline: run.techniques[scenario.techniques[owns[t]]],
      isBaseline: t === owns[t],
      difference: differences.difference[cell],
      differenceLow: differences.low[cell],
      differenceHigh: differences.high[cell],
      pairs: Number.isNaN(differences.n[cell]) ? 0 : differences.n[cell],
      p: differences.p[cell],
      mark,
      verdict,
      // Facts about the technique at this level of bias, for all metrics.
      accepted: [0, 1, 2].map((which) => cells.accepted[3 * (b * T + t) + which]),
      accepts: scenario.accepts[b * T + t],
      sign,
      why,
      below: below.has(`${b},${t}`),
      reason: scenario.reasons[`${b},${t},${m}`] ?? scenario.reasons[`${b},${t}`] ?? "",
    };
  });
  rowsFound.set(scenario, rows);
  return rows;
}

// Levels of bias that differ in more than the samples.
const tellingLevels = (scenario) => (scenario.inert ? scenario.betas.slice(0, 1) : scenario.betas);
