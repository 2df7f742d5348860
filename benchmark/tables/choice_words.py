"""What is said of techniques that are chosen, tied with them, better, or kept from being chosen.

:mod:`benchmark.tables.answers` puts these words into sentences, tables and the terminal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmark.columns import UNTREATED
from benchmark.statistics.answers import (
    NEARLY_ALL,
    is_constant,
)
from benchmark.statistics.choices import (
    CHEAP,
    COMPARED_WITH,
    EQUAL,
    HARDLY_MOVED,
    LEAST,
    OF_BASELINE,
    RESTORES,
    TO_CHOOSE,
    falls_short,
)
from benchmark.statistics.few import FEW, few_words
from benchmark.text.words import number, share

CANDIDATE = "one sample, no interval"
"""Why a technique that would else be recommended is a candidate only."""

DOING_NOTHING = "doing nothing"
"""What the technique without mitigation is called in a sentence."""

NEAREST = "Nearest to the model without planted bias"
"""What the technique that brings the model back is called."""

_MOST_NAMED = 8


def baseline_name(row: Any) -> str:
    """Return what the baseline of a row of answers is called in a sentence."""
    return DOING_NOTHING if row.baseline == UNTREATED else "the baseline"


def choice_title(name: str, rope: float) -> str:
    """Return what a choice is called: ``"Least discrimination"``."""
    return {
        LEAST: "Least discrimination",
        CHEAP: f"Cheap: least discrimination at a cost of at most {rope:g} of accuracy",
        RESTORES: NEAREST,
    }[name]


def choice_words(row: Any) -> list[str]:
    """Say in a few words what a technique is chosen for, and what it is tied for with a choice."""
    words = {RESTORES: "nearest to the model without bias"}
    chosen = row.choice.split()
    ties = [name for name in row.tied.split() if name not in chosen]
    return [
        *(words.get(name, name) for name in chosen),
        *(f"tied for {words.get(name, name)}" for name in ties),
    ]


def choice_sentence(name: str, row: Any, titles: Mapping[str, str], rope: float) -> str:
    """Say which technique is the least or the cheap choice, what it leaves and costs, and whom it accepts."""
    of = {LEAST: "for least discrimination", CHEAP: f"at a cost of at most {rope:g} of accuracy (cheap)"}[
        name
    ]
    only = row.verdict == "candidate"
    kind, aside = ("Candidate", f" ({CANDIDATE})") if only else ("Recommended", "")
    return f"{kind} {of} is {titles[row.technique]}{aside}: {gain_and_cost(row)}."


def whom_it_accepts(row: Any) -> str:
    """Say which shares of both groups are accepted, and what the deprived group loses."""
    deprived, favored = share(row.accepted_deprived), share(row.accepted_favored)
    before = ""
    if falls(row):
        own = share(row.baseline_accepted_deprived)
        name = baseline_name(row)
        before = f" (no more than {name})" if own == deprived else f" ({name}: {own})"
    return f"it accepts {deprived} of the deprived group{before} and {favored} of the favored"


def falls(row: Any) -> bool:
    """Whether a technique is seen to accept fewer of the deprived group than its baseline, or no more.

    No more counts where fewer of the favored group are accepted.
    """
    own, before = row.accepted_deprived, row.baseline_accepted_deprived
    fewer = own < before and share(own) != share(before)
    return not math.isnan(before) and row.verdict != "baseline" and bool(fewer or row.levels_down)


def fall_words(row: Any) -> str:
    """Say that a technique accepts fewer of the deprived group, or no more; nothing if it accepts more.

    Shares that are equal as shown stand there once.
    """
    if not falls(row):
        return ""
    own, before = share(row.accepted_deprived), share(row.baseline_accepted_deprived)
    name = baseline_name(row)
    if own == before:
        return f"accepts no more of the deprived group than {name} ({own}), and fewer of the favored"
    return f"accepts {own} of the deprived group ({name}: {before})"


def too_few_words(row: Any) -> str:
    """Say of which group a technique accepts or refuses too few; nothing if of neither."""
    if not row.too_few:
        return ""
    of_baseline = row.reference == OF_BASELINE
    for group, accepted, reference in (
        ("deprived", row.accepted_deprived, row.reference_deprived),
        ("favored", row.accepted_favored, row.reference_favored),
    ):
        for verb, own, whole in (
            ("accepts", accepted, reference),
            ("refuses", 1 - accepted, 1 - reference),
        ):
            if falls_short(own, whole):
                compared = f"{baseline_name(row)} did without planted bias"
                if not of_baseline:
                    outcome = "favorable" if verb == "accepts" else "unfavorable"
                    compared = f"have the {outcome} outcome in the test rows"
                return (
                    f"{verb} less than half as many of the {group} group as {compared}: "
                    f"{share(own)} for {share(whole)}"
                )
    return ""


def tie_sentences(
    picked: Mapping[str, Any], rows: Sequence[Any], titles: Mapping[str, str], rope: float
) -> Iterator[str]:
    """Name the techniques that are tied with a choice; once where they are the same for several."""
    said: set[tuple[str, ...]] = set()
    for name, row in picked.items():
        tied = [own for own in rows if name in own.tied.split() and own is not row]
        names = (row.technique, *(own.technique for own in tied))
        if not tied or names in said:
            continue
        said.add(names)
        back = name == RESTORES
        axis = " in nearness to the model without bias" if back else f" for {name}"
        yield (
            f"Tied{axis} within {rope:g}: {titles[row.technique]}; {listed(tied, titles)}. The "
            f"{'nearest' if back else 'most accurate'} is named."
        )


def recommended_as_well(
    picked: Mapping[str, Any], rows: Sequence[Any], titles: Mapping[str, str]
) -> Iterator[str]:
    """Name the recommended techniques and candidates that are neither chosen nor tied with a choice."""
    chosen = [row for row in rows if row.verdict in TO_CHOOSE]
    named = {row.technique for name, row in picked.items() if name != RESTORES}
    more = [
        row for row in chosen if row.technique not in named and not {LEAST, CHEAP} & set(row.tied.split())
    ]
    if more:
        kind = "Recommended" if more[0].verdict == "recommended" else "Candidates"
        yield f"{kind} as well: {listed(more, titles)}."


def better_in_both(
    picked: Mapping[str, Any], rows: Sequence[Any], titles: Mapping[str, str]
) -> Iterator[str]:
    """Name the techniques that are nearer to 0 and more accurate than a choice, but not shown to be."""
    said: set[str] = set()
    for name, row in picked.items():
        if name == RESTORES or row.technique in said:
            continue
        said.add(row.technique)
        nearer = [
            own
            for own in rows
            if own.verdict == "no_less"
            and own.distance < row.distance - EQUAL
            and own.accuracy > row.accuracy + EQUAL
        ]
        if nearer:
            yield (
                f"In the mean these are nearer to 0 and more accurate than {titles[row.technique]}, but not "
                f"shown to leave less than the baseline: {listed(nearer, titles)}."
            )


def restored_sentences(
    rows: Sequence[Any], titles: Mapping[str, str], named: Sequence[Any], rope: float, gain: str = ""
) -> Iterator[str]:
    """Say which technique brings the model back to where it was without bias, or why none is named.

    ``named`` are the choices that were described before, ``rope`` is the difference up to which a technique
    is as near as doing nothing, and ``gain`` is what the technique leaves and costs, if that is to be said.
    """
    best = next((row for row in rows if RESTORES in row.choice.split()), None)
    if best is None:
        before = [row for row in rows if row.verdict == "baseline" and not math.isnan(row.clean_distance)]
        if not before:
            return
        untouched = max(row.clean_distance for row in before)
        nearer = [row for row in rows if row.clean_distance < untouched - max(rope, 0.0) - EQUAL]
        if untouched <= HARDLY_MOVED + EQUAL:
            yield (
                f"On average the bias moves the model's accuracy and acceptance by at most {HARDLY_MOVED:g}: "
                "too little to bring back."
            )
        elif nearer := [row for row in nearer if row.verdict not in COMPARED_WITH]:
            nearer.sort(key=lambda row: row.clean_distance)
            yield (
                "Only techniques that are ruled out come nearer to the model without planted bias than "
                f"{baseline_name(before[0])} ({number(untouched)}): "
                + ruled_out(nearer, titles, "clean_distance")
            )
        else:
            yield (
                "On average no technique is nearer to the model without planted bias than "
                f"{baseline_name(before[0])} by more than {rope:g}."
            )
        return
    before = [row for row in rows if row.technique == best.baseline]
    moved = f" ({baseline_name(best)}: {number(before[0].clean_distance)})" if before else ""
    apart = (
        f"accuracy and acceptance of both groups differ from it by {number(best.clean_distance)} on "
        f"average{moved}"
    )
    if best in named:
        yield f"{NEAREST} is {titles[best.technique]} as well: {apart}."
        return
    yield f"{NEAREST} is {titles[best.technique]}: {apart}." + (f" It leaves {gain}." if gain else "")
    if best.verdict in _NOT_RECOMMENDED:
        yield f"It is not recommended: {_NOT_RECOMMENDED[best.verdict]}."


_NOT_RECOMMENDED = {
    "outdone": "a recommended one is better in discrimination or accuracy, and no worse in the other",
    "no_less": "the interval for all techniques together does not show less discrimination",
    "worse": "it leaves more discrimination",
    "not_compared": "nothing is compared with the baseline here",
}


def ruled_out(rows: Sequence[Any], titles: Mapping[str, str], column: str) -> str:
    """Name techniques that no answer names, each with its number of a column, and end the sentence."""
    return several([f"{titles[row.technique]} ({number(getattr(row, column))})" for row in rows]) + "."


def few_sentences(rows: Sequence[Any]) -> Iterator[str]:
    """Say that so few repetitions hardly show anything, and how many would do."""
    compared = [row for row in rows if row.tested]
    splits = max((int(row.splits) for row in compared), default=0)
    if 2 <= splits < FEW:
        yield few_words(splits, len(compared))


def listed(rows: Sequence[Any], titles: Mapping[str, str]) -> str:
    """Name techniques with what they leave and their accuracy."""
    shown = [
        f"{titles[row.technique]} ({number(row.distance)} from 0, accuracy {number(row.accuracy)})"
        for row in rows
    ]
    return several(shown)


def several(names: Sequence[str]) -> str:
    """Return the first of some names, which may hold commas, and how many others there are."""
    more = len(names) - _MOST_NAMED
    return "; ".join(names[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")


def one_group_words(row: Any) -> str:
    """Say which group gets nearly always the same answer, and which; nothing if neither does."""
    if not row.one_group:
        return ""
    for group, accepted in (("deprived", row.accepted_deprived), ("favored", row.accepted_favored)):
        if is_constant(accepted):
            verb = "accepts" if accepted > NEARLY_ALL else "refuses"
            return f"{verb} more than {100 * NEARLY_ALL:.0f} % of the {group} group"
    return ""


def change_text(change: float, low: float, high: float) -> str:
    """Return a change with its sign and its interval, as far as there are any."""
    if math.isnan(change):
        return "–"
    return _signed(change) + ("" if math.isnan(low) else f" [{_signed(low)}, {_signed(high)}]")


def changes(row: Any) -> tuple[str, str]:
    """Return the changes of discrimination and of accuracy to the baseline."""
    return (
        change_text(row.change, row.change_low, row.change_high),
        change_text(row.accuracy_change, row.accuracy_change_low, row.accuracy_change_high),
    )


def less_words(rows: Sequence[Any], rope: float) -> tuple[str, str]:
    """Return what techniques to choose leave, and what is said of others, at one level of bias."""
    if any(row.tested for row in rows):
        return (
            f"less discrimination than the baseline by more than {rope:g}, shown by intervals that hold for "
            "all of them together",
            f"not shown to leave less discrimination by more than {rope:g}",
        )
    return (
        f"less discrimination by more than {rope:g} ({CANDIDATE})",
        f"without less discrimination by more than {rope:g}",
    )


def gain_and_cost(row: Any) -> str:
    """Say how much discrimination is left, at what cost, and whom the technique accepts."""
    hidden = f"of either sign, on average {number(row.distance)} from 0; " if changes_sign(row) else ""
    gain, cost = changes(row)
    return (
        f"{number(row.value)} ({hidden}change {gain}) at accuracy {number(row.accuracy)} (change {cost}); "
        + whom_it_accepts(row)
    )


def changes_sign(row: Any) -> bool:
    """Whether discrimination is of either sign to such an extent that its mean, as shown, hides it."""
    return number(row.distance) != number(abs(row.value))


def _signed(value: float) -> str:
    text = number(value)
    return text if text.startswith("-") or float(text) == 0 else f"+{text}"
