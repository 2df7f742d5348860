"use strict";
// At one level of bias: which technique, what it costs, whom it accepts. The sentences are those of
// benchmark/tables/answers.py, for any baseline and any choice of techniques.

const DISCRIMINATION = "discrimination";

// In the order in which rows are shown.
const VERDICTS = [
  ...["recommended", "candidate", "outdone", "baseline", "no_less", "worse", "not_compared", "unknown"],
  ...["one_group", "below_constant", "incomplete", "missing", "degenerate"],
];

const meanOf = (values) => (values.length ? sum(values) / values.length : NaN);
const number = (value) => fixed(value, 3);
// A number above a limit with so many decimals that it is seen to be above.
function beyond(value, limit) {
  const texts = [3, 4, 5, 6, 7].map((digits) => fixed(value, digits));
  return texts.find((text) => Number(text) > limit) ?? texts.at(-1);
}
const signed = (value) => (Number(number(value)) > 0 ? `+${number(value)}` : number(value));
const bracket = (show, low, high) => (Number.isFinite(low) ? ` [${show(low)}, ${show(high)}]` : "");
// Whether discrimination is of either sign to such an extent that its mean hides it.
const changesSign = (row) => number(row.distance) !== number(Math.abs(row.value));
// Means of shares that differ by no more are held equal.
const EQUAL = 1e-6;
const isConstant = (share) => share < 1 - run.nearlyAll - EQUAL || share > run.nearlyAll + EQUAL;

const changeText = (change, low, high) => (Number.isFinite(change) ? signed(change) + bracket(signed, low, high) : "–");

// A share in percent, with a decimal where it is close to none or to all.
function share(value) {
  if (!Number.isFinite(value)) return "–";
  const percent = 100 * value;
  if (percent > 0 && percent < 0.05) return "<0.1 %";
  if (percent >= 99.95 && percent < 100) return ">99.9 %";
  const whole = percent === 0 || percent === 100 || (percent >= 1 && percent <= 99);
  return `${fixed(percent, whole ? 0 : 1)} %`;
}

const acceptsText = (accepted) => accepted.map(share).join(" / ");
function signOf(row) {
  if (row.degenerate) return run.signs.degenerate;
  return row.below ? run.signs.below : oneGroupWords(row) ? run.signs.oneGroup : "";
}

// Which group gets nearly always the same answer, and which.
function oneGroupWords(row) {
  const most = (100 * run.nearlyAll).toFixed(0);
  for (const [group, share] of [["deprived", row.accepted[1]], ["favored", row.accepted[2]]]) {
    if (isConstant(share)) return `${share < 0.5 ? "refuses" : "accepts"} more than ${most} % of the ${group} group`;
  }
  return "";
}

function verdictOf(row) {
  if (row.isBaseline) return "baseline";
  if (row.degenerate) return "degenerate";
  if (Number.isNaN(row.value)) return "missing";
  if (row.missing > 0 || (row.pairs > 0 && row.pairs < row.n)) return "incomplete";
  if (row.below) return "below_constant";
  if (Number.isNaN(row.accepted[0]) || Number.isNaN(row.accuracy)) return "unknown";
  if (row.baselineDegenerate || Number.isNaN(row.change)) return "not_compared";
  if ((row.better || row.candidate) && oneGroupWords(row)) return "one_group";
  if (row.better) return "recommended";
  return row.candidate ? "candidate" : row.worse ? "worse" : "no_less";
}

const isChosen = ({ verdict }) => verdict === "recommended" || verdict === "candidate";

// Which of the recommended techniques another one outdoes: it is no farther from 0 and as accurate or more, in the
// mean. And which are choices: the one that leaves the least, and the one that does so at next to no cost.
function withChoices(rows) {
  const round = (value) => Number(value.toFixed(6));
  const chosen = rows.filter(isChosen).map((row) => ({ row, left: round(row.distance), accuracy: round(row.accuracy) }));
  const position = ({ row }) => run.techniques.indexOf(row.technique);
  chosen.sort((a, b) => a.left - b.left || b.accuracy - a.accuracy || position(a) - position(b));
  let best = chosen[0];
  for (const own of chosen) {
    if (own !== best && best.accuracy >= own.accuracy) Object.assign(own.row, { outdoneBy: best.row.technique, verdict: "outdone" });
    else best = own;
  }
  const cheap = chosen.find(({ row }) => !row.outdoneBy && row.accuracyChange >= -run.rope - EQUAL)?.row;
  for (const row of rows) row.choice = [row === chosen[0]?.row ? "least" : "", row === cheap ? "cheap" : ""].join(" ").trim();
  const order = (row) => VERDICTS.indexOf(row.verdict);
  const size = (row) => (Number.isNaN(row.distance) ? Infinity : round(row.distance));
  return rows.sort(
    (a, b) =>
      order(a) - order(b) ||
      (size(a) === size(b) ? position({ row: a }) - position({ row: b }) : size(a) - size(b)),
  );
}

