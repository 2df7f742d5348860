"""At this level of bias, which technique, at what cost: the words, signs and order of every such answer.

Tables, pages and the terminal take their sentences from here, so that all of them say the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from benchmark.columns import UNTREATED
from benchmark.runs.descriptions import RunDescription
from benchmark.runs.frames import Scenario
from benchmark.runs.standing_marks import (
    BELOW_CONSTANT,
    DEGENERATE,
    INSIDE_FRONTIER,
    ONE_GROUP,
    below_constant_words,
)
from benchmark.statistics.answers import EITHER_CONSTANT, NEARLY_ALL, VERDICTS, random_accuracy
from benchmark.statistics.choices import CHEAP, CHOICES, COMPARED_WITH, LEAST, RESTORES, TO_CHOOSE
from benchmark.statistics.frames import SCENARIO, Baseline, ScenarioKey
from benchmark.statistics.unprocessing import INSIDE
from benchmark.tables.choice_words import (
    CANDIDATE,
    DOING_NOTHING,
    better_in_both,
    change_text,
    changes,
    changes_sign,
    choice_sentence,
    choice_title,
    choice_words,
    fall_words,
    falls,
    few_sentences,
    gain_and_cost,
    less_words,
    one_group_words,
    recommended_as_well,
    restored_sentences,
    several,
    tie_sentences,
    too_few_words,
)
from benchmark.text.words import beyond, number, share

SAME_ANSWER = "nearly everybody, or each group, the same in at least one sample"
"""What such techniques answer."""

INERT = "bias as it is planted here has no effect: one level stands for all"
"""Said where only one level of bias is shown."""

UNKNOWN_SHARES = (
    "Who is accepted is not recorded in these results, so that techniques that answer nearly everybody, or "
    "each group, the same cannot be told from others. Run the experiment again; what is stored is not "
    "trained again."
)
"""Said of the results of earlier versions."""

UNKNOWN_CONSTANT = "What a constant answer would score on these rows is not recorded."
"""Said where it is unknown, so that nothing can be recommended."""

_LACKING = {True: "the shares accepted", False: "what a constant answer would score"}
UNRECORDED = {lacks: f"{words} not recorded" for lacks, words in _LACKING.items()}
"""What is lacking of a technique that cannot be judged, by whether its shares accepted are."""

LEVELS_DOWN = "↓"
"""Sign of a technique that helps nobody."""

LEVELS_DOWN_NOTE = (
    f"{LEVELS_DOWN} accepts no more of the deprived group than the baseline: discrimination fell because "
    "fewer of the favored group are accepted."
)
"""What the sign means."""

INSIDE_WORDS = "inside the unprocessing frontier"
"""What a technique is that thresholds on the best unconstrained scores outdo."""

INSIDE_NOTE = (
    f"{INSIDE_FRONTIER} {INSIDE_WORDS}: at no more discrimination, thresholds by group on the scores of the "
    "most accurate classifier without mitigation are more accurate (the 95 % interval of the difference lies "
    "below 0)."
)
"""What the sign means."""

ANSWER_HEADINGS = (
    "Technique",
    "Discrimination",
    "change",
    "Accuracy",
    "change",
    "Accepts: all / deprived / favored",
    "Remarks",
)
"""Columns of :func:`answer_rows`."""

# Verdicts on techniques that are not recommended, in the order of sentences.
_REJECTED = (
    "outdone",
    *("degenerate", "below_constant", "one_group", "too_few", "incomplete", "missing", "unknown"),
    *("not_compared", "no_less", "worse"),
)
_NEVERTHELESS = "techniques are compared with it nevertheless"


def reading(run: RunDescription) -> str:
    """Say how the numbers of an answer are to be read."""
    tested = "Accuracy is that on test rows without planted bias."
    if note := run.tests_note:
        tested = f"All numbers are those on the test data that a heading names. {note}"
    return (
        "Discrimination: the share of the favored group that is predicted the favorable outcome minus that "
        "of the deprived group; 0 is equal acceptance, and below it the deprived group is ahead. "
        f"{tested} Accepts: the share that is predicted the favorable outcome. Changes are to the baseline, "
        "on the same samples. Where discrimination is of either sign in different samples, its mean distance "
        "from 0, by which techniques are compared, is given as well. "
        f"{run.protocol.scope_text} A technique is recommended by an interval that allows for how many "
        "techniques are compared, and so is wider than the intervals shown. What is not shown may still be "
        "there."
    )


def mark(row: Any) -> str:
    """Return the sign that belongs beside a technique's name, or nothing.

    Rows of :func:`~benchmark.statistics.answers.standings` and of
    :func:`~benchmark.statistics.answers.answer_table` have what it needs.
    """
    signs = {DEGENERATE: row.n_degenerate > 0, BELOW_CONSTANT: row.below_constant, ONE_GROUP: row.one_group}
    return next((sign for sign, applies in signs.items() if applies), "")


def signed_title(row: Any, titles: Mapping[str, str]) -> str:
    """Return the title of an answer's technique with its signs: :func:`mark` and two that may join it."""
    more = {LEVELS_DOWN: row.levels_down, INSIDE_FRONTIER: is_inside(row)}
    signs = [mark(row), *(sign for sign, applies in more.items() if applies)]
    return " ".join(filter(None, [titles[row.technique], *signs]))


