"""Words and sentences on chosen, tied, better and rejected techniques."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchmark.columns import UNTREATED
from benchmark.sections.goals import WHY_NOT, WHY_NOT_IN_SHORT, words_of
from benchmark.sections.reasons import degenerate_words
from benchmark.sections.signs import (
    BELOW_WORDS,
    COMPARED_NEVERTHELESS,
    INSIDE_WORDS,
    SAME_ANSWER,
    below_constant_words,
)
from benchmark.statistics.answer_record import Answer
from benchmark.statistics.answers import NEARLY_ALL, is_constant
from benchmark.statistics.hidden_bias import HIDDEN_BIAS
from benchmark.statistics.recommendation import CHEAP, CHOICES, EQUAL, FEWER, LEAST, OF_BASELINE, Criteria
from benchmark.statistics.repetitions import FEW_REPETITIONS, few_words
from benchmark.statistics.restoration import BY_CHANCE, NO_EFFECT_SHOWN, NO_REFERENCE, NOTHING_TO_UNDO
from benchmark.statistics.unprocessing import INSIDE
from benchmark.text.words import beyond, number, share

DOING_NOTHING = "doing nothing"
"""The technique without mitigation, in a sentence."""

_MOST_NAMED = 8


UNKNOWN_SHARES = (
    "Selection rates are not recorded in these results, so degenerate techniques cannot be recognized. Run "
    "the experiment again; stored models are not trained again."
)
"""Stands where a run lacks the shares that techniques accept."""

UNKNOWN_CONSTANT = "The accuracy of a constant answer on these rows is not recorded."
"""Stands where nothing can be recommended for lack of it."""

DOMINATED = (
    "on average, a recommended technique is nearer to the goal or more accurate, and no worse in the other"
)
"""The meaning of the verdict ``dominated``."""

_LACKING = {True: "selection rates", False: "the accuracy of a constant answer"}

# Outcomes of rejected techniques, in the order of sentences.
_REJECTED = (
    *("dominated", "constant", "below_constant", "one_group", "too_few_accepted", BY_CHANCE, "incomplete"),
    *("missing", "not_recorded", "not_compared", "not_shown", "harms"),
)


def named_choices(rows: Sequence[Answer]) -> dict[str, Answer]:
    """Return the choices at one level of bias, by :data:`~benchmark.statistics.recommendation.CHOICES`."""
    return {name: row for name in CHOICES for row in rows if name in row.choices}


def baseline_name(row: Answer) -> str:
    """Return the name of an answer's baseline in a sentence."""
    return DOING_NOTHING if row.baseline == UNTREATED else "the baseline"


def candidate_words(row: Answer) -> str:
    """Return the reason why a technique is only a candidate."""
    return f"{row.splits:.0f} samples only" if row.tested else "one sample, no interval"


def choice_sentence(name: str, row: Answer, titles: Mapping[str, str], margin: float) -> str:
    """Return a sentence on a choice: its gain, its cost, and its selection rates."""
    cost = f" at a cost of at most {margin:g} of accuracy" if name == CHEAP else ""
    kind = f"a candidate ({candidate_words(row)})" if row.outcome == "promising" else "recommended"
    purpose = words_of([row]).purpose
    return (
        f"{purpose[0].upper()}{purpose[1:]}{cost}, {titles[row.technique]} is {kind}. "
        f"It leaves {gain_and_cost(row)}. {whom_it_accepts(row)}."
    )


def whom_it_accepts(row: Answer) -> str:
    """Return a clause on the selection rates of both groups, and on the deprived group's loss."""
    deprived, favored = share(row.accepted_deprived), share(row.accepted_favored)
    before = ""
    if falls(row):
        baseline_share = share(row.baseline_accepted_deprived)
        name = baseline_name(row)
        no_more = baseline_share == deprived
        before = f" (no more than {name})" if no_more else f" ({name}: {baseline_share})"
    return f"It accepts {deprived} of the deprived group{before} and {favored} of the favored"


def falls(row: Answer) -> bool:
    """Return whether the deprived group's selection rate, as shown, is lower than with the baseline.

    An equal rate counts where the favored group's is lower.
    """
    accepted, before = row.accepted_deprived, row.baseline_accepted_deprived
    fewer = accepted < before and share(accepted) != share(before)
    return not math.isnan(before) and row.outcome != "baseline" and bool(fewer or row.levels_down)