const allSigns = (row) =>
  [signOf(row), row.levelsDown ? run.signs.levelsDown : "", row.inside ? run.signs.inside : ""].filter(Boolean).join(" ");

const choicesOf = (rows) => ["least", "cheap"].map((name) => rows.find((row) => row.choice.split(" ").includes(name)));

// What a technique leaves and costs, in short.
function choiceText(row) {
  const own = [row.technique.title, allSigns(row)].filter(Boolean).join(" ");
  const hidden = changesSign(row) ? ` (${number(row.distance)} from 0)` : "";
  const cost = row.isBaseline ? "" : ` (${changeText(row.accuracyChange)})`;
  return `${own}: ${number(row.value)}${hidden}, accuracy ${number(row.accuracy)}${cost}`;
}

// The baseline and the choices at one level of bias.
function choiceRow(rows) {
  const baseline = rows.filter((row) => row.isBaseline).map(choiceText).join("; ");
  const [least, cheap] = choicesOf(rows);
  if (!least) return [baseline, "none recommended", ""];
  const only = least.verdict === "candidate" ? "candidate: " : "";
  const other = !cheap ? "none" : cheap === least ? "the same" : only + choiceText(cheap);
  return [baseline, only + choiceText(least), other];
}

// One row for each technique shown at a level of bias, recommended ones and candidates first, degenerate ones last. Nothing
// where the page lacks one of the two metrics.
function answersOf(scenario, baseline, beta, shown = run.techniques) {
  const [metric, accuracy] = [DISCRIMINATION, ACCURACY].map((name) => run.metrics.find((own) => own.name === name));
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
    return { ...answer, verdict: verdictOf(answer), outdoneBy: null };
  });
  // No greater share of the deprived group is accepted than by the baseline, and a smaller one of the favored.
  for (const row of found) {
    const before = found.find((own) => own.technique === row.baseline)?.accepted ?? [NaN, NaN, NaN];
    const [, deprived, favored] = row.accepted.map((share, i) => share - before[i]);
    row.levelsDown = isChosen(row) && deprived <= EQUAL && favored < -EQUAL;
  }
  const several = new Set(found.map((row) => row.baseline)).size > 1;
  for (const row of found) row.ofSeveral = several;
  return withChoices(found.filter((row) => row.isBaseline || shown.includes(row.technique)));
}

// Why a technique is not recommended, and what its mean discrimination hides.
function remarksOf(row) {
  const compared = row.ofSeveral ? [`compared with ${row.baseline.title}`] : [];
  const found = row.verdict === "baseline" ? ["baseline"] : [...compared, ...row.choice.split(" ").filter(Boolean)];
  if (row.verdict === "candidate") found.push(`candidate: ${run.candidate}`);
  if (row.verdict === "outdone") found.push(`outdone by ${row.outdoneBy.title}`);
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
  if (row.inside) found.push(run.inside.words);
  if (row.verdict === "no_less") found.push(row.tested ? "no significant difference" : "no clear difference, untested");
  if (row.verdict === "worse") found.push(row.tested ? "significantly more discrimination" : "more discrimination");
  return found.join("; ");
}

// What the signs beside techniques mean, each only where it occurs.
function signNotes(rows) {
  const notes = rows.some((row) => row.levelsDown) ? [run.levelsDown] : [];
  if (rows.some((row) => row.inside)) notes.push(run.inside.note);
  if (rows.some((row) => row.degenerate)) {
    const most = (100 * run.nearlyAll).toFixed(0);
    notes.push(
      `${run.signs.degenerate} answers ${run.sameAnswer} (accepts less than ` +
        `${(100 - 100 * run.nearlyAll).toFixed(0)} % or more than ${most} % of all, or of each group): not ranked, ` +
        `and never recommended.`,
    );
  }
  const below = rows.find((row) => row.below && !row.degenerate);
  if (below) notes.push(`${run.signs.below} ${below.below}: never recommended.`);
  if (rows.some((row) => signOf(row) === run.signs.oneGroup)) {
    const most = `${(100 * run.nearlyAll).toFixed(0)} %`;
    notes.push(`${run.signs.oneGroup} refuses or accepts more than ${most} of one of the groups: never recommended.`);
  }
  return notes;
}

const BETTER_OFF = "the deprived group is better off";
const isNegative = (value) => Number(number(value)) < 0;