def is_inside(row: Any) -> bool:
    """Whether an answer's technique is inside the unprocessing frontier; not if there is none."""
    return getattr(row, "frontier", "") == INSIDE


def mark_notes(rows: pd.DataFrame) -> list[str]:
    """Explain the signs that :func:`mark` gives to rows, each only where it occurs."""
    notes = []
    if "levels_down" in rows.columns and rows["levels_down"].any():
        notes.append(LEVELS_DOWN_NOTE)
    if "frontier" in rows.columns and rows["frontier"].eq(INSIDE).any():
        notes.append(INSIDE_NOTE)
    if (rows["n_degenerate"] > 0).any():
        notes.append(
            f"{DEGENERATE} answers {SAME_ANSWER} (accepts less than {100 - 100 * NEARLY_ALL:.0f} % or more "
            f"than {100 * NEARLY_ALL:.0f} % of all, or of each group): not ranked, and never recommended."
        )
    below = rows[(rows["n_degenerate"] == 0) & rows["below_constant"].eq(True)]
    if len(below):
        answers = list(dict.fromkeys(below["constant_answer"]))
        either = EITHER_CONSTANT if EITHER_CONSTANT in answers else " or ".join(answers)
        what = answers[0] if len(answers) == 1 else f"the best constant answer ({either})"
        notes.append(f"{BELOW_CONSTANT} {below_constant_words(what)}: never recommended.")
    if any(mark(row) == ONE_GROUP for row in rows.itertuples(index=False)):
        most = f"{100 * NEARLY_ALL:.0f} %"
        notes.append(
            f"{ONE_GROUP} refuses or accepts more than {most} of one of the groups: never recommended."
        )
    return notes


def baseline_notes(standing: pd.DataFrame, titles: Mapping[str, str]) -> list[str]:
    """Say where nothing is compared with a baseline, and where it is degenerate nevertheless, and why.

    ``standing`` are rows of :func:`~benchmark.statistics.answers.standings`, of one scenario, and ``titles``
    those of its baselines.
    """
    notes = []
    for name, title in titles.items():
        own = standing[(standing["technique"] == name) & (standing["n_degenerate"] > 0)].sort_values("beta")
        for (constant, words), rows in own.groupby(["mostly_constant", "degenerate"], sort=False):
            betas = f"β = {', '.join(f'{beta:g}' for beta in rows['beta'])}"
            notes.append(
                f"At {betas} nothing is compared with the baseline, {title}: it {words}."
                if constant
                else f"{DEGENERATE} The baseline, {title}, {words} at {betas}; {_NEVERTHELESS}."
            )
    return notes


def spots(answers: pd.DataFrame) -> Iterator[tuple[ScenarioKey, float, pd.DataFrame]]:
    """Yield names of a scenario, level of bias, and its rows :func:`in_order`."""
    for (*names, beta), own in answers.groupby([*SCENARIO, "beta"], sort=False):
        dataset, bias, classifier, test = map(str, names)
        yield (dataset, bias, classifier, test), float(str(beta)), in_order(own)