def fall_words(row: Answer) -> str:
    """Return a clause on a lower or equal selection rate of the deprived group; nothing if it is higher."""
    if not falls(row):
        return ""
    accepted, before = share(row.accepted_deprived), share(row.baseline_accepted_deprived)
    name, term = baseline_name(row), "leveling down: " * row.levels_down
    if accepted == before:
        return (
            f"{term}accepts no more of the deprived group than {name} ({accepted}), and fewer of the favored"
        )
    return f"{term}accepts {accepted} of the deprived group ({name}: {before})"


def too_few_words(row: Answer) -> str:
    """Return the first limit of acceptance that a technique misses, in words; nothing if it misses none."""
    if not row.too_few:
        return ""
    limit = row.too_few.split()[0]
    if limit == FEWER:
        shares = row.accepted_deprived, row.baseline_accepted_deprived
        accepted, before = map(share, shares)
        if accepted == before:  # as shown
            accepted, before = map(number, shares)
        return f"accepts fewer of the deprived group than {baseline_name(row)}: {accepted} ({before})"
    verb, group = limit.split("_")
    answered, reference, people = {
        "deprived": (row.accepted_deprived, row.reference_deprived, "the deprived group"),
        "favored": (row.accepted_favored, row.reference_favored, "the favored group"),
        "all": (row.accepted, row.reference_accepted, "all"),
    }[group]
    outcome = "favorable" if verb == "accepts" else "unfavorable"
    if verb == "refuses":
        answered, reference = 1 - answered, 1 - reference
    of_baseline = "the clean model"
    if row.clean_model == row.baseline:
        of_baseline = f"{baseline_name(row)} without planted bias"
    compared = of_baseline if row.reference == OF_BASELINE else f"{outcome} labels"
    return f"{verb} too few of {people}: {share(answered)} ({compared}: {share(reference)})"


def below_floor_words(row: Answer) -> str:
    """Return the accuracy floor that a rejected technique misses, in words."""
    return f"{below_constant_words(row)}, below the floor of {number(row.accuracy_floor)}"


def tie_sentences(
    picked: Mapping[str, Answer], rows: Sequence[Answer], titles: Mapping[str, str], margin: float
) -> Iterator[str]:
    """Yield a sentence on the techniques tied with each choice; once where several have the same."""
    ties: set[tuple[str, ...]] = set()
    for name, choice in picked.items():
        tied = [row for row in rows if name in row.ties and row is not choice]
        names = (choice.technique, *(row.technique for row in tied))
        if not tied or names in ties:
            continue
        ties.add(names)
        best = words_of(tied).least + " at little cost" * (name == CHEAP)
        yield (
            f"Tied for {best} within {margin:g}: {titles[choice.technique]}; {listed(tied, titles)}. The "
            "most accurate is named."
        )


