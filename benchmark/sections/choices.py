"""What is said of techniques that are chosen, tied with them, better, or kept from being chosen.

:mod:`benchmark.sections.answers` puts these words into sentences, tables and the terminal.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchmark.columns import UNTREATED
from benchmark.sections.signs import (
    BELOW_WORDS,
    COMPARED_NEVERTHELESS,
    DEGENERATE,
    INSIDE_WORDS,
    SAME_ANSWER,
    below_constant_words,
)
from benchmark.statistics.answer import Answer
from benchmark.statistics.answers import NEARLY_ALL, is_constant
from benchmark.statistics.choices import (
    CHEAP,
    CHOICES,
    EQUAL,
    HARDLY_MOVED,
    LEAST,
    OF_BASELINE,
    RESTORES,
    falls_short,
)
from benchmark.statistics.few import FEW, few_words
from benchmark.statistics.unprocessing import INSIDE
from benchmark.text.words import beyond, number, share

CANDIDATE = "one sample, no interval"
"""Why a technique that would else be recommended is a candidate only."""

DOING_NOTHING = "doing nothing"
"""What the technique without mitigation is called in a sentence."""

NEAREST = "Nearest to the model without planted bias"
"""What the technique that brings the model back is called."""

_MOST_NAMED = 8


UNKNOWN_SHARES = (
    "Who is accepted is not recorded in these results, so that techniques that answer nearly everybody, or "
    "each group, the same cannot be told from others. Run the experiment again; what is stored is not "
    "trained again."
)
"""Said where a run does not tell whom techniques accept."""

UNKNOWN_CONSTANT = "What a constant answer would score on these rows is not recorded."
"""Said where it is unknown, so that nothing can be recommended."""

OUTDONE = "in the mean a recommended one is better in discrimination or accuracy, and no worse in the other"
"""What it means to be outdone."""

_LACKING = {True: "the shares accepted", False: "what a constant answer would score"}

# Verdicts on techniques that are not recommended, in the order of sentences.
_REJECTED = (
    "outdone",
    *("degenerate", "below_constant", "one_group", "too_few", "incomplete", "missing", "unknown"),
    *("not_compared", "no_less", "worse"),
)


def named_choices(rows: Sequence[Answer]) -> dict[str, Answer]:
    """Return the choices at one level of bias by what they are named for: least, cheap, nearest."""
    return {name: row for name in CHOICES for row in rows if name in row.choices}


def recommended_choices(rows: Sequence[Answer]) -> dict[str, Answer]:
    """Return the choices among the techniques to choose: least and cheap."""
    return {name: row for name, row in named_choices(rows).items() if name != RESTORES}


def baseline_name(row: Answer) -> str:
    """Return what the baseline of a row of answers is called in a sentence."""
    return DOING_NOTHING if row.baseline == UNTREATED else "the baseline"


def choice_title(name: str, rope: float) -> str:
    """Return what a choice is called: ``"Least discrimination"``."""
    return {
        LEAST: "Least discrimination",
        CHEAP: f"Cheap: least discrimination at a cost of at most {rope:g} of accuracy",
        RESTORES: NEAREST,
    }[name]


def choice_words(row: Answer) -> list[str]:
    """Say in a few words what a technique is chosen for, and what it is tied for with a choice."""
    words = {RESTORES: "nearest to the model without bias"}
    chosen = row.choices
    ties = [name for name in row.ties if name not in chosen]
    return [
        *(words.get(name, name) for name in chosen),
        *(f"tied for {words.get(name, name)}" for name in ties),
    ]


def choice_sentence(name: str, row: Answer, titles: Mapping[str, str], rope: float) -> str:
    """Say which technique is the least or the cheap choice, what it leaves and costs, and whom it accepts."""
    of = {LEAST: "for least discrimination", CHEAP: f"at a cost of at most {rope:g} of accuracy (cheap)"}[
        name
    ]
    only = row.verdict == "candidate"
    kind, aside = ("Candidate", f" ({CANDIDATE})") if only else ("Recommended", "")
    return f"{kind} {of} is {titles[row.technique]}{aside}: {gain_and_cost(row)}."


def whom_it_accepts(row: Answer) -> str:
    """Say which shares of both groups are accepted, and what the deprived group loses."""
    deprived, favored = share(row.accepted_deprived), share(row.accepted_favored)
    before = ""
    if falls(row):
        own = share(row.baseline_accepted_deprived)
        name = baseline_name(row)
        before = f" (no more than {name})" if own == deprived else f" ({name}: {own})"
    return f"it accepts {deprived} of the deprived group{before} and {favored} of the favored"


def falls(row: Answer) -> bool:
    """Whether a technique is seen to accept fewer of the deprived group than its baseline, or no more.

    No more counts where fewer of the favored group are accepted.
    """
    own, before = row.accepted_deprived, row.baseline_accepted_deprived
    fewer = own < before and share(own) != share(before)
    return not math.isnan(before) and row.verdict != "baseline" and bool(fewer or row.levels_down)


def fall_words(row: Answer) -> str:
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


def too_few_words(row: Answer) -> str:
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
    picked: Mapping[str, Answer], rows: Sequence[Answer], titles: Mapping[str, str], rope: float
) -> Iterator[str]:
    """Name the techniques that are tied with a choice; once where they are the same for several."""
    said: set[tuple[str, ...]] = set()
    for name, row in picked.items():
        tied = [own for own in rows if name in own.ties and own is not row]
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
    picked: Mapping[str, Answer], rows: Sequence[Answer], titles: Mapping[str, str]
) -> Iterator[str]:
    """Name the recommended techniques and candidates that are neither chosen nor tied with a choice."""
    chosen = [row for row in rows if row.is_chosen]
    named = {row.technique for name, row in picked.items() if name != RESTORES}
    more = [row for row in chosen if row.technique not in named and not {LEAST, CHEAP} & set(row.ties)]
    if more:
        kind = "Recommended" if more[0].verdict == "recommended" else "Candidates"
        yield f"{kind} as well: {listed(more, titles)}."


def better_in_both(
    picked: Mapping[str, Answer], rows: Sequence[Answer], titles: Mapping[str, str]
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
    rows: Sequence[Answer], titles: Mapping[str, str], named: Sequence[Answer], rope: float, gain: str = ""
) -> Iterator[str]:
    """Say which technique brings the model back to where it was without bias, or why none is named.

    ``named`` are the choices that were described before, ``rope`` is the difference up to which a technique
    is as near as doing nothing, and ``gain`` is what the technique leaves and costs, if that is to be said.
    """
    best = next((row for row in rows if RESTORES in row.choices), None)
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
        elif nearer := [row for row in nearer if not row.is_compared_with]:
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
    "outdone": OUTDONE,
    "no_less": "the interval for all techniques together does not show less discrimination",
    "worse": "it leaves more discrimination",
    "not_compared": "nothing is compared with the baseline here",
}


def ruled_out(rows: Sequence[Answer], titles: Mapping[str, str], column: str) -> str:
    """Name techniques that no answer names, each with its number of a column, and end the sentence."""
    return several([f"{titles[row.technique]} ({number(getattr(row, column))})" for row in rows]) + "."


def few_sentences(rows: Sequence[Answer]) -> Iterator[str]:
    """Say that so few repetitions hardly show anything, and how many would do."""
    compared = [row for row in rows if row.tested]
    splits = max((int(row.splits) for row in compared), default=0)
    if 2 <= splits < FEW:
        yield few_words(splits, len(compared))


def listed(rows: Sequence[Answer], titles: Mapping[str, str]) -> str:
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


def one_group_words(row: Answer) -> str:
    """Say which group gets nearly always the same answer, and which; nothing if neither does."""
    if not row.one_group:
        return ""
    for group, accepted in (("deprived", row.accepted_deprived), ("favored", row.accepted_favored)):
        if is_constant(accepted):
            verb = "accepts" if accepted > NEARLY_ALL else "refuses"
            return f"{verb} more than {share(NEARLY_ALL)} of the {group} group"
    return ""


def change_interval(change: float, low: float, high: float) -> list[str]:
    """Return a change with its sign, and its interval if it has one."""
    if math.isnan(change):
        return ["–"]
    return [_signed(change), *([] if math.isnan(low) else [f"[{_signed(low)}, {_signed(high)}]"])]


def change_text(change: float, low: float = math.nan, high: float = math.nan) -> str:
    """Return a change with its sign and its interval, as far as there are any."""
    return " ".join(change_interval(change, low, high))


def changes(row: Answer) -> tuple[str, str]:
    """Return the changes of discrimination and of accuracy to the baseline."""
    return (
        change_text(row.change, row.change_low, row.change_high),
        change_text(row.accuracy_change, row.accuracy_change_low, row.accuracy_change_high),
    )


def less_words(rows: Sequence[Answer], rope: float) -> tuple[str, str]:
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


def recommended_rule(rows: Sequence[Answer], rope: float) -> str:
    """Say what a technique has to do to be recommended, unless another one outdoes it."""
    return (
        f"{less_words(rows, rope)[0]}; as accurate as the best constant answer or more; a value in every "
        f"repetition; never the same answer to more than {share(NEARLY_ALL)} of all or of a group; in each "
        "group at least half as many accepted, and refused, as by the baseline at β = 0, or as labels say "
        "where that is not known"
    )


def gain_and_cost(row: Answer) -> str:
    """Say how much discrimination is left, at what cost, and whom the technique accepts."""
    hidden = f"of either sign, on average {number(row.distance)} from 0; " if changes_sign(row) else ""
    gain, cost = changes(row)
    return (
        f"{number(row.value)} ({hidden}change {gain}) at accuracy {number(row.accuracy)} (change {cost}); "
        + whom_it_accepts(row)
    )


def changes_sign(row: Answer) -> bool:
    """Whether discrimination is of either sign to such an extent that its mean, as shown, hides it."""
    return number(row.distance) != number(abs(row.value))


def _signed(value: float) -> str:
    text = number(value)
    return text if text.startswith("-") or float(text) == 0 else f"+{text}"


def remarks(row: Answer, titles: Mapping[str, str], *, of_several: bool = False) -> str:
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
        f"{_LACKING[math.isnan(row.accepted)]} not recorded": own == "unknown",
        too_few_words(row): own == "too_few",
        fall_words(row): row.is_chosen and falls(row),
        "not compared": own == "not_compared",
        one_group: bool(one_group),
        INSIDE_WORDS: row.frontier == INSIDE,
        "not shown to be less" if row.tested else "no less in the one sample": own == "no_less",
        "more discrimination": own == "worse",
    }
    return "; ".join(words for words, is_so in found.items() if is_so)


def answer_counts(rows: Sequence[Answer]) -> str:
    """Count the techniques of one level of bias by verdict, in one line."""
    baselines = [row for row in rows if row.verdict == "baseline"]
    counts = Counter(row.verdict for row in rows if not row.is_compared_with)
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
        text += f", because the baseline {baselines[0].degenerate}"
    verdicts = {
        "that cannot be judged": "unknown",
        "outdone": "outdone",
        "with the same answer for nearly everybody, or for each group": "degenerate",
        BELOW_WORDS: "below_constant",
        "with one answer for a group": "one_group",
        "with too few of a group accepted or refused": "too_few",
        "not compared in every sample": "incomplete",
        "without any value": "missing",
        "not compared": "not_compared",
        "not shown to leave less": "no_less",
        "with more discrimination": "worse",
    }
    parts = (f"{counts[name]} {words}" for words, name in verdicts.items() if counts[name])
    return "; ".join([text, *parts])


def answer_sentences(rows: Sequence[Answer], titles: Mapping[str, str], *, rope: float) -> list[str]:
    """Say which technique to choose at one level of bias: the gain, the cost, and what is left out.

    The rows are those of one scenario and level of bias of
    :func:`~benchmark.statistics.answers.answer_table`, as :func:`in_order` returns them; ``rope`` is the
    difference up to which two techniques are practically equivalent.
    """
    baselines = [row for row in rows if row.verdict == "baseline"]
    untreated = [row for row in rows if row.verdict == "untreated"]
    others = [row for row in rows if not row.is_compared_with]
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
            sentences.append(f"{DEGENERATE} It {baseline.degenerate}; {COMPARED_NEVERTHELESS}.")
    if not others:
        return [*sentences, "No other technique was run."]
    if all(math.isnan(row.accepted) for row in rows):
        return [*sentences, UNKNOWN_SHARES, "No technique is recommended."]
    if all(math.isnan(row.constant_accuracy) for row in others):
        sentences.append(UNKNOWN_CONSTANT)
    less, nor = less_words(rows, rope)
    chosen = [row for row in others if row.is_chosen]
    rest = _of_the_rest([row for row in others if not row.is_chosen], titles, nor)
    if not chosen:
        if not all(row.baseline_degenerate or math.isnan(row.value) for row in baselines):
            sentences.append("No technique is recommended.")
    else:
        sentences += _of_the_chosen(chosen, len(others), titles, less, rope)
    picked = recommended_choices(chosen)
    sentences += better_in_both(picked, others, titles)
    gain = next((gain_and_cost(row) for row in others if RESTORES in row.choices), "")
    sentences += restored_sentences(rows, titles, list(picked.values()), rope, gain)
    return [*sentences, *rest, *few_sentences(others)]


def _of_the_chosen(
    chosen: list[Answer], n_others: int, titles: Mapping[str, str], less: str, rope: float
) -> Iterator[str]:
    """Name the choices, what they leave and cost, and count the techniques to choose from."""
    picked, one = recommended_choices(chosen), len(chosen) == 1
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


def _of_baseline(row: Answer, name: str, of: str = "") -> str:
    if math.isnan(row.value):
        return f"The baseline{of}, {name}, has no value here: nothing is compared with it."
    return _left_by(f"The baseline{of}, {name},", row)


def _of_doing_nothing(row: Answer, name: str) -> str:
    if math.isnan(row.value):
        return f"Doing nothing ({name}) has no value here."
    return _left_by(f"Doing nothing ({name})", row)


def _left_by(what: str, row: Answer) -> str:
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


def _of_the_rest(rows: list[Answer], titles: Mapping[str, str], nor: str) -> list[str]:
    """Count the techniques that are not recommended, by reason, and name those that lack most."""
    parts = []
    for verdict in _REJECTED:
        if not (own := [row for row in rows if row.verdict == verdict]):
            continue
        one = len(own) == 1
        words = {
            "outdone": f"{'is' if one else 'are'} outdone: {OUTDONE}",
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
