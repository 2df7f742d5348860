"""At this level of bias, which technique, at what cost: the words, signs and order of every such answer.

Tables, pages and the terminal take their sentences from here, so that all of them say the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from benchmark.runs.standing_marks import BELOW_CONSTANT, DEGENERATE, below_constant_words
from benchmark.statistics.answers import NEARLY_ALL, is_constant
from benchmark.statistics.frames import SCENARIO
from benchmark.text.words import number, share

SAME_ANSWER = "nearly everybody, or each group, the same in at least one sample"
"""What such techniques answer."""

CANDIDATE = "one sample, no interval"
"""Why a technique that would else be recommended is a candidate only."""

READING = (
    "Discrimination: 0 is ideal; positive where the favored group is accepted more often than the deprived "
    "one, negative where the deprived group is. Accuracy: 1 is ideal. Accepts: the share that is predicted "
    "the favorable outcome. Changes are to the baseline, on the same samples."
)
"""How the numbers of an answer are to be read."""

UNKNOWN_SHARES = (
    "Who is accepted is not recorded in these results, so that techniques that answer nearly everybody, or "
    "each group, the same cannot be told from others. Run the experiment again; what is stored is not "
    "trained again."
)
"""Said of the results of earlier versions."""

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

_VERDICTS = (
    *("recommendable", "candidate", "baseline", "no_less", "worse", "not_compared", "unknown"),
    *("one_group", "below_constant", "incomplete", "missing", "degenerate"),
)
"""In the order in which rows are shown."""

_NEVERTHELESS = "techniques are compared with it nevertheless"
_MOST_NAMED = 8
_HIDDEN = 0.01
_BETTER_OFF = "the deprived group is better off"


def mark(row: Any) -> str:
    """Return the sign that belongs beside a technique's name, or nothing.

    Parameters
    ----------
    row : object
        Has ``n_degenerate`` and ``below_constant``, as rows of
        :func:`~benchmark.statistics.answers.standings` and of
        :func:`~benchmark.statistics.answers.answer_table` have.
    """
    return DEGENERATE if row.n_degenerate > 0 else BELOW_CONSTANT if row.below_constant else ""


def mark_notes(rows: pd.DataFrame) -> list[str]:
    """Explain the signs that :func:`mark` gives to rows, each only where it occurs."""
    notes = []
    if (rows["n_degenerate"] > 0).any():
        notes.append(
            f"{DEGENERATE} answers {SAME_ANSWER} "
            "(accepts less than "
            f"{100 - 100 * NEARLY_ALL:.0f} % or more than {100 * NEARLY_ALL:.0f} % of all, or of each "
            "group): not ranked, and never recommended."
        )
    below = rows[(rows["n_degenerate"] == 0) & rows["below_constant"].eq(True)]
    if len(below):
        answers = list(dict.fromkeys(below["constant_answer"]))
        what = answers[0] if len(answers) == 1 else f"the best constant answer ({' or '.join(answers)})"
        notes.append(f"{BELOW_CONSTANT} {below_constant_words(what)}: never recommended.")
    return notes


def baseline_notes(standing: pd.DataFrame, title: str) -> list[str]:
    """Say where nothing is compared with a baseline, and where it is degenerate nevertheless, and why.

    Parameters
    ----------
    standing : DataFrame
        Its own rows of :func:`~benchmark.statistics.answers.standings`, of one dataset, bias and classifier.
    title : str
        Its title.
    """
    notes = []
    own = standing[standing["n_degenerate"] > 0].sort_values("beta")
    for (constant, words), rows in own.groupby(["mostly_constant", "degenerate"], sort=False):
        betas = f"β = {', '.join(f'{beta:g}' for beta in rows['beta'])}"
        notes.append(
            f"At {betas} nothing is compared with the baseline, {title}: it {words}."
            if constant
            else f"{DEGENERATE} The baseline, {title}, {words} at {betas}; {_NEVERTHELESS}."
        )
    return notes


def spots(answers: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], float, pd.DataFrame]]:
    """Yield dataset, bias and classifier, level of bias, and the rows of each, in the order of rows."""
    for (*names, beta), own in answers.groupby([*SCENARIO, "beta"], sort=False):
        dataset, bias, classifier = map(str, names)
        yield (dataset, bias, classifier), float(str(beta)), own


def verdict(row: Any) -> str:
    """Say what follows for one technique at one level of bias.

    Parameters
    ----------
    row : object
        A row of :func:`~benchmark.statistics.answers.answer_table`.

    Returns
    -------
    str
        ``recommendable``; ``candidate`` where a single sample speaks for it; ``baseline``; ``degenerate``;
        ``missing`` without a value, ``incomplete`` without one in every repetition; ``below_constant``;
        ``unknown`` where the shares accepted are not recorded; ``not_compared`` where the baseline is mostly
        constant or without a value; ``one_group`` where it is better than the baseline and gives one group
        nearly always the same answer; ``worse`` than the baseline; or ``no_less``, neither better nor worse.
    """
    if row.technique == row.baseline:
        return "baseline"
    if row.n_degenerate > 0:
        return "degenerate"
    if math.isnan(row.value):
        return "missing"
    if row.missing > 0 or 0 < row.pairs < row.n:
        return "incomplete"
    if row.below_constant:
        return "below_constant"
    if math.isnan(row.accepted):
        return "unknown"
    if row.baseline_degenerate or math.isnan(row.change):
        return "not_compared"
    if row.candidate:
        return "candidate"
    if row.better and one_group_words(row):
        return "one_group"
    return "recommendable" if row.recommendable else "worse" if row.worse else "no_less"


def one_group_words(row: Any) -> str:
    """Say which group gets nearly always the same answer, and which; nothing if neither does."""
    for group, accepted in (("deprived", row.accepted_deprived), ("favored", row.accepted_favored)):
        if is_constant(accepted):
            verb = "accepts" if accepted > NEARLY_ALL else "refuses"
            return f"{verb} more than {100 * NEARLY_ALL:.0f} % of the {group} group"
    return ""


def is_chosen(row: Any) -> bool:
    """Whether a row of answers is named as a choice: recommendable, or a candidate."""
    return verdict(row) in ("recommendable", "candidate")


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Sort the rows of one level of bias: recommendable ones and candidates first, degenerate ones last.

    Within each :func:`verdict` those come first that are the nearest to no discrimination, in the mean over
    the samples of how far they are from it: discrimination that changes its sign from sample to sample is
    none the less there.
    """
    order = [_VERDICTS.index(verdict(row)) for row in rows.itertuples(index=False)]
    keyed = rows.assign(_verdict=order)
    return keyed.sort_values(["_verdict", "distance"], kind="stable").drop(columns="_verdict")