def recommended_as_well(
    picked: Mapping[str, Answer], rows: Sequence[Answer], titles: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence on recommended techniques and candidates that are neither chosen nor tied."""
    chosen = [row for row in rows if row.is_chosen]
    named = {row.technique for row in picked.values()}
    more = [row for row in chosen if row.technique not in named and not row.ties]
    if more:
        kind = "Recommended" if more[0].outcome == "helps" else "Candidates"
        yield f"{kind} as well: {listed(more, titles)}."


def better_in_both(
    picked: Mapping[str, Answer], rows: Sequence[Answer], titles: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence on techniques with better means than a choice, but not shown to be better."""
    for choice in dict.fromkeys(picked.values()):
        nearer = [
            row
            for row in rows
            if row.outcome == "not_shown"
            and row.distance < choice.distance - EQUAL
            and row.accuracy > choice.accuracy + EQUAL
        ]
        if nearer:
            yield (
                f"On average these are {words_of(nearer).nearer} and more accurate than "
                f"{titles[choice.technique]}, but not shown to {words_of(nearer).gain} than the baseline: "
                f"{listed(nearer, titles)}."
            )


def few_sentences(rows: Sequence[Answer]) -> Iterator[str]:
    """Yield a warning if there are so few repetitions that they show hardly anything."""
    splits = max((int(row.splits) for row in rows if row.tested), default=0)
    if 2 <= splits < FEW_REPETITIONS:
        # Of all techniques, tested or not, so that each page of a run has the same number.
        yield few_words(splits, sum(row.outcome != "baseline" for row in rows))


def listed(rows: Sequence[Answer], titles: Mapping[str, str]) -> str:
    """Return the names of techniques, each with its distance from the goal and its accuracy."""
    texts = [
        f"{titles[row.technique]} ({number(row.distance)} {words_of([row]).away}, accuracy "
        f"{number(row.accuracy)})"
        for row in rows
    ]
    return several(texts)


def several(names: Sequence[str]) -> str:
    """Return the first names, which may hold commas, and the number of the others."""
    more = len(names) - _MOST_NAMED
    return "; ".join(names[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")


def one_group_words(row: Answer) -> str:
    """Return the group that gets nearly always the same answer, in words; nothing if neither does."""
    if not row.one_group:
        return ""
    for group, accepted in (("deprived", row.accepted_deprived), ("favored", row.accepted_favored)):
        if is_constant(accepted):
            verb = "accepts" if accepted > NEARLY_ALL else "refuses"
            return f"{verb} more than {share(NEARLY_ALL)} of the {group} group"
    return ""


def change_interval(change: float, low: float, high: float) -> list[str]:
    """Return the texts of a change with its sign, and of its interval if there is one."""
    if math.isnan(change):
        return ["–"]
    return [_signed(change), *([] if math.isnan(low) else [f"[{_signed(low)}, {_signed(high)}]"])]


def change_text(change: float, low: float = math.nan, high: float = math.nan) -> str:
    """Return a change with its sign, and its interval if there is one."""
    return " ".join(change_interval(change, low, high))


def gain_and_cost(row: Answer) -> str:
    """Return a phrase on a technique's distance from the goal, its accuracy, and both changes."""
    hidden = f"of either sign, on average {number(row.distance)} from 0; " if changes_sign(row) else ""
    gain = change_text(row.change, row.change_low, row.change_high)
    cost = change_text(row.accuracy_change, row.accuracy_change_low, row.accuracy_change_high)
    return (
        f"a {words_of([row]).measure} of {number(row.value)} ({hidden}change {gain}) at accuracy "
        f"{number(row.accuracy)} (change {cost})"
    )


def changes_sign(row: Answer) -> bool:
    """Return whether discrimination differs in sign between samples so much that its shown mean hides it."""
    return number(row.distance) != number(abs(row.value))


def _signed(value: float) -> str:
    text = number(value)
    return text if text.startswith("-") or float(text) == 0 else f"+{text}"


def flaws(row: Answer) -> str:
    """Return the reasons against a baseline or chosen technique in a few words; nothing if there are none."""
    below = below_constant_words(row) if row.below_constant else ""
    useless = [degenerate_words(row)] if row.n_degenerate else [below, one_group_words(row)]
    inside = INSIDE_WORDS if row.frontier == INSIDE else ""
    return "; ".join(filter(None, [*useless, inside, fall_words(row) if row.is_chosen else ""]))


def answer_counts(rows: Sequence[Answer]) -> str:
    """Return the number of techniques with each verdict at one level of bias, in one line."""
    baselines = [row for row in rows if row.outcome == "baseline"]
    counts = Counter(row.outcome for row in rows if not row.is_compared_with)
    text = f"{counts['helps'] or 'none'} of {_techniques(counts.total())} recommended"
    if counts.total() == 1:
        text = f"1 technique, {'recommended' if counts['helps'] else 'not recommended'}"
    if counts["promising"]:
        several = "s" * (counts["promising"] > 1)
        first = next(row for row in rows if row.outcome == "promising")
        text += f"; {counts['promising']} candidate{several} ({candidate_words(first)})"
    if not baselines:
        text += ", because the baseline was not run"
    # Of several, the rows that are not compared say so.
    elif len(baselines) == 1 and math.isnan(baselines[0].value):
        text += ", because the baseline has no value to compare with"
    elif len(baselines) == 1 and baselines[0].baseline_degenerate:
        text += f", because the baseline {degenerate_words(baselines[0])}"
    verdicts = {
        f"that cannot be judged: the run did not record {_lacking(rows)}": "not_recorded",
        "dominated": "dominated",
        "degenerate (the same answer for nearly everybody, or for each group)": "constant",
        BELOW_WORDS: "below_constant",
        "with one answer for a group": "one_group",
        "with too few of a group accepted or refused": "too_few_accepted",
        "not compared in every sample": "incomplete",
        "without any value": "missing",
        "not compared": "not_compared",
        f"not shown to {words_of(rows).gain}": "not_shown",
        f"with a greater {words_of(rows).measure}": "harms",
        "not shown to come nearer than chance": BY_CHANCE,
        "with too little to undo": NOTHING_TO_UNDO,
        f"with {WHY_NOT_IN_SHORT[NO_EFFECT_SHOWN]}": NO_EFFECT_SHOWN,
        "withheld": HIDDEN_BIAS,
        "without a reference": NO_REFERENCE,
    }
    parts = (f"{counts[name]} {words}" for words, name in verdicts.items() if counts[name])
    return "; ".join([text, *parts])


def answer_sentences(
    rows: Sequence[Answer],
    titles: Mapping[str, str],
    *,
    criteria: Criteria = Criteria(),  # noqa: B008
) -> list[str]:
    """Return sentences on the choices at one level of bias: gain, cost, and rejected techniques.

    The rows are :func:`~benchmark.statistics.answer_record.in_order` and have the same goal and scenario.
    ``criteria`` are those of their verdicts.
    """
    baselines = [row for row in rows if row.outcome == "baseline"]
    others = [row for row in rows if not row.is_compared_with]
    if not others:
        return [*_of_the_baselines(rows, titles), "No other technique was run."]
    none = none_recommended(others, titles)
    if not baselines:
        return [none, "The baseline was not run: nothing is compared with it."]
    if all(row.outcome in WHY_NOT for row in others):
        return [none, *_of_the_baselines(rows, titles)]
    if all(math.isnan(row.accepted) for row in rows):
        return [none, *_of_the_baselines(rows, titles), UNKNOWN_SHARES]
    chosen = [row for row in others if row.is_chosen]
    sentences = list(_of_the_chosen(chosen, len(others), titles, criteria)) if chosen else [none]
    sentences += _of_the_baselines(rows, titles)
    if all(math.isnan(row.constant_accuracy) for row in others):
        sentences.append(UNKNOWN_CONSTANT)
    sentences += better_in_both(named_choices(chosen), others, titles)
    sentences += _of_the_rest([row for row in others if not row.is_chosen], titles, criteria.margin)
    return [*sentences, *few_sentences(rows)]


def none_recommended(rows: Sequence[Answer], titles: Mapping[str, str]) -> str:
    """Return a sentence that betabench recommends none of some techniques."""
    purpose = words_of(rows).purpose
    if len(rows) == 1:
        return f"betabench does not recommend {titles[rows[0].technique]} {purpose}."
    return f"betabench recommends none of the {len(rows)} techniques {purpose}."


def _of_the_baselines(rows: Sequence[Answer], titles: Mapping[str, str]) -> Iterator[str]:
    """Yield sentences on doing nothing and on each baseline."""
    baselines = [row for row in rows if row.outcome == "baseline"]
    for row in (row for row in rows if row.outcome == "reference"):
        yield _left_by(f"Doing nothing ({titles[row.technique]})", row, "has no value here.")
    for baseline in baselines:
        compared = [row for row in rows if not row.is_compared_with and row.baseline == baseline.technique]
        of = f" of {' and '.join(titles[row.technique] for row in compared)}" if len(baselines) > 1 else ""
        title = f"The baseline{of}, {titles[baseline.technique]},"
        yield _left_by(title, baseline, "has no value here: nothing is compared with it.")
        if baseline.baseline_degenerate:
            yield f"It {degenerate_words(baseline)}: nothing is compared with it here."
        elif baseline.n_degenerate > 0:
            yield f"It {degenerate_words(baseline)}; {COMPARED_NEVERTHELESS}."
        if compared and (reason := WHY_NOT.get(compared[0].outcome)):
            yield reason.format(title=titles[compared[0].clean_model])


def _of_the_chosen(
    chosen: list[Answer], n_others: int, titles: Mapping[str, str], criteria: Criteria
) -> Iterator[str]:
    """Yield sentences on the choices, with gain and cost, and the number of techniques to choose from."""
    picked, one, margin = named_choices(chosen), len(chosen) == 1, criteria.margin
    for name, row in picked.items():
        if name == CHEAP and row is picked[LEAST]:
            gain = row.accuracy_change
            yield (
                f"On average it gains {number(gain)} of accuracy."
                if float(number(gain)) > 0
                else f"On average it costs at most {margin:g} of accuracy."
            )
        else:
            yield choice_sentence(name, row, titles, margin)
    if CHEAP not in picked:
        cost = max(row.accuracy_change for row in chosen)
        least = next(row for row in chosen if row.accuracy_change == cost)
        loss = beyond(-cost, margin)
        yield (
            f"It loses {loss} of accuracy, more than {margin:g}."
            if one
            else f"Every one of them loses more than {margin:g} of accuracy; {titles[least.technique]} loses "
            f"the least, {loss}."
        )
    yield from tie_sentences(picked, chosen, titles, margin)
    candidates, tested = chosen[0].outcome == "promising", any(row.tested for row in chosen)
    kind = ("a candidate" if one else "candidates") if candidates else "recommended"
    where = (
        f"Over {'its whole interval' if one else 'their whole intervals'}" if tested else "In the one sample"
    )
    rule = [
        f"{len(chosen)} of {_techniques(n_others)} {'is' if one else 'are'} {kind}.",
        f"{where}, {'it is' if one else 'they are'} {words_of(chosen).nearer} than the baseline by more than "
        f"{margin:g}.",
        *(["Intervals that hold for all techniques together show it."] if tested else []),
        *([f"A recommendation takes at least {criteria.least_splits} repetitions."] if candidates else []),
    ]
    yield " ".join(rule)
    yield from recommended_as_well(picked, chosen, titles)


def _left_by(title: str, row: Answer, without_value: str) -> str:
    """Return a sentence on the discrimination or distance that a baseline leaves, and on its accuracy."""
    if math.isnan(row.value):
        return f"{title} {without_value}"
    aside = [
        *([f"of either sign, on average {number(row.distance)} from 0"] if changes_sign(row) else []),
        *(["the deprived group is better off"] if number(row.value).startswith("-") else []),
    ]
    hidden = f" ({'; '.join(aside)})" if aside else ""
    sentence = f"{title} leaves a {words_of([row]).measure} of {number(row.value)}{hidden}"
    if not math.isnan(row.accuracy):
        sentence += f" at accuracy {number(row.accuracy)}"
    if row.below_constant:
        sentence += f", {below_constant_words(row)} ({number(row.constant_accuracy)})"
    if words := one_group_words(row):
        sentence += f"; it {words}"
    return sentence + "."


def _of_the_rest(rows: list[Answer], titles: Mapping[str, str], margin: float) -> list[str]:
    """Return a sentence with the number and most names of the rejected techniques, by reason."""
    parts = []
    for outcome in _REJECTED:
        if not (rejected := [row for row in rows if row.outcome == outcome]):
            continue
        one, words = len(rejected) == 1, words_of(rejected)
        reason = {
            "dominated": f"{'is' if one else 'are'} dominated: {DOMINATED}",
            "constant": f"{'is' if one else 'are'} degenerate: {'it answers' if one else 'they answer'} "
            f"{SAME_ANSWER}",
            "below_constant": f"{'is' if one else 'are'} {below_floor_words(rejected[0])}",
            "one_group": f"{'gives' if one else 'give'} one of the groups nearly always the same answer",
            "too_few_accepted": f"{'accepts or refuses' if one else 'accept or refuse'} too few of a group",
            BY_CHANCE: "not shown to come nearer than training again on the biased rows does",
            "incomplete": "not compared in every sample",
            "missing": "without any value",
            "not_recorded": f"without a record of {_LACKING[math.isnan(rejected[0].accepted)]}",
            "not_compared": "not compared with the baseline",
            "not_shown": f"not shown to leave {words.less} by more than {margin:g}"
            if rejected[0].tested
            else f"without {words.less} by more than {margin:g}",
            "harms": f"with a greater {words.measure}",
        }[outcome]
        names = [titles[row.technique] for row in rejected]
        if outcome == "too_few_accepted":
            names = [f"{titles[row.technique]}: {too_few_words(row)}" for row in rejected]
        named = "" if outcome in ("not_compared", "not_shown") else f" ({several(names)})"
        parts.append(f"{len(rejected)} {reason}{named}")
    return [f"Not recommended: {'; '.join(parts)}."] if parts else []


def _lacking(rows: Sequence[Answer]) -> str:
    """Return the record that techniques without a verdict lack."""
    return _LACKING[any(math.isnan(row.accepted) for row in rows if row.outcome == "not_recorded")]


def _techniques(n: int) -> str:
    return f"{n} technique" + "s" * (n != 1)
