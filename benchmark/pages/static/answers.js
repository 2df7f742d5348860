"use strict";
// At one level of bias: which technique, what it costs, whom it accepts. The sentences are those of
// benchmark/tables/answers.py, for any baseline and any choice of techniques.

const LEAST = "discrimination";

// In the order in which rows are shown.
const VERDICTS = [
  ...["recommendable", "candidate", "baseline", "no_less", "worse", "not_compared", "unknown"],
  ...["one_group", "below_constant", "incomplete", "missing", "degenerate"],
];

const meanOf = (values) => (values.length ? sum(values) / values.length : NaN);
const number = (value) => fixed(value, 3);
const signed = (value) => (Number(number(value)) > 0 ? `+${number(value)}` : number(value));
const bracket = (show, low, high) => (Number.isFinite(low) ? ` [${show(low)}, ${show(high)}]` : "");
const HIDDEN = 0.01;
// Whether discrimination is of either sign to such an extent that its mean hides it.
const changesSign = (row) => row.distance - Math.abs(row.value) >= HIDDEN;

const changeText = (change, low, high) => (Number.isFinite(change) ? signed(change) + bracket(signed, low, high) : "–");

// A share in percent, with a decimal where it is close to none or to all.
function share(value) {
  if (!Number.isFinite(value)) return "–";
  const percent = 100 * value;
  if (percent > 0 && percent < 0.05) return "<0.1 %";
  if (percent >= 99.95 && percent < 100) return ">99.9 %";
  const whole = percent === 0 || percent === 100 || (percent >= 1 && percent <= 99);
  return `${percent.toFixed(whole ? 0 : 1)} %`;
}

const acceptsText = (accepted) => accepted.map(share).join(" / ");
const signOf = (row) => (row.degenerate ? run.signs.degenerate : row.below ? run.signs.below : "");

// Which group gets nearly always the same answer, and which.
function oneGroupWords(row) {
  const most = (100 * run.nearlyAll).toFixed(0);
  for (const [group, share] of [["deprived", row.accepted[1]], ["favored", row.accepted[2]]]) {
    if (share < 1 - run.nearlyAll) return `refuses more than ${most} % of the ${group} group`;
    if (share > run.nearlyAll) return `accepts more than ${most} % of the ${group} group`;
  }
  return "";
}

function verdictOf(row) {
  if (row.isBaseline) return "baseline";
  if (row.degenerate) return "degenerate";
  if (Number.isNaN(row.value)) return "missing";
  if (row.missing > 0 || (row.pairs > 0 && row.pairs < row.n)) return "incomplete";
  if (row.below) return "below_constant";
  if (Number.isNaN(row.accepted[0])) return "unknown";
  if (row.baselineDegenerate || Number.isNaN(row.change)) return "not_compared";
  if (row.candidate) return oneGroupWords(row) ? "no_less" : "candidate";
  if (row.better && oneGroupWords(row)) return "one_group";
  return row.better ? "recommendable" : row.worse ? "worse" : "no_less";
}

// Whether a row is named as a choice.
const isChosen = ({ verdict }) => verdict === "recommendable" || verdict === "candidate";

// One row for each technique at a level of bias, recommendable ones and candidates first, degenerate ones last. Nothing where the
// page lacks one of the two metrics.
function answersOf(scenario, baseline, beta) {
  const [metric, accuracy] = [LEAST, ACCURACY].map((name) => run.metrics.find((own) => own.name === name));
  if (!metric || !accuracy) return [];
  const [main, cost] = [metric, accuracy].map((own) => marksOf(scenario, baseline, own));
  const costs = new Map(cost.marks.filter(({ row }) => row.beta === beta).map((found) => [found.row.technique, found]));
  const found = main.marks.filter(({ row }) => row.beta === beta).map(({ row, mark, candidate }) => {
    const { row: own, mark: lost } = costs.get(row.technique);
    const change = (of) => (of.isBaseline ? (of.n ? 0 : NaN) : of.difference);
    const answer = {
      ...row,
      value: row.mean,
      // More than that of the mean where the sign differs from repetition to repetition.
      distance: meanOf([...row.values].filter((value) => !Number.isNaN(value)).map(Math.abs)),
      change: change(row),
      changeLow: row.differenceLow,
      changeHigh: row.differenceHigh,
      tested: main.testable && !row.isBaseline,
      better: mark === "better",
      candidate,
      worse: mark === "worse",
      accuracy: own.mean,
      accuracyLow: own.low,
      accuracyHigh: own.high,
      accuracyChange: change(own),
      accuracyChangeLow: own.differenceLow,
      accuracyChangeHigh: own.differenceHigh,
      lessAccurate: lost === "worse",
    };
    return { ...answer, verdict: verdictOf(answer) };
  });
  const order = (row) => VERDICTS.indexOf(row.verdict);
  const size = (row) => (Number.isNaN(row.distance) ? Infinity : row.distance);
  return found.sort((a, b) => order(a) - order(b) || (size(a) === size(b) ? 0 : size(a) - size(b)));
}