def change_text(change: float, low: float, high: float) -> str:
    """Return a change with its sign and its interval, as far as there are any."""
    if math.isnan(change):
        return "–"
    return _signed(change) + ("" if math.isnan(low) else f" [{_signed(low)}, {_signed(high)}]")


def accepts(row: Any) -> str:
    """Return the shares that a technique accepts, of all, of the deprived and of the favored group."""
    return accepts_text((row.accepted, row.accepted_deprived, row.accepted_favored))


def accepts_text(shares: Iterable[float]) -> str:
    """Return shares accepted as they stand beside each other: ``"17 % / 7 % / 23 %"``."""
    return " / ".join(map(share, shares))


def remarks(row: Any) -> str:
    """Say in a few words why a technique is not recommended, and what its mean discrimination hides.

    Parameters
    ----------
    row : object
        A row of :func:`~benchmark.statistics.answers.answer_table`.
    """
    own = verdict(row)
    found = ["baseline"] if own == "baseline" else []
    if own == "candidate":
        found.append(f"candidate: {CANDIDATE}")
    if row.n_degenerate > 0:
        found.append(str(row.degenerate))
    if row.below_constant:
        found.append(below_constant_words(row.constant_answer))
    if row.missing > 0:
        found.append(f"a value in {row.n} of {row.n + row.missing} samples")
    if 0 < row.pairs < row.n:
        found.append(f"compared with the baseline on {row.pairs} of {row.n + row.missing} samples")
    if changes_sign(row):
        found.append(f"of either sign, on average {number(row.distance)} from 0")
    if own == "unknown":
        found.append("shares accepted not recorded")
    if own == "not_compared":
        found.append("not compared")
    if not row.n_degenerate and (words := one_group_words(row)):
        found.append(words)
    if own == "no_less":
        found.append("no significant difference" if row.tested else "no clear difference, untested")
    if own == "worse":
        found.append("significantly more discrimination" if row.tested else "more discrimination")
    return "; ".join(found)