function gainAndCost(row) {
  const hidden = changesSign(row) ? ` (of either sign, on average ${number(row.distance)} from 0)` : "";
  const gain = changeText(row.change, row.changeLow, row.changeHigh);
  const cost = changeText(row.accuracyChange, row.accuracyChangeLow, row.accuracyChangeHigh);
  const [, deprived, favored] = row.accepted;
  return (
    `${number(row.value)}${hidden} (change ${gain}) at accuracy ${number(row.accuracy)} (change ${cost}); it accepts ` +
    `${share(deprived)} of the deprived and ${share(favored)} of the favored` +
    (row.levelsDown ? ", and so no more of the deprived than the baseline" : "")
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

function ofTheRest(rows, nor) {
  const of = (...verdicts) => rows.filter((row) => verdicts.includes(row.verdict));
  const named = [
    ["outdone", ["is", "are"], "outdone by a recommended one, which is no farther from 0 and as accurate or more"],
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
  if (of("no_less").length) parts.push(`${of("no_less").length} ${nor}`);
  const worse = of("worse");
  if (worse.length) {
    parts.push(`${worse.length} with ${worse[0].tested ? "significantly " : ""}more discrimination (${titlesOf(worse)})`);
  }
  return parts.length ? [`Not recommended: ${parts.join("; ")}.`] : [];
}

// What a baseline leaves; of several, of which techniques it is the one.
function ofBaseline(baseline, scenario, others) {
  const name = baseline.technique.title;
  const own = others.filter((row) => row.baseline === baseline.technique).map((row) => row.technique.title);
  const of = others.length ? ` of ${own.join(" and ")}` : "";
  const sentences = [];
  if (Number.isNaN(baseline.value)) {
    sentences.push(`The baseline${of}, ${name}, has no value here: nothing is compared with it.`);
  } else {
    const at = Number.isFinite(baseline.accuracy) ? ` at accuracy ${number(baseline.accuracy)}` : "";
    const better = isNegative(baseline.value) ? ` (${BETTER_OFF})` : "";
    const below = baseline.below ? `, ${baseline.below} (${number(scenario.constant.accuracy)})` : "";
    const groups = oneGroupWords(baseline) ? `; it ${oneGroupWords(baseline)}` : "";
    const hidden = changesSign(baseline) ? ` (of either sign, on average ${number(baseline.distance)} from 0)` : "";
    const left = `${number(baseline.value)}${hidden}${better}`;
    sentences.push(`The baseline${of}, ${name}, leaves a discrimination of ${left}${at}${below}${groups}.`);
  }
  if (baseline.baselineDegenerate) {
    const none = of ? "nothing is compared with it here" : "no technique is compared with it here, and none is recommended";
    sentences.push(`It ${baseline.degenerate}: ${none}.`);
  } else if (baseline.degenerate) {
    sentences.push(`${run.signs.degenerate} It ${baseline.degenerate}; ${NEVERTHELESS}.`);
  }
  return sentences;
}

// Which technique to choose at one level of bias: the gain, the cost, and what is left out.
function answerSentences(rows, scenario) {
  const baselines = rows.filter((row) => row.isBaseline);
  const others = rows.filter((row) => !row.isBaseline);
  const sentences = baselines.flatMap((row) => ofBaseline(row, scenario, baselines.length > 1 ? others : []));
  if (!others.length) return [...sentences, "No other technique was run."];
  if (rows.every((row) => Number.isNaN(row.accepted[0]))) {
    return [...sentences, run.unknownShares, "No technique is recommended."];
  }
  const [less, nor] = wordsForLess(rows);
  const chosen = others.filter(isChosen);
  const rest = ofTheRest(others.filter((row) => !isChosen(row)), nor);
  if (!chosen.length) {
    if (!baselines.every((row) => row.baselineDegenerate || Number.isNaN(row.value))) sentences.push("No technique is recommended.");
    return [...sentences, ...rest];
  }
  const [least, cheap] = choicesOf(chosen);
  const one = chosen.length === 1;
  const left = (title, row) => {
    const only = row.verdict === "candidate" ? `, a candidate (${run.candidate})` : "";
    return `${title} is left by ${row.technique.title}${only}: ${gainAndCost(row)}.`;
  };
  sentences.push(left(run.choices.least, least));
  const alsoCheap = `It costs at most ${run.rope} of accuracy, so that it is the cheap choice as well.`;
  if (cheap) sentences.push(cheap === least ? alsoCheap : left(run.choices.cheap, cheap));
  if (!cheap) {
    const cost = Math.max(...chosen.map((row) => row.accuracyChange));
    sentences.push(`Every one of them loses more than ${run.rope} of accuracy, ${beyond(-cost, run.rope)} or more.`);
  }
  let kind = "recommended";
  if (least.verdict === "candidate") kind = `${one ? "a candidate" : "candidates"}, and none is recommended`;
  const useful = scenario.constant ? `, ${one ? "is" : "are"} at least as accurate as ${scenario.constant.words}` : "";
  const techniques = `${others.length} technique${others.length === 1 ? "" : "s"}`;
  sentences.push(
    `${chosen.length} of ${techniques} ${one ? "is" : "are"} ${kind}: ${one ? "it leaves" : "they leave"} ${less}${useful}, ` +
      "and no other such technique is as good or better in both.",
  );
  if (!scenario.constant) sentences.push("What a constant answer would score is not recorded.");
  return [...sentences, ...rest];
}
