"use strict";
// What the page shows: cells with their intervals, and differences to a baseline.

const run = JSON.parse(document.getElementById("numbers").textContent);

const unpack = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);

// A scenario's arrays are unpacked when it is first looked at.
const unpacked = new Map();
function arraysOf(scenario) {
  if (!unpacked.has(scenario)) {
    const names = ["n", "missing", "mean", "ci_low", "ci_high", "values", "accepted"];
    unpacked.set(scenario, Object.fromEntries(names.map((name) => [name, unpack(scenario[name])])));
  }
  return unpacked.get(scenario);
}

// How far a value is from the metric's ideal: less is better for every metric.
function distance(value, metric) {
  if (metric.direction === "higher") return (metric.ideal ?? 0) - value;
  if (metric.direction === "lower") return value - (metric.ideal ?? 0);
  return metric.direction === "closer_to_ideal" ? Math.abs(value - metric.ideal) : NaN;
}

const ACCURACY = "accuracy";

const sum = (values) => values.reduce((total, value) => total + value, 0);

// Mean and Student's interval; fewer than two values have no interval.
function studentInterval(values) {
  const n = values.length;
  const mean = n ? sum(values) / n : NaN;
  const variance = n > 1 ? sum(values.map((value) => (value - mean) ** 2)) / (n - 1) : NaN;
  const half = n > 1 && !run.overlapping ? run.quantiles[n - 2] * Math.sqrt(variance / n) : NaN;
  return [mean, mean - half, mean + half];
}

// Signs of every test of n differences: all patterns where they are few, else drawn ones, always the same.
const drawnSigns = new Map();
function signsOf(n) {
  if (drawnSigns.has(n)) return drawnSigns.get(n);
  const exact = 2 ** n <= run.flips;
  const patterns = exact ? 2 ** (n - 1) : run.flips;
  const signs = new Int8Array(patterns * n);
  let state = 0x9e3779b9 ^ n;
  for (let i = 0; i < signs.length; i++) {
    if (exact) {
      // Opposite signs give the same statistic, so the last difference keeps its own.
      signs[i] = (Math.floor(i / n) >> i % n) & 1 ? -1 : 1;
    } else {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      signs[i] = state & 0x10000 ? 1 : -1;
    }
  }
  drawnSigns.set(n, { exact, patterns, signs });
  return drawnSigns.get(n);
}

// Two-sided sign-flip p-value of the hypothesis that differences are symmetric about 0.
function signFlipP(differences) {
  const n = differences.length;
  if (n < 2 || run.overlapping || differences.some(Number.isNaN)) return NaN;
  const { exact, patterns, signs } = signsOf(n);
  // The values have seven digits: sums that differ by less are equal.
  const least = Math.abs(sum(differences)) - 1e-6 * sum(differences.map(Math.abs));
  let reached = 0;
  for (let pattern = 0, i = 0; pattern < patterns; pattern++) {
    let total = 0;
    for (let k = 0; k < n; k++) total += signs[i++] * differences[k];
    if (Math.abs(total) >= least) reached++;
  }
  return exact ? reached / patterns : (1 + reached) / (1 + patterns);
}

// Holm's correction; a NaN is no test.
function holm(p) {
  const order = [...p.keys()].filter((i) => !Number.isNaN(p[i])).sort((a, b) => p[a] - p[b]);
  const corrected = p.map(() => NaN);
  let highest = 0;
  order.forEach((i, rank) => {
    highest = Math.max(highest, Math.min(1, (order.length - rank) * p[i]));
    corrected[i] = highest;
  });
  return corrected;
}

// As a baseline: the learner that each technique brings, without mitigation. Only a scenario of such techniques has it.
const OWN = "own";

// The name of what a technique is compared with.
const baselineOf = (scenario, baseline, name) => (baseline === OWN && scenario.own ? scenario.own[name] : baseline);