def is_chosen(row: Any) -> bool:
    """Whether a row of answers is recommended, or a candidate."""
    return row.verdict in TO_CHOOSE


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Sort the rows of one level of bias: recommended ones and candidates first, degenerate ones last.

    Within each verdict those come first that are the nearest to no discrimination, in the mean over the
    samples of how far they are from it: discrimination that changes its sign from sample to sample is none
    the less there.
    """
    keyed = rows.assign(_verdict=rows["verdict"].map(VERDICTS.index), _distance=rows["distance"].round(6))
    ordered = keyed.sort_values(["_verdict", "_distance"], kind="stable")
    return ordered.drop(columns=["_verdict", "_distance"])


def choices(rows: Sequence[Any]) -> dict[str, Any]:
    """Return the rows that are choices at one level of bias by what they are: least, cheap, or both."""
    return {name: row for name in CHOICES for row in rows if name in row.choice.split()}


def choice_text(row: Any, titles: Mapping[str, str]) -> str:
    """Return what a technique leaves and costs: ``"Massaging: 0.037, accuracy 0.825 (-0.016)"``."""
    cost = "" if row.verdict == "baseline" else f" ({change_text(row.accuracy_change, math.nan, math.nan)})"
    hidden = f" ({number(row.distance)} from 0)" if changes_sign(row) else ""
    return f"{signed_title(row, titles)}: {number(row.value)}{hidden}, accuracy {number(row.accuracy)}{cost}"


def scenario_notes(
    scenario: Scenario, titles: Mapping[str, str] | None = None, baseline: Baseline | None = None
) -> list[str]:
    """Say who is deprived, where the bias is planted if not on them, and what a constant answer scores.

    And say whether the bias has an effect and, given ``titles`` of techniques, which one is compared with if
    it is not doing nothing: ``baseline``, by default the one that the experiment names.
    """
    constant = scenario.best_constant
    notes = [
        scenario.dataset.roles,
        planted_elsewhere(scenario),
        _baseline_note(scenario, titles or {}, baseline),
        f"{constant.words}: accuracy {number(constant.accuracy)}" if constant else "",
        INERT if scenario.inert else "",
    ]
    return [note for note in notes if note]


def planted_elsewhere(scenario: Scenario) -> str:
    """Say where bias is planted that is not on the deprived group itself; nothing if it is."""
    dataset = scenario.dataset
    planted = next((own for own in dataset.biases if own.name == scenario.bias), None)
    if planted is None or not planted.acting or not dataset.sensitive_feature:
        return ""
    if all(f"| {dataset.sensitive_feature} = " in edit for edit in planted.acting):
        return ""
    return f"the bias is planted on other groups: {', '.join(planted.acting)}"


def _baseline_note(scenario: Scenario, titles: Mapping[str, str], baseline: Baseline | None) -> str:
    used = scenario.baseline if baseline is None else baseline
    if not isinstance(used, str) or used == UNTREATED or used not in titles:
        return ""
    reason = scenario.dataset.baseline_reason or "as the experiment says"
    return f"baseline: {titles[used]}, {reason if used == scenario.baseline else 'as asked for'}"


def choice_headings(rope: float, *, restores: bool = False) -> tuple[str, ...]:
    """Return the columns of :func:`choice_row`."""
    names = CHOICES if restores else (LEAST, CHEAP)
    return ("β", "Baseline", *(choice_title(name, rope) for name in names))


def choice_row(
    beta: float, rows: pd.DataFrame, titles: Mapping[str, str], *, restores: bool = False
) -> list[str]:
    """Return the baseline and the choices at one level of bias as text; ``rows`` are :func:`in_order`.

    Doing nothing comes before a baseline that is something else. ``restores`` is whether the technique
    nearest to the model without bias has a column.
    """
    found: list[Any] = list(rows.itertuples(index=False))
    shown = [choice_text(row, titles) for row in found if row.verdict == "untreated"]
    shown += [choice_text(row, titles) for row in found if row.verdict == "baseline"] or ["not run"]
    picked = choices(found)
    row = [f"{beta:g}", "; ".join(shown)]
    if LEAST in picked:
        least, cheap = picked[LEAST], picked.get(CHEAP)
        only = "candidate: " if least.verdict == "candidate" else ""
        other = "the same" if cheap is least else only + choice_text(cheap, titles) if cheap else "none"
        row += [only + choice_text(least, titles), other]
    else:
        row += ["none recommended", ""]
    best = picked.get(RESTORES)
    return [*row, choice_text(best, titles) if best else ""] if restores else row


def accepts(row: Any) -> str:
    """Return the shares that a technique accepts, of all, of the deprived and of the favored group."""
    return accepts_text((row.accepted, row.accepted_deprived, row.accepted_favored))


def accepts_text(shares: Iterable[float]) -> str:
    """Return shares accepted as they stand beside each other: ``"17 % / 7 % / 23 %"``."""
    return " / ".join(map(share, shares))


def remarks(row: Any, titles: Mapping[str, str], *, of_several: bool = False) -> str:
    """Say in a few words what a technique is, why it is not recommended, and what its mean hides.

    ``of_several`` is whether there are several baselines, so that its own has to be named.
    """
    own, samples = row.verdict, row.n + row.missing
    one_group = "" if row.n_degenerate else one_group_words(row)
    found = {
        "baseline": own == "baseline",
        f"compared with {titles.get(row.baseline)}": of_several and own != "baseline",
        DOING_NOTHING: own == "untreated",
        "; ".join(choice_words(row)): bool(row.choice or row.tied),
        f"candidate: {CANDIDATE}": own == "candidate",
        f"outdone by {titles.get(row.outdone_by)}": own == "outdone",
        str(row.degenerate): row.n_degenerate > 0,
        below_constant_words(row.constant_answer): row.below_constant,
        f"a value in {row.n} of {samples} samples": row.missing > 0,
        f"compared with the baseline on {row.pairs} of {samples} samples": 0 < row.pairs < row.n,
        f"of either sign, on average {number(row.distance)} from 0": changes_sign(row),
        UNRECORDED[math.isnan(row.accepted)]: own == "unknown",
        too_few_words(row): own == "too_few",
        fall_words(row): is_chosen(row) and falls(row),
        "not compared": own == "not_compared",
        one_group: bool(one_group),
        INSIDE_WORDS: is_inside(row),
        "not shown to be less" if row.tested else "no less in the one sample": own == "no_less",
        "more discrimination": own == "worse",
    }
    return "; ".join(words for words, is_so in found.items() if is_so)


def constant_title(answer: str) -> str:
    """Return what the best constant answer is called in a table: ``"Refusing everybody"``."""
    return answer[:1].upper() + answer[1:]


def answer_rows(rows: pd.DataFrame, titles: Mapping[str, str], most: int | None = None) -> list[list[str]]:
    """Return the rows of one level of bias, which are :func:`in_order`, as text: :data:`ANSWER_HEADINGS`.

    The best constant answer, and the random one where a frontier is known, come after the techniques to
    choose and the baseline. Of more rows than ``most`` only so many are returned, but all techniques to
    choose and what they are measured by, the baseline and the constant and random answers.
    """
    return [cells for _, cells in answer_lines(rows, titles, most)]


def answer_lines(
    rows: pd.DataFrame, titles: Mapping[str, str], most: int | None = None
) -> list[tuple[Any, list[str]]]:
    """Return :func:`answer_rows`, each with the row of answers that it tells; None if it is of none."""
    found: list[Any] = list(rows.itertuples(index=False))
    several = rows["baseline"].nunique() > 1
    known = [row for row in found if row.constant_answer]
    baseline = [row for row in found if row.verdict == "baseline"]
    untreated = [row for row in found if row.verdict == "untreated"]
    chosen = [*untreated, *(row for row in found if is_chosen(row))]
    rest = [row for row in found if not is_chosen(row) and row.verdict not in COMPARED_WITH]
    kinds = [_constant_row, *([_random_row] if "frontier" in rows.columns else [])]
    yardsticks = [(None, make(row)) for row in known[:1] for make in kinds]
    if most is not None and len(found) + len(yardsticks) > most:
        rest = rest[: max(0, most - len(baseline) - len(yardsticks) - len(chosen))]
    first, last = (
        [(row, _text_row(row, titles, several)) for row in own] for own in (chosen + baseline, rest)
    )
    return [*first, *yardsticks, *last]


RANDOM = "Accepting by lot"
"""What the random answer is called in a table."""

RANDOM_REMARK = "in the mean, at the test data's rate of favorable labels"
"""What is said of it there."""


def _text_row(row: Any, titles: Mapping[str, str], of_several: bool) -> list[str]:
    gain, cost = ("", "") if row.verdict == "baseline" else changes(row)
    numbers = [number(row.value), gain, number(row.accuracy), cost]
    said = remarks(row, titles, of_several=of_several)
    return [signed_title(row, titles), *numbers, accepts(row), said]


def _constant_row(row: Any) -> list[str]:
    numbers = [number(0.0), "", number(row.constant_accuracy), ""]
    shares = accepts_text([float(row.constant_answer.startswith("accept"))] * 3)
    return [constant_title(row.constant_answer), *numbers, shares, "the best constant answer"]


def _random_row(row: Any) -> list[str]:
    numbers = [number(0.0), "", number(random_accuracy(row.constant_accuracy)), ""]
    return [RANDOM, *numbers, "", RANDOM_REMARK]


def answer_counts(rows: pd.DataFrame) -> str:
    """Count the techniques of one level of bias by verdict, in one line."""
    found: list[Any] = list(rows.itertuples(index=False))
    baselines = [row for row in found if row.verdict == "baseline"]
    counts = Counter(row.verdict for row in found if row.verdict not in COMPARED_WITH)
    text = f"{counts['recommended'] or 'none'} of {_techniques(counts.total())} recommended"
    if counts["candidate"]:
        several = "s" * (counts["candidate"] > 1)
        text += f"; {counts['candidate']} candidate{several} ({CANDIDATE})"
    if not baselines:
        text += ", because the baseline was not run"
    # Of several, the rows that are not compared say so.
    elif len(baselines) == 1 and math.isnan(baselines[0].value):
        text += ", because the baseline has no value to compare with"
    elif len(baselines) == 1 and baselines[0].baseline_degenerate:
        text += f", because the baseline {DEGENERATE} {baselines[0].degenerate}"
    verdicts = {
        "that cannot be judged": "unknown",
        "outdone": "outdone",
        DEGENERATE: "degenerate",
        BELOW_CONSTANT: "below_constant",
        "with one answer for a group": "one_group",
        "with too few of a group accepted or refused": "too_few",
        "not compared in every sample": "incomplete",
        "without any value": "missing",
        "not compared": "not_compared",
        "not shown to be less": "no_less",
        "with more discrimination": "worse",
    }
    parts = (f"{counts[name]} {words}" for words, name in verdicts.items() if counts[name])
    return "; ".join([text, *parts])


def answer_sentences(rows: pd.DataFrame, titles: Mapping[str, str], *, rope: float) -> list[str]:
    """Say which technique to choose at one level of bias: the gain, the cost, and what is left out.

    The rows are those of one scenario and level of bias of
    :func:`~benchmark.statistics.answers.answer_table`, as :func:`in_order` returns them; ``rope`` is the
    difference up to which two techniques are practically equivalent.
    """
    found: list[Any] = list(rows.itertuples(index=False))
    baselines = [row for row in found if row.verdict == "baseline"]
    untreated = [row for row in found if row.verdict == "untreated"]
    others = [row for row in found if row.verdict not in COMPARED_WITH]
    if not baselines:
        return ["The baseline was not run: nothing is compared with it, and no technique is recommended."]
    sentences = [_of_doing_nothing(row, titles[row.technique]) for row in untreated]
    for baseline in baselines:
        own = [titles[row.technique] for row in others if row.baseline == baseline.technique]
        of = f" of {' and '.join(own)}" if len(baselines) > 1 else ""
        sentences.append(_of_baseline(baseline, titles[baseline.technique], of))
        if baseline.baseline_degenerate:
            sentences.append(
                f"It {baseline.degenerate}: no technique is compared with it here, and none is recommended."
                if not of
                else f"It {baseline.degenerate}: nothing is compared with it here."
            )
        elif baseline.n_degenerate > 0:
            sentences.append(f"{DEGENERATE} It {baseline.degenerate}; {_NEVERTHELESS}.")
    if not others:
        return [*sentences, "No other technique was run."]
    if all(math.isnan(row.accepted) for row in found):
        return [*sentences, UNKNOWN_SHARES, "No technique is recommended."]
    if all(math.isnan(row.constant_accuracy) for row in others):
        sentences.append(UNKNOWN_CONSTANT)
    less, nor = less_words(found, rope)
    chosen = [row for row in others if is_chosen(row)]
    rest = _of_the_rest([row for row in others if not is_chosen(row)], titles, nor)
    if not chosen:
        if not all(row.baseline_degenerate or math.isnan(row.value) for row in baselines):
            sentences.append("No technique is recommended.")
    else:
        sentences += _of_the_chosen(chosen, len(others), titles, less, rope)
    picked = _recommended_choices(chosen)
    sentences += better_in_both(picked, others, titles)
    gain = next((gain_and_cost(row) for row in others if RESTORES in row.choice.split()), "")
    sentences += restored_sentences(found, titles, list(picked.values()), rope, gain)
    return [*sentences, *rest, *few_sentences(others)]


def _of_the_chosen(
    chosen: list[Any], n_others: int, titles: Mapping[str, str], less: str, rope: float
) -> Iterator[str]:
    """Name the choices, what they leave and cost, and count the techniques to choose from."""
    picked, one = _recommended_choices(chosen), len(chosen) == 1
    for name, row in picked.items():
        if name == CHEAP and row is picked[LEAST]:
            yield f"It costs at most {rope:g} of accuracy, so that it is the cheap choice as well."
        else:
            yield choice_sentence(name, row, titles, rope)
    if CHEAP not in picked:
        cost = max(row.accuracy_change for row in chosen)
        least = next(row for row in chosen if row.accuracy_change == cost)
        yield (
            f"Every one of them loses more than {rope:g} of accuracy; {titles[least.technique]} loses the "
            f"least, {beyond(-cost, rope)}."
        )
    yield from tie_sentences(picked, chosen, titles, rope)
    kind = "recommended"
    if chosen[0].verdict == "candidate":
        kind = f"{'a candidate' if one else 'candidates'}, and none is recommended"
    answer = str(chosen[0].constant_answer)
    yield (
        f"{len(chosen)} of {_techniques(n_others)} {'is' if one else 'are'} {kind}: "
        f"{'it leaves' if one else 'they leave'} {less}, and {'is' if one else 'are'} at least as accurate "
        f"as {answer}."
    )
    yield from recommended_as_well(picked, chosen, titles)


def _recommended_choices(chosen: Sequence[Any]) -> dict[str, Any]:
    return {name: row for name, row in choices(chosen).items() if name != RESTORES}


def _of_baseline(row: Any, name: str, of: str = "") -> str:
    if math.isnan(row.value):
        return f"The baseline{of}, {name}, has no value here: nothing is compared with it."
    return _left_by(f"The baseline{of}, {name},", row)


def _of_doing_nothing(row: Any, name: str) -> str:
    if math.isnan(row.value):
        return f"Doing nothing ({name}) has no value here."
    return _left_by(f"Doing nothing ({name})", row)


def _left_by(what: str, row: Any) -> str:
    aside = [
        *([f"of either sign, on average {number(row.distance)} from 0"] if changes_sign(row) else []),
        *(["the deprived group is better off"] if number(row.value).startswith("-") else []),
    ]
    hidden = f" ({'; '.join(aside)})" if aside else ""
    sentence = f"{what} leaves a discrimination of {number(row.value)}{hidden}"
    if not math.isnan(row.accuracy):
        sentence += f" at accuracy {number(row.accuracy)}"
    if row.below_constant:
        sentence += f", {below_constant_words(row.constant_answer)} ({number(row.constant_accuracy)})"
    if words := one_group_words(row):
        sentence += f"; it {words}"
    return sentence + "."


def _of_the_rest(rows: list[Any], titles: Mapping[str, str], nor: str) -> list[str]:
    """Count the techniques that are not recommended, by reason, and name those that lack most."""
    parts = []
    for verdict in _REJECTED:
        if not (own := [row for row in rows if row.verdict == verdict]):
            continue
        one = len(own) == 1
        words = {
            "outdone": f"{'is' if one else 'are'} outdone by a recommended one, which in the mean is better "
            "in discrimination or accuracy, and no worse in the other",
            "degenerate": f"that {'answers' if one else 'answer'} {SAME_ANSWER}",
            "below_constant": f"that {'is' if one else 'are'} {below_constant_words(own[0].constant_answer)}",
            "one_group": f"{'gives' if one else 'give'} one of the groups nearly always the same answer",
            "too_few": f"that {'accepts or refuses' if one else 'accept or refuse'} too few of a group",
            "incomplete": "not compared in every sample",
            "missing": "without any value",
            "unknown": f"without a record of {_LACKING[math.isnan(own[0].accepted)]}",
            "not_compared": "not compared with the baseline",
            "no_less": nor,
            "worse": "with more discrimination",
        }[verdict]
        names = [titles[row.technique] for row in own]
        if verdict == "too_few":
            names = [f"{titles[row.technique]}: {too_few_words(row)}" for row in own]
        named = "" if verdict in ("not_compared", "no_less") else f" ({several(names)})"
        parts.append(f"{len(own)} {words}{named}")
    return [f"Not recommended: {'; '.join(parts)}."] if parts else []


def _techniques(n: int) -> str:
    return f"{n} technique" + "s" * (n != 1)
