"""What is said of techniques that are chosen, tied with them, better, or kept from being chosen.

:mod:`benchmark.sections.answers` puts these words into sentences, tables and the terminal.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchmark.columns import EQUALISE, UNTREATED
from benchmark.sections.goals import WHY_NOT, WHY_NOT_IN_SHORT, GoalWords, words_of
from benchmark.sections.signs import (
    BELOW_WORDS,
    COMPARED_NEVERTHELESS,
    DEGENERATE,
    INSIDE_WORDS,
    SAME_ANSWER,
    below_constant_words,
)
from benchmark.statistics.answer_record import Answer
from benchmark.statistics.answers import NEARLY_ALL, is_constant
from benchmark.statistics.choices import CHEAP, CHOICES, EQUAL, FEWER, LEAST, OF_BASELINE, Criteria
from benchmark.statistics.hidden_bias import HIDDEN_BIAS
from benchmark.statistics.repetitions import FEW_REPETITIONS, few_words
from benchmark.statistics.restoration import BY_CHANCE, NO_EFFECT_SHOWN, NO_REFERENCE, NOTHING_TO_UNDO
from benchmark.statistics.unprocessing import INSIDE
from benchmark.text.words import beyond, number, share

DOING_NOTHING = "doing nothing"
"""What the technique without mitigation is called in a sentence."""

_MOST_NAMED = 8


UNKNOWN_SHARES = (
    "Who is accepted is not recorded in these results, so that techniques that answer nearly everybody, or "
    "each group, the same cannot be told from others. Run the experiment again; what is stored is not "
    "trained again."
)
"""Said where a run does not tell whom techniques accept."""

UNKNOWN_CONSTANT = "What a constant answer would score on these rows is not recorded."
"""Said where it is unknown, so that nothing can be recommended."""

OUTDONE = "in the mean a recommended one is nearer to the goal or more accurate, and no worse in the other"
"""What it means to be outdone."""

REFIT_BIASED = "training again on the biased rows"
"""What chance gives back."""

_LACKING = {True: "the shares accepted", False: "what a constant answer would score"}

# Verdicts on techniques that are not recommended, in the order of sentences.
_REJECTED = (
    "outdone",
    *("degenerate", "below_constant", "one_group", "too_few", BY_CHANCE, "incomplete", "missing", "unknown"),
    *("not_compared", "no_less", "worse"),
)


def named_choices(rows: Sequence[Answer]) -> dict[str, Answer]:
    """Return the choices at one level of bias by what they are named for: least and cheap."""
    return {name: row for name in CHOICES for row in rows if name in row.choices}


def baseline_name(row: Answer) -> str:
    """Return what the baseline of a row of answers is called in a sentence."""
    return DOING_NOTHING if row.baseline == UNTREATED else "the baseline"


def candidate_words(row: Answer) -> str:
    """Say why a technique that would else be recommended is a candidate only."""
    return f"{row.splits:.0f} samples only" if row.tested else "one sample, no interval"


def choice_title(name: str, words: GoalWords, margin: float) -> str:
    """Return what a choice is called: ``"Least discrimination"``."""
    if name == CHEAP:
        return f"Cheap: {words.least} at a cost of at most {margin:g} of accuracy"
    return words.least[0].upper() + words.least[1:]


def choice_words(row: Answer) -> list[str]:
    """Say in a few words what a technique is chosen for, and what it is tied for with a choice."""
    chosen = row.choices
    return [*chosen, *(f"tied for {name}" for name in row.ties if name not in chosen)]


def choice_sentence(name: str, row: Answer, titles: Mapping[str, str], margin: float) -> str:
    """Say which technique is the least or the cheap choice, what it leaves and costs, and whom it accepts."""
    cost = f" at a cost of at most {margin:g} of accuracy (cheap)" if name == CHEAP else ""
    kind = f"a candidate ({candidate_words(row)})" if row.verdict == "candidate" else "recommended"
    purpose = words_of([row]).purpose
    return (
        f"{purpose[0].upper()}{purpose[1:]}{cost}, {titles[row.technique]} is {kind}. "
        f"It leaves {gain_and_cost(row)}. {whom_it_accepts(row)}."
    )


def whom_it_accepts(row: Answer) -> str:
    """Say which shares of both groups are accepted, and what the deprived group loses."""
    deprived, favored = share(row.accepted_deprived), share(row.accepted_favored)
    before = ""
    if falls(row):
        own = share(row.baseline_accepted_deprived)
        name = baseline_name(row)
        before = f" (no more than {name})" if own == deprived else f" ({name}: {own})"
    return f"It accepts {deprived} of the deprived group{before} and {favored} of the favored"


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
    """Say of whom a technique accepts or refuses too few: the first limit that it misses; nothing if none."""
    if not row.too_few:
        return ""
    limit = row.too_few.split()[0]
    if limit == FEWER:
        shares = row.accepted_deprived, row.baseline_accepted_deprived
        own, before = map(share, shares)
        if own == before:  # as shown
            own, before = map(number, shares)
        return f"accepts fewer of the deprived group than {baseline_name(row)}: {own} ({before})"
    verb, group = limit.split("_")
    own_share, whole, people = {
        "deprived": (row.accepted_deprived, row.reference_deprived, "the deprived group"),
        "favored": (row.accepted_favored, row.reference_favored, "the favored group"),
        "all": (row.accepted, row.reference_accepted, "all"),
    }[group]
    outcome = "favorable" if verb == "accepts" else "unfavorable"
    if verb == "refuses":
        own_share, whole = 1 - own_share, 1 - whole
    of_baseline = f"{baseline_name(row)} without planted bias"
    compared = of_baseline if row.reference == OF_BASELINE else f"{outcome} labels"
    return f"{verb} too few of {people}: {share(own_share)} ({compared}: {share(whole)})"


def below_floor_words(row: Answer) -> str:
    """Say which accuracy a technique misses that cannot be recommended for it."""
    return f"{below_constant_words(row.constant_answer)}, below the floor of {number(row.accuracy_floor)}"


def tie_sentences(
    picked: Mapping[str, Answer], rows: Sequence[Answer], titles: Mapping[str, str], margin: float
) -> Iterator[str]:
    """Name the techniques that are tied with a choice; once where they are the same for several."""
    said: set[tuple[str, ...]] = set()
    for name, row in picked.items():
        tied = [own for own in rows if name in own.ties and own is not row]
        names = (row.technique, *(own.technique for own in tied))
        if not tied or names in said:
            continue
        said.add(names)
        yield (
            f"Tied for {name} within {margin:g}: {titles[row.technique]}; {listed(tied, titles)}. The most "
            "accurate is named."
        )


def recommended_as_well(
    picked: Mapping[str, Answer], rows: Sequence[Answer], titles: Mapping[str, str]
) -> Iterator[str]:
    """Name the recommended techniques and candidates that are neither chosen nor tied with a choice."""
    chosen = [row for row in rows if row.is_chosen]
    named = {row.technique for row in picked.values()}
    more = [row for row in chosen if row.technique not in named and not row.ties]
    if more:
        kind = "Recommended" if more[0].verdict == "recommended" else "Candidates"
        yield f"{kind} as well: {listed(more, titles)}."


def better_in_both(
    picked: Mapping[str, Answer], rows: Sequence[Answer], titles: Mapping[str, str]
) -> Iterator[str]:
    """Name techniques that are nearer to the goal and more accurate than a choice, but not shown to be."""
    for row in dict.fromkeys(picked.values()):
        nearer = [
            own
            for own in rows
            if own.verdict == "no_less"
            and own.distance < row.distance - EQUAL
            and own.accuracy > row.accuracy + EQUAL
        ]
        if nearer:
            yield (
                f"In the mean these are {words_of(nearer).nearer} and more accurate than "
                f"{titles[row.technique]}, but not shown to leave less than the baseline: "
                f"{listed(nearer, titles)}."
            )


def few_sentences(rows: Sequence[Answer]) -> Iterator[str]:
    """Say that so few repetitions hardly show anything, and how many would do."""
    compared = [row for row in rows if row.tested]
    splits = max((int(row.splits) for row in compared), default=0)
    if 2 <= splits < FEW_REPETITIONS:
        yield few_words(splits, len(compared))


def listed(rows: Sequence[Answer], titles: Mapping[str, str]) -> str:
    """Name techniques with what they leave and their accuracy."""
    shown = [
        f"{titles[row.technique]} ({number(row.distance)} {words_of([row]).away}, accuracy "
        f"{number(row.accuracy)})"
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


def less_words(rows: Sequence[Answer], margin: float) -> str:
    """Return what techniques to choose leave."""
    return f"{words_of(rows).less} than the baseline by more than {margin:g}"


def shown_by(rows: Sequence[Answer]) -> str:
    """Say what shows that techniques at one level of bias are better."""
    if any(row.tested for row in rows):
        return "Intervals that hold for all techniques together show it."
    return "One sample shows it, without an interval."


def recommended_rule(rows: Sequence[Answer], criteria: Criteria) -> list[str]:
    """Say in sentences what a technique has to do to be recommended, unless another one outdoes it."""
    goals = dict.fromkeys(row.goal for row in rows)
    return [
        f"A recommended technique is nearer to the goal than the baseline by more than {criteria.margin:g}. "
        "Intervals that hold for all techniques at a level of bias together show it.",
        "It is at least as accurate as the best constant answer or the clean model, whichever is less "
        f"accurate, minus {criteria.accuracy_slack:g}.",
        f"In each group it accepts, and refuses, at least {share(criteria.least_group_share)} as many as the "
        "clean model. Without a clean model, labels take its place.",
        *(
            [
                f"To equalise, it also accepts at least {share(criteria.least_overall_share)} as many of "
                "all, and no fewer of the deprived group than the baseline."
            ]
            if EQUALISE in goals
            else []
        ),
        "It has a value in every repetition, and never gives the same answer to more than "
        f"{share(NEARLY_ALL)} of all or of a group.",
        f"With fewer than {criteria.least_splits} repetitions there are candidates only.",
    ]


def gain_and_cost(row: Answer) -> str:
    """Say how much a technique leaves, and at what cost."""
    hidden = f"of either sign, on average {number(row.distance)} from 0; " if changes_sign(row) else ""
    gain, cost = changes(row)
    return (
        f"a {words_of([row]).measure} of {number(row.value)} ({hidden}change {gain}) at accuracy "
        f"{number(row.accuracy)} (change {cost})"
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
        f"candidate: {candidate_words(row)}": own == "candidate",
        f"outdone by {titles.get(row.outdone_by)}": own == "outdone",
        str(row.degenerate): row.n_degenerate > 0,
        below_floor_words(row): own == "below_constant",
        below_constant_words(row.constant_answer): row.below_constant and own != "below_constant",
        f"a value in {row.n} of {samples} samples": row.missing > 0,
        f"compared with the baseline on {row.pairs} of {samples} samples": 0 < row.pairs < row.n,
        f"of either sign, on average {number(row.distance)} from 0": changes_sign(row),
        f"{_LACKING[math.isnan(row.accepted)]} not recorded": own == "unknown",
        too_few_words(row): own == "too_few",
        fall_words(row): row.is_chosen and falls(row),
        "not compared": own == "not_compared",
        one_group: bool(one_group),
        INSIDE_WORDS: row.frontier == INSIDE,
        _no_less_words(row): own == "no_less",
        f"greater {words_of([row]).measure}": own == "worse",
        WHY_NOT_IN_SHORT.get(own, ""): own in WHY_NOT_IN_SHORT,
        "no nearer than chance": own == BY_CHANCE,
    }
    return "; ".join(words for words, is_so in found.items() if is_so)


def _no_less_words(row: Answer) -> str:
    """Say that a technique is not shown to leave less, and why where its own interval lies below 0."""
    if not row.tested:
        return "no less in the one sample"
    if not row.change_high < 0:
        return "not shown to be less"
    low, high = number(row.improvement_low), number(row.improvement_high)
    return f"not shown to be less: with all techniques counted the improvement is in [{low}, {high}]"


def answer_counts(rows: Sequence[Answer]) -> str:
    """Count the techniques of one level of bias by verdict, in one line."""
    baselines = [row for row in rows if row.verdict == "baseline"]
    counts = Counter(row.verdict for row in rows if not row.is_compared_with)
    text = f"{counts['recommended'] or 'none'} of {_techniques(counts.total())} recommended"
    if counts["candidate"]:
        several = "s" * (counts["candidate"] > 1)
        first = next(row for row in rows if row.verdict == "candidate")
        text += f"; {counts['candidate']} candidate{several} ({candidate_words(first)})"
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
        f"with a greater {words_of(rows).measure}" if rows else "": "worse",
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
    """Say which technique to choose at one level of bias: the gain, the cost, and what is left out.

    The rows are those of one goal, scenario and level of bias of
    :func:`~benchmark.statistics.answers.answer_table`, as :func:`in_order` returns them; ``criteria`` are
    what they were made with.
    """
    baselines = [row for row in rows if row.verdict == "baseline"]
    untreated = [row for row in rows if row.verdict == "untreated"]
    others = [row for row in rows if not row.is_compared_with]
    if not baselines:
        return ["The baseline was not run: nothing is compared with it, and no technique is recommended."]
    sentences = [_of_doing_nothing(row, titles[row.technique]) for row in untreated]
    for baseline in baselines:
        compared = [row for row in others if row.baseline == baseline.technique]
        of = f" of {' and '.join(titles[row.technique] for row in compared)}" if len(baselines) > 1 else ""
        sentences.append(_of_baseline(baseline, titles[baseline.technique], of))
        if baseline.baseline_degenerate:
            sentences.append(
                f"It {baseline.degenerate}: no technique is compared with it here, and none is recommended."
                if not of
                else f"It {baseline.degenerate}: nothing is compared with it here."
            )
        elif baseline.n_degenerate > 0:
            sentences.append(f"{DEGENERATE} It {baseline.degenerate}; {COMPARED_NEVERTHELESS}.")
        if compared and (reason := WHY_NOT.get(compared[0].verdict)):
            sentences.append(reason.format(title=titles[baseline.technique]))
    if not others:
        return [*sentences, "No other technique was run."]
    if all(row.verdict in WHY_NOT for row in others):
        return [*sentences, "No technique is ranked or recommended."]
    if all(math.isnan(row.accepted) for row in rows):
        return [*sentences, UNKNOWN_SHARES, "No technique is recommended."]
    if all(math.isnan(row.constant_accuracy) for row in others):
        sentences.append(UNKNOWN_CONSTANT)
    chosen = [row for row in others if row.is_chosen]
    rest = _of_the_rest([row for row in others if not row.is_chosen], titles, criteria.margin)
    if not chosen:
        if not all(row.baseline_degenerate or math.isnan(row.value) for row in baselines):
            sentences.append(f"No technique is recommended {words_of(rows).purpose}.")
    else:
        sentences += _of_the_chosen(chosen, len(others), titles, criteria.margin)
    sentences += better_in_both(named_choices(chosen), others, titles)
    return [*sentences, *rest, *few_sentences(others)]


def _of_the_chosen(
    chosen: list[Answer], n_others: int, titles: Mapping[str, str], margin: float
) -> Iterator[str]:
    """Name the choices, what they leave and cost, and count the techniques to choose from."""
    picked, one = named_choices(chosen), len(chosen) == 1
    for name, row in picked.items():
        if name == CHEAP and row is picked[LEAST]:
            yield f"Its mean cost is at most {margin:g} of accuracy, so that it is the cheap choice as well."
        else:
            yield choice_sentence(name, row, titles, margin)
    if CHEAP not in picked:
        cost = max(row.accuracy_change for row in chosen)
        least = next(row for row in chosen if row.accuracy_change == cost)
        yield (
            f"Every one of them loses more than {margin:g} of accuracy; {titles[least.technique]} loses the "
            f"least, {beyond(-cost, margin)}."
        )
    yield from tie_sentences(picked, chosen, titles, margin)
    kind = "recommended"
    if chosen[0].verdict == "candidate":
        kind = f"{'a candidate' if one else 'candidates'}, and none is recommended"
    yield (
        f"{len(chosen)} of {_techniques(n_others)} {'is' if one else 'are'} {kind}: "
        f"{'it leaves' if one else 'they leave'} {less_words(chosen, margin)}. {shown_by(chosen)}"
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
    sentence = f"{what} leaves a {words_of([row]).measure} of {number(row.value)}{hidden}"
    if not math.isnan(row.accuracy):
        sentence += f" at accuracy {number(row.accuracy)}"
    if row.below_constant:
        sentence += f", {below_constant_words(row.constant_answer)} ({number(row.constant_accuracy)})"
    if words := one_group_words(row):
        sentence += f"; it {words}"
    return sentence + "."


def _of_the_rest(rows: list[Answer], titles: Mapping[str, str], margin: float) -> list[str]:
    """Count the techniques that are not recommended, by reason, and name those that lack most."""
    parts = []
    for verdict in _REJECTED:
        if not (own := [row for row in rows if row.verdict == verdict]):
            continue
        one, words = len(own) == 1, words_of(own)
        said = {
            "outdone": f"{'is' if one else 'are'} outdone: {OUTDONE}",
            "degenerate": f"that {'answers' if one else 'answer'} {SAME_ANSWER}",
            "below_constant": f"that {'is' if one else 'are'} {below_floor_words(own[0])}",
            "one_group": f"{'gives' if one else 'give'} one of the groups nearly always the same answer",
            "too_few": f"that {'accepts or refuses' if one else 'accept or refuse'} too few of a group",
            BY_CHANCE: f"not shown to come nearer than {REFIT_BIASED} does",
            "incomplete": "not compared in every sample",
            "missing": "without any value",
            "unknown": f"without a record of {_LACKING[math.isnan(own[0].accepted)]}",
            "not_compared": "not compared with the baseline",
            "no_less": f"not shown to leave {words.less} by more than {margin:g}"
            if own[0].tested
            else f"without {words.less} by more than {margin:g}",
            "worse": f"with a greater {words.measure}",
        }[verdict]
        names = [titles[row.technique] for row in own]
        if verdict == "too_few":
            names = [f"{titles[row.technique]}: {too_few_words(row)}" for row in own]
        named = "" if verdict in ("not_compared", "no_less") else f" ({several(names)})"
        parts.append(f"{len(own)} {said}{named}")
    return [f"Not recommended: {'; '.join(parts)}."] if parts else []


def _techniques(n: int) -> str:
    return f"{n} technique" + "s" * (n != 1)