// Differences of every cell to a baseline, from the repetitions.
function compareHere(scenario, baseline) {
  const { values } = arraysOf(scenario);
  const [T, M, R] = [scenario.techniques.length, run.metrics.length, scenario.width];
  const own = scenario.techniques.findIndex((t) => run.techniques[t].name === baseline);
  const size = scenario.betas.length * T * M;
  const names = ["n", "difference", "low", "high", "improvement", "improvementLow", "improvementHigh"];
  const found = { ...Object.fromEntries(names.map((name) => [name, []])), p: Array(size).fill(NaN) };
  const at = (b, t, m) => ((b * T + t) * M + m) * R;
  const raw = [];
  for (let cell = 0; cell < size; cell++) {
    const [b, t, m] = [Math.floor(cell / (T * M)), Math.floor(cell / M) % T, cell % M];
    const differences = [];
    const improvements = [];
    for (let r = 0; r < R && t !== own; r++) {
      const [mine, other] = [values[at(b, t, m) + r], values[at(b, own, m) + r]];
      if (Number.isNaN(mine - other)) continue;
      differences.push(mine - other);
      improvements.push(distance(other, run.metrics[m]) - distance(mine, run.metrics[m]));
    }
    const [mean, low, high] = studentInterval(differences);
    found.n.push(differences.length);
    found.difference.push(mean);
    found.low.push(low);
    found.high.push(high);
    const [gain, gainLow, gainHigh] = studentInterval(improvements);
    found.improvement.push(gain);
    found.improvementLow.push(gainLow);
    found.improvementHigh.push(gainHigh);
    raw.push(signFlipP(improvements));
  }
  run.metrics.forEach((_, m) => {
    const cells = raw.map((_, cell) => cell).filter((cell) => cell % M === m);
    holm(cells.map((cell) => raw[cell])).forEach((p, i) => (found.p[cells[i]] = p));
  });
  return found;
}

function compare(scenario, baseline) {
  const given = scenario.compared[baseline];
  if (!given) return compareHere(scenario, baseline);
  return Object.fromEntries(Object.entries(given).map(([k, v]) => [k, unpack(v)]));
}

// All rows of a scenario against a baseline: one per level of bias, technique and metric.
const rowsFound = new Map();
function rowsOf(scenario, baseline) {
  const key = `${run.scenarios.indexOf(scenario)} ${baseline}`;
  if (rowsFound.has(key)) return rowsFound.get(key);
  const cells = arraysOf(scenario);
  const found = compare(scenario, baseline);
  const [T, M] = [scenario.techniques.length, run.metrics.length];
  const names = scenario.techniques.map((t) => run.techniques[t].name);
  const owns = names.map((name) => names.indexOf(baselineOf(scenario, baseline, name)));
  const [below, mostlyConstant] = [new Set(scenario.below), new Set(scenario.mostlyConstant)];
  const inside = new Set(scenario.inside);
  const rows = [...cells.mean.keys()].map((cell) => {
    const [b, t, m] = [Math.floor(cell / (T * M)), Math.floor(cell / M) % T, cell % M];
    const technique = run.techniques[scenario.techniques[t]];
    const own = owns[t];
    const baselineDegenerate = mostlyConstant.has(`${b},${own}`); // nothing is compared with it there
    const significant = !baselineDegenerate && found.p[cell] <= run.alpha;
    return {
      technique,
      metric: run.metrics[m],
      position: scenario.techniques[t],
      beta: scenario.betas[b],
      n: cells.n[cell],
      missing: cells.missing[cell],
      mean: cells.mean[cell],
      values: cells.values.subarray(cell * scenario.width, (cell + 1) * scenario.width),
      low: cells.ci_low[cell],
      high: cells.ci_high[cell],
      baseline: run.techniques[scenario.techniques[own]],
      isBaseline: t === own,
      difference: found.difference[cell],
      improvement: found.improvement[cell],
      improvementLow: found.improvementLow[cell],
      improvementHigh: found.improvementHigh[cell],
      differenceLow: found.low[cell],
      differenceHigh: found.high[cell],
      pairs: Number.isNaN(found.n[cell]) ? 0 : found.n[cell],
      p: found.p[cell],
      verdict: !significant ? "" : found.improvement[cell] > 0 ? "better" : "worse",
      // What concerns the technique at this level of bias, whatever the metric.
      accepted: [0, 1, 2].map((which) => cells.accepted[3 * (b * T + t) + which]),
      degenerate: scenario.degenerate[`${b},${t}`]?.[1] ?? "",
      timesDegenerate: scenario.degenerate[`${b},${t}`]?.[0] ?? 0,
      below: below.has(`${b},${t}`) ? `less accurate than ${scenario.constant.words}` : "",
      inside: inside.has(`${b},${t}`),
      mostlyConstant: mostlyConstant.has(`${b},${t}`),
      baselineDegenerate,
      reason: scenario.reasons[`${b},${t},${m}`] ?? scenario.reasons[`${b},${t}`] ?? "",
    };
  });
  rowsFound.set(key, rows);
  return rows;
}