def constant_title(answer: str) -> str:
    """Return what the best constant answer is called in a table: ``"Refusing everybody"``."""
    return answer[:1].upper() + answer[1:]


def answer_rows(rows: pd.DataFrame, titles: Mapping[str, str], most: int | None = None) -> list[list[str]]:
    """Return the rows of one level of bias as text, in the order of :func:`in_order`.

    Parameters
    ----------
    rows : DataFrame
        As for :func:`answer_sentences`.
    titles : mapping of str to str
        Name of each technique to its title.
    most : int, optional
        Where there are more rows, only so many: techniques to choose, as far as there is room for them,
        and what they are measured by, the baseline and the best constant answer. By default, all.

    Returns
    -------
    list of list of str
        Columns :data:`ANSWER_HEADINGS`. The best constant answer comes after the techniques to choose and the
        baseline.
    """
    found: list[Any] = list(in_order(rows).itertuples(index=False))
    known = [row for row in found if row.constant_answer]
    baseline = [row for row in found if verdict(row) == "baseline"]
    chosen = [row for row in found if is_chosen(row)]
    rest = found[len(chosen) + len(baseline) :]
    if most is not None and len(found) + bool(known) > most:
        room = most - len(baseline) - bool(known)
        chosen = best_of(chosen, room)
        rest = rest[: room - len(chosen)]
    constant = [_constant_row(known[0])] if known else []
    return [
        *(_text_row(row, titles) for row in (*chosen, *baseline)),
        *constant,
        *(_text_row(row, titles) for row in rest),
    ]


def best_of(chosen: Sequence[Any], room: int) -> list[Any]:
    """Return as many of the chosen rows as there is room for, the most accurate one among them."""
    kept = list(chosen[:room])
    best = max(range(len(chosen)), key=lambda i: chosen[i].accuracy, default=0)
    return kept if best < room else [*kept[:-1], chosen[best]]


def _text_row(row: Any, titles: Mapping[str, str]) -> list[str]:
    return [
        " ".join(filter(None, [titles[row.technique], mark(row)])),
        number(row.value),
        *(
            ["", number(row.accuracy), ""]
            if verdict(row) == "baseline"
            else [
                change_text(row.change, row.change_low, row.change_high),
                number(row.accuracy),
                change_text(row.accuracy_change, row.accuracy_change_low, row.accuracy_change_high),
            ]
        ),
        accepts(row),
        remarks(row),
    ]


def _constant_row(row: Any) -> list[str]:
    shares = [1.0 if row.constant_answer.startswith("accept") else 0.0] * 3
    return [
        constant_title(row.constant_answer),
        number(0.0),
        "",
        number(row.constant_accuracy),
        "",
        accepts_text(shares),
        "the best constant answer",
    ]


def answer_counts(rows: pd.DataFrame) -> str:
    """Count the techniques of one level of bias by :func:`verdict`, in one line.

    Parameters
    ----------
    rows : DataFrame
        As for :func:`answer_sentences`.
    """
    found: list[Any] = list(rows.itertuples(index=False))
    baseline = next((row for row in found if verdict(row) == "baseline"), None)
    counts = Counter(verdict(row) for row in found if row is not baseline)
    recommended = counts["recommendable"]
    text = f"{recommended or 'none'} of {_techniques(counts.total())} recommended"
    if counts["candidate"]:
        several = "s" * (counts["candidate"] > 1)
        text += f"; {counts['candidate']} candidate{several} ({CANDIDATE})"
    if baseline is None:
        text += ", because the baseline was not run"
    elif math.isnan(baseline.value):
        text += ", because the baseline has no value to compare with"
    elif baseline.baseline_degenerate:
        text += f", because the baseline {DEGENERATE} {baseline.degenerate}"
    elif counts["unknown"]:
        text += f"; {counts['unknown']} without a record of the shares accepted"
    parts = {
        f"{{}} {DEGENERATE}": counts["degenerate"],
        f"{{}} {BELOW_CONSTANT}": counts["below_constant"],
        "{} with one answer for a group": counts["one_group"],
        "{} not compared in every sample": counts["incomplete"],
        "{} without any value": counts["missing"],
        "{} not compared": counts["not_compared"],
        "{} without less discrimination": counts["no_less"] + counts["worse"],
    }
    return "; ".join([text, *(words.format(n) for words, n in parts.items() if n)])