// Why a technique is not recommended, and what its mean discrimination hides.
function remarksOf(row) {
  const found = row.verdict === "baseline" ? ["baseline"] : [];
  if (row.verdict === "candidate") found.push(`candidate: ${run.candidate}`);
  if (row.degenerate) found.push(row.degenerate);
  if (row.below) found.push(row.below);
  if (row.missing > 0) found.push(`a value in ${row.n} of ${row.n + row.missing} samples`);
  if (!row.isBaseline && row.pairs > 0 && row.pairs < row.n) {
    found.push(`compared with the baseline on ${row.pairs} of ${row.n + row.missing} samples`);
  }
  if (changesSign(row)) found.push(`of either sign, on average ${number(row.distance)} from 0`);
  if (row.verdict === "unknown") found.push("shares accepted not recorded");
  if (row.verdict === "not_compared") found.push("not compared");
  if (!row.degenerate && oneGroupWords(row)) found.push(oneGroupWords(row));
  if (row.verdict === "no_less") found.push(row.tested ? "no significant difference" : "no clear difference, untested");
  if (row.verdict === "worse") found.push(row.tested ? "significantly more discrimination" : "more discrimination");
  return found.join("; ");
}

// What the signs beside techniques mean, each only where it occurs.
function signNotes(rows) {
  const notes = [];
  if (rows.some((row) => row.degenerate)) {
    const most = (100 * run.nearlyAll).toFixed(0);
    notes.push(
      `${run.signs.degenerate} answers ${run.sameAnswer} (accepts less than ` +
        `${(100 - 100 * run.nearlyAll).toFixed(0)} % or more than ${most} % of all, or of each group): not ranked, ` +
        `and never recommended.`,
    );
  }
  const below = rows.find((row) => row.below && !row.degenerate);
  return below ? [...notes, `${run.signs.below} ${below.below}: never recommended.`] : notes;
}

const BETTER_OFF = "the deprived group is better off";
const isNegative = (value) => Number(number(value)) < 0;

// A difference as a positive number with a word for its direction.
function differenceText(change, low, high) {
  if (!Number.isFinite(change)) return "change unknown";
  const less = change < 0;
  const [size, from, to] = less ? [-change, -high, -low] : [change, low, high];
  const interval = bracket(number, from, to);
  return Number(number(size)) ? `${number(size)} ${less ? "less" : "more"}${interval}` : `no change${interval}`;
}

function gainAndCost(row, baseline) {
  const ends = [row.change, row.changeLow, row.changeHigh];
  let gain = differenceText(...ends);
  if (changesSign(row) || changesSign(baseline)) {
    // Means of either sign hide how far samples are from 0.
    const nearer = baseline.distance - row.distance;
    gain = `on average ${number(Math.abs(nearer))} ${nearer > 0 ? "nearer to" : "farther from"} 0`;
  } else if (isNegative(row.value) || isNegative(baseline.value)) {
    // "Less" would be ambiguous on the other side of zero.
    gain = `${isNegative(row.value) ? `${BETTER_OFF}; ` : ""}change ${changeText(...ends)}`;
  }
  const either = changesSign(row) ? `, of either sign and on average ${number(row.distance)} from 0` : "";
  const cost = differenceText(row.accuracyChange, row.accuracyChangeLow, row.accuracyChangeHigh);
  const [, deprived, favored] = row.accepted;
  return (
    `${number(row.value)}${either} (${gain}) at accuracy ${number(row.accuracy)} (${cost}); it accepts ` +
    `${share(deprived)} of the deprived and ${share(favored)} of the favored`
  );
}

const MOST_LISTED = 8;

function titlesOf(rows, most = MOST_LISTED) {
  const shown = rows.slice(0, most).map((row) => row.technique.title);
  // Titles may hold commas.
  return shown.join("; ") + (rows.length > most ? `; and ${rows.length - most} more` : "");
}

// What techniques to choose leave, and what others do not.
function wordsForLess(rows) {
  if (rows.some((row) => row.tested)) {
    return ["significantly less discrimination", "without significantly less discrimination"];
  }
  if (Math.max(...rows.map((row) => row.n)) > 1) {
    return [
      `less discrimination, by more than ${run.rope} on average and with an interval without 0 ` +
        "(untested for want of repetitions)",
      `without less discrimination by more than ${run.rope} and an interval without 0`,
    ];
  }
  return [
    `less discrimination by more than ${run.rope} (${run.candidate})`,
    `without less discrimination by more than ${run.rope}`,
  ];
}

const NEVERTHELESS = "techniques are compared with it nevertheless";