// Whether any test of a metric could be significant: not with few pairs and many tests, whatever the results; but the t-test
// of overlapping splits has no smallest p.
function isTestable(rows) {
  const tested = rows.filter((row) => !Number.isNaN(row.p));
  const pairs = Math.max(0, ...rows.filter((row) => !row.isBaseline).map((row) => row.pairs));
  const needed = Math.ceil(Math.log2((2 * tested.length) / run.alpha));
  const inReach = run.overlapping || !tested.length || pairs >= needed;
  return { testable: pairs > 1 && inReach, pairs, tests: tested.length, needed };
}

// Which cells of a metric differ from the baseline's: benchmark.statistics.answers.judged. Where no test can tell, a worse
// mean by more than the region of practical equivalence is worse, and a better one by more is better if the intervals of
// difference and improvement leave out 0; one pair has no interval, and is a candidate. Nothing differs from a baseline
// that cannot be compared with.
function marksOf(scenario, baseline, metric) {
  const rows = rowsOf(scenario, baseline).filter((row) => row.metric === metric);
  const reach = isTestable(rows);
  const marks = rows.map((row) => {
    const practical = (gain) => !reach.testable && gain > run.rope + EQUAL;
    const apart = row.improvementLow > 0 && (row.differenceLow > 0 || row.differenceHigh < 0);
    const significant = reach.testable && row.p <= run.alpha;
    const better = (significant && row.improvement > 0) || (practical(row.improvement) && apart);
    const worse = (significant && row.improvement < 0) || practical(-row.improvement);
    if (row.isBaseline || row.baselineDegenerate) return { row, mark: "", candidate: false };
    return { row, mark: better ? "better" : worse ? "worse" : "", candidate: row.pairs === 1 && practical(row.improvement) };
  });
  return { ...reach, marks };
}

// Levels of bias that differ in more than the samples.
const tellingLevels = (scenario) => (scenario.inert ? scenario.betas.slice(0, 1) : scenario.betas);

const isOfUse = (row) => !row.degenerate && !row.below && !oneGroupWords(row);

// Which techniques of use are better than the baseline up to which level of bias, and what that costs in accuracy: those
// first that are better longest, without losing accuracy, and by most. A technique is of use where it is never degenerate,
// at least as accurate as a constant answer, and gives neither group nearly always the same answer. It holds up only as far
// as it and the baseline have all values (else it is incomplete). Where the bias has no effect, one level stands for all.
function holdingUp(scenario, baseline, metric) {
  const { marks, ...reach } = marksOf(scenario, baseline, metric);
  const accuracy = run.metrics.find(({ name }) => name === ACCURACY);
  const lost = accuracy && metric !== accuracy ? marksOf(scenario, baseline, accuracy).marks : [];
  const techniques = scenario.techniques.map((t) => {
    const technique = run.techniques[t];
    const cells = marks.filter(({ row }) => row.technique === technique);
    const levels = cells.filter(({ row }) => tellingLevels(scenario).includes(row.beta));
    const all = levels.filter((own) => own.mark === "better" && isOfUse(own.row));
    const gaps = cells.filter(({ row }) => !row.isBaseline && row.pairs < row.n + row.missing).map(({ row }) => row.beta);
    const holds = all.filter(({ row }) => row.beta < Math.min(...gaps));
    const better = holds.map(({ row }) => row.beta);
    const own = lost.filter(({ row }) => row.technique === technique);
    const paid = own.filter(({ row }) => better.includes(row.beta));
    const costs = paid.filter(({ mark }) => mark === "worse");
    return {
      technique,
      cells,
      incomplete: all.length > holds.length,
      upTo: better.length ? Math.max(...better) : null,
      notAt: levels.filter(({ row }) => row.beta < Math.max(...better) && !better.includes(row.beta)).map(({ row }) => row.beta),
      lessAccurateAt: costs.map(({ row }) => row.beta),
      // Where holding up costs the most accuracy.
      costliest: paid.reduce((most, { row }) => (most && most.difference <= row.difference ? most : row), null),
      gain: sum(cells.map(({ row }) => row.improvement || 0)),
    };
  });
  techniques.sort(
    (a, b) =>
      (b.upTo ?? -1) - (a.upTo ?? -1) || (a.lessAccurateAt.length > 0) - (b.lessAccurateAt.length > 0) || b.gain - a.gain,
  );
  return { ...reach, techniques, traded: lost.length > 0 };
}