def answer_sentences(rows: pd.DataFrame, titles: Mapping[str, str], *, rope: float) -> list[str]:
    """Say which technique to choose at one level of bias: the gain, the cost, and what is left out.

    Parameters
    ----------
    rows : DataFrame
        The rows of one dataset, bias, classifier and level of bias of
        :func:`~benchmark.statistics.answers.answer_table`.
    titles : mapping of str to str
        Name of each technique to its title.
    rope : float
        Difference up to which two techniques are practically equivalent.

    Returns
    -------
    list of str
        Sentences for readers; the first is about the baseline.
    """
    found: list[Any] = list(in_order(rows).itertuples(index=False))
    baseline = next((row for row in found if verdict(row) == "baseline"), None)
    others = [row for row in found if row is not baseline]
    if baseline is None:
        return ["The baseline was not run: nothing is compared with it, and no technique is recommended."]
    name = titles[baseline.technique]
    sentences = [_of_baseline(baseline, name)]
    if baseline.baseline_degenerate:
        sentences.append(
            f"It {baseline.degenerate}: no technique is compared with it here, and none is recommended."
        )
    elif baseline.n_degenerate > 0:
        sentences.append(f"{DEGENERATE} It {baseline.degenerate}; {_NEVERTHELESS}.")
    if not others:
        return [*sentences, "No other technique was run."]
    if all(math.isnan(row.accepted) for row in found):
        return [*sentences, UNKNOWN_SHARES, "No technique is recommended."]
    less, nor = less_words(found, rope)
    chosen = [row for row in others if is_chosen(row)]
    rest = _of_the_rest([row for row in others if not is_chosen(row)], titles, nor)
    if not chosen:
        if not baseline.baseline_degenerate and not math.isnan(baseline.value):
            sentences.append("No technique is recommended.")
        return [*sentences, *rest]
    answer = str(chosen[0].constant_answer)
    one = len(chosen) == 1
    leave, are = ("leaves", "is") if one else ("leave", "are")
    useful = f" and {are} at least as accurate as {answer}" if answer else ""
    if verdict(chosen[0]) == "candidate":
        leave = f"is a candidate: it {leave}" if one else f"are candidates: they {leave}"
        sentences.append("No technique is recommended.")
    sentences.append(f"{len(chosen)} of {_techniques(len(others))} {leave} {less}{useful}.")
    if not answer:
        sentences.append("What a constant answer would score is not recorded.")
    fairest = chosen[0]
    best = max(chosen, key=lambda row: row.accuracy)  # the first of equal ones, which is the fairest
    start = "It is" if len(chosen) == 1 else "Least is left by"
    also = " It is also the most accurate of these." if len(chosen) > 1 and best is fairest else ""
    sentences.append(f"{start} {titles[fairest.technique]}: {_gain_and_cost(fairest, baseline)}.{also}")
    equal = [row for row in chosen[1:] if number(row.distance) == number(fairest.distance)]
    if equal:
        sentences.append(f"As little, to three decimals, is left by {_names(equal, titles)}.")
    if best is not fairest:
        sentences.append(
            f"Most accurate of these is {titles[best.technique]}: {_gain_and_cost(best, baseline)}."
        )
    return [*sentences, *rest]


def _of_baseline(row: Any, name: str) -> str:
    if math.isnan(row.value):
        return f"The baseline, {name}, has no value here: nothing is compared with it."
    better = f" ({_BETTER_OFF})" if _negative(row.value) else ""
    sentence = f"The baseline, {name}, leaves a discrimination of {number(row.value)}{better}"
    if not math.isnan(row.accuracy):
        sentence += f" at accuracy {number(row.accuracy)}"
    if row.below_constant:
        sentence += f", {below_constant_words(row.constant_answer)} ({number(row.constant_accuracy)})"
    return sentence + "."


def less_words(rows: Sequence[Any], rope: float) -> tuple[str, str]:
    """Return what techniques to choose leave, and what the others do not.

    Parameters
    ----------
    rows : sequence of object
        Rows of :func:`~benchmark.statistics.answers.answer_table` of one level of bias.
    rope : float
        Difference up to which two techniques are practically equivalent.
    """
    if any(row.tested for row in rows):
        return "significantly less discrimination", "without significantly less discrimination"
    if max((row.n for row in rows), default=0) > 1:
        return (
            f"less discrimination, by more than {rope:g} on average and with an interval without 0 "
            "(untested for want of repetitions)",
            f"without less discrimination by more than {rope:g} and an interval without 0",
        )
    return (
        f"less discrimination by more than {rope:g} ({CANDIDATE})",
        f"without less discrimination by more than {rope:g}",
    )