// Where nothing is compared with the baseline, and where it is degenerate nevertheless, and why; of its cells of a metric.
function baselineNotes(rows) {
  const found = new Map();
  for (const row of rows.filter((own) => own.degenerate)) {
    const key = `${row.mostlyConstant} ${row.degenerate}`;
    found.set(key, [...(found.get(key) ?? []), row]);
  }
  return [...found.values()].map((own) => {
    const [{ technique, degenerate, mostlyConstant }] = own;
    const betas = `β = ${own.map(({ beta }) => beta).join(", ")}`;
    return mostlyConstant
      ? `At ${betas} nothing is compared with the baseline, ${technique.title}: it ${degenerate}.`
      : `${run.signs.degenerate} The baseline, ${technique.title}, ${degenerate} at ${betas}; ${NEVERTHELESS}.`;
  });
}

function ofTheRest(rows, nor) {
  const of = (...verdicts) => rows.filter((row) => verdicts.includes(row.verdict));
  const named = [
    ["degenerate", ["that answers", "that answer"], run.sameAnswer],
    ["below_constant", ["that is", "that are"], of("below_constant")[0]?.below],
    ["one_group", ["gives", "give"], "one of the groups nearly always the same answer"],
    ["incomplete", ["", ""], "not compared in every sample"],
    ["missing", ["", ""], "without any value"],
    ["unknown", ["", ""], "without a record of the shares accepted"],
  ];
  const parts = named.flatMap(([name, verbs, words]) => {
    const own = of(name);
    const said = [String(own.length), verbs[Number(own.length > 1)], words].filter(Boolean).join(" ");
    return own.length ? [`${said} (${titlesOf(own)})`] : [];
  });
  if (of("not_compared").length) parts.push(`${of("not_compared").length} not compared with the baseline`);
  if (of("no_less", "worse").length) parts.push(`${of("no_less", "worse").length} ${nor}`);
  return parts.length ? [`Not recommended: ${parts.join("; ")}.`] : [];
}

// Which technique to choose at one level of bias: the gain, the cost, and what is left out.
function answerSentences(rows, scenario) {
  const baseline = rows.find((row) => row.isBaseline);
  const others = rows.filter((row) => !row.isBaseline);
  const name = baseline.technique.title;
  const sentences = [];
  if (Number.isNaN(baseline.value)) {
    sentences.push(`The baseline, ${name}, has no value here: nothing is compared with it.`);
  } else {
    const at = Number.isFinite(baseline.accuracy) ? ` at accuracy ${number(baseline.accuracy)}` : "";
    const better = isNegative(baseline.value) ? ` (${BETTER_OFF})` : "";
    const below = baseline.below ? `, ${baseline.below} (${number(scenario.constant.accuracy)})` : "";
    sentences.push(`The baseline, ${name}, leaves a discrimination of ${number(baseline.value)}${better}${at}${below}.`);
  }
  if (baseline.baselineDegenerate) {
    sentences.push(`It ${baseline.degenerate}: no technique is compared with it here, and none is recommended.`);
  } else if (baseline.degenerate) {
    sentences.push(`${run.signs.degenerate} It ${baseline.degenerate}; ${NEVERTHELESS}.`);
  }
  if (!others.length) return [...sentences, "No other technique was run."];
  if (rows.every((row) => Number.isNaN(row.accepted[0]))) {
    return [...sentences, run.unknownShares, "No technique is recommended."];
  }
  const [less, nor] = wordsForLess(rows);
  const chosen = others.filter(isChosen);
  const rest = ofTheRest(others.filter((row) => !isChosen(row)), nor);
  if (!chosen.length) {
    if (!baseline.baselineDegenerate && !Number.isNaN(baseline.value)) sentences.push("No technique is recommended.");
    return [...sentences, ...rest];
  }
  const one = chosen.length === 1;
  const useful = scenario.constant ? ` and ${one ? "is" : "are"} at least as accurate as ${scenario.constant.words}` : "";
  const techniques = `${others.length} technique${others.length === 1 ? "" : "s"}`;
  let leave = one ? "leaves" : "leave";
  if (chosen[0].verdict === "candidate") {
    leave = one ? `is a candidate: it ${leave}` : `are candidates: they ${leave}`;
    sentences.push("No technique is recommended.");
  }
  sentences.push(`${chosen.length} of ${techniques} ${leave} ${less}${useful}.`);
  if (!scenario.constant) sentences.push("What a constant answer would score is not recorded.");
  const [fairest] = chosen;
  const best = chosen.reduce((found, row) => (row.accuracy > found.accuracy ? row : found));
  const also = !one && best === fairest ? " It is also the most accurate of these." : "";
  const start = one ? "It is" : "Least is left by";
  sentences.push(`${start} ${fairest.technique.title}: ${gainAndCost(fairest, baseline)}.${also}`);
  const equal = chosen.slice(1).filter((row) => number(row.distance) === number(fairest.distance));
  if (equal.length) sentences.push(`As little, to three decimals, is left by ${titlesOf(equal)}.`);
  if (best !== fairest) {
    sentences.push(`Most accurate of these is ${best.technique.title}: ${gainAndCost(best, baseline)}.`);
  }
  return [...sentences, ...rest];
}