def _gain_and_cost(row: Any, baseline: Any) -> str:
    """Say how much discrimination is left, at what cost, and whom the technique accepts."""
    gain = _difference(row.change, row.change_low, row.change_high, ("more", "less"))
    if changes_sign(row) or changes_sign(baseline):  # means of either sign hide how far samples are from 0
        nearer = baseline.distance - row.distance
        gain = f"on average {number(abs(nearer))} {'nearer to' if nearer > 0 else 'farther from'} 0"
    elif _negative(row.value) or _negative(baseline.value):  # "less" would be ambiguous
        better = f"{_BETTER_OFF}; " if _negative(row.value) else ""
        gain = f"{better}change {change_text(row.change, row.change_low, row.change_high)}"
    either = f", of either sign and on average {number(row.distance)} from 0" if changes_sign(row) else ""
    cost = _difference(
        row.accuracy_change, row.accuracy_change_low, row.accuracy_change_high, ("more", "less")
    )
    return (
        f"{number(row.value)}{either} ({gain}) at accuracy {number(row.accuracy)} ({cost}); it accepts "
        f"{share(row.accepted_deprived)} of the deprived and {share(row.accepted_favored)} of the favored"
    )


def changes_sign(row: Any) -> bool:
    """Whether discrimination is of either sign to such an extent that its mean hides it.

    Parameters
    ----------
    row : object
        A row of :func:`~benchmark.statistics.answers.answer_table`.
    """
    return bool(row.distance - abs(row.value) >= _HIDDEN)


def _negative(value: float) -> bool:
    return number(value).startswith("-")


def _difference(change: float, low: float, high: float, words: tuple[str, str]) -> str:
    """Return a difference as a positive number with a word for its direction, and its interval."""
    if math.isnan(change):
        return "change unknown"
    if change < 0:
        change, low, high, words = -change, -high, -low, words[::-1]
    interval = "" if math.isnan(low) else f" [{number(low)}, {number(high)}]"
    return f"{number(change)} {words[0]}{interval}" if float(f"{change:.3f}") else f"no change{interval}"


def _of_the_rest(rows: list[Any], titles: Mapping[str, str], nor: str) -> list[str]:
    """Count the techniques that are not recommended, by reason."""
    of: dict[str, list[Any]] = {}
    for row in rows:
        of.setdefault(verdict(row), []).append(row)
    below = of.get("below_constant", [])
    parts = []
    named = (
        ("degenerate", ("that answers", "that answer"), SAME_ANSWER),
        (
            "below_constant",
            ("that is", "that are"),
            below_constant_words(str(below[0].constant_answer)) if below else "",
        ),
        ("one_group", ("gives", "give"), "one of the groups nearly always the same answer"),
        ("incomplete", ("", ""), "not compared in every sample"),
        ("missing", ("", ""), "without any value"),
        ("unknown", ("", ""), "without a record of the shares accepted"),
    )
    for name, verbs, words in named:
        if own := of.get(name, []):
            verb = verbs[len(own) > 1]
            parts.append(" ".join(filter(None, [str(len(own)), verb, words])) + f" ({_names(own, titles)})")
    if own := of.get("not_compared", []):
        parts.append(f"{len(own)} not compared with the baseline")
    if n := len(of.get("no_less", [])) + len(of.get("worse", [])):
        parts.append(f"{n} {nor}")
    return [f"Not recommended: {'; '.join(parts)}."] if parts else []


def _names(rows: list[Any], titles: Mapping[str, str]) -> str:
    shown = [titles[row.technique] for row in rows[:_MOST_NAMED]]
    more = len(rows) - len(shown)
    # Titles may hold commas.
    return "; ".join(shown) + (f"; and {more} more" if more else "")


def _techniques(n: int) -> str:
    return f"{n} technique" + "s" * (n != 1)


def _signed(value: float) -> str:
    text = number(value)
    return text if text.startswith("-") or float(text) == 0 else f"+{text}"
