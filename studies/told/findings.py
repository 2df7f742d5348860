"""What must you know to undo a bias? Numbers, findings, figure, claims, and the table that the package ships.

``python -m studies told`` writes all of it anew from the atlas's table of means. ``experiments/atlas.toml``
has the rules, :mod:`studies.told.estimands` the estimands.

Columns of ``benchmark/statistics/told.csv`` are :data:`studies.told.estimands.COLUMNS`. A row is a learner, a
dose and something that is known: ``fact`` is of :data:`benchmark.techniques.knowledge.FACTS`, ``m`` how many
people were looked at again, ``factor`` the told gap as a multiple of the planted one. Numbers are means over
``sources`` with label and borderline bias, at .20 with label bias alone. ``*_gain`` is how much better
``technique`` is than doing nothing, with its interval. Told a gap as large as the dose, a model gains
nothing where the true gap is below ``break_even``, in agreement or in distance, the larger one of the two.
``break_even_high`` is the greatest that the intervals allow. ``harm_*`` is lost where nothing was planted
and this gap is feared, or a tenth of the refusals is misjudged: agreement, accuracy, and the share of the
deprived group that is accepted in addition.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from math import isfinite, nan
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from benchmark.figures import style
from benchmark.figures.page import Page
from benchmark.statistics.answers import ACCURACY
from benchmark.statistics.hypothesis_tests import (
    holm,
    sign_flip_interval,
    sign_flip_p_values,
    smallest_difference,
)
from benchmark.statistics.intervals import prediction_intervals
from benchmark.statistics.restoration import AGREEMENT, RESTORATION_DISTANCE
from benchmark.text.markdown import table
from benchmark.text.writing import SIX_DIGITS, csv_text
from studies.estimates import Estimate, three, told, two
from studies.pages import CLAIMS, WORDS, Files, finding, listed, named, points, sections, with_claims
from studies.sources.findings import interval, p_text
from studies.told import estimands as study_of
from studies.told.estimands import (
    ACCEPTED,
    BEYOND,
    BLIND,
    BOOSTING,
    DOSE,
    DOSES,
    DROP,
    EXAMINERS,
    FEARED,
    KINDS,
    LEARNERS,
    LEAST,
    MEASURES,
    NOTHING,
    OTHER_KINDS,
    PRIMARY,
    PROTOTYPE,
    REFIT,
    TREE,
    M,
    Study,
    estimate,
)

ROOT = Path(__file__).resolve().parents[2]
FOLDER, MEANS = ROOT / "results" / "told", ROOT / "results" / "atlas" / "means.csv.xz"
FINDINGS, NUMBERS, FIGURE = FOLDER / "FINDINGS.md", FOLDER / "NUMBERS.md", FOLDER / "figures" / "told.png"
TABLE = ROOT / "benchmark" / "statistics" / "told.csv"

Place = tuple[float, Sequence[str] | None, Sequence[str]]
"""A dose, kinds of bias (None for those of the dose) and learners."""

_BOOSTED: Place = (DOSE, None, (BOOSTING,))

_SHORT = {AGREEMENT: "agreement", RESTORATION_DISTANCE: "distance"}
_FEARED = {name: f"a feared gap of {two(gap)}" for gap, name in FEARED.items()}
_REFUSALS = {f"refusal_weights_{m}": f"{m} refusals" for m in M}
_EXAMINED = {name: f"50 refusals, {share} % misjudged" for name, share in EXAMINERS.items()}
_GAPS = {name: f"{factor:g} times the gap" for name, factor in study_of.GAPS.items()} | _FEARED
_GAPS |= {"gap_weights_wrong": "the gap, and a wrong kind"}
_RATES = {"rate_weights": "true rates"} | {
    f"rate_weights_{signs}_{error}": f"errors of .{error}: {signs.replace('p', '+').replace('m', '-')}"
    for error in ("05", "10")
    for signs in study_of.CORNERS
}
_LEARNERS = {"c45": "C4.5", "logistic_regression": "logistic regression"}
_LEFT = {REFIT: "refit on clean rows"}
_SIGNS = {"the kind": "kind", "half the gap": "half\nthe\ngap", "the gap": "gap", "both rates": "both\nrates"}
_SIGNS |= {"bounds of the rate": "bounds\nof\nrate", **{f"{m} refusals": str(m) for m in M}}
_SIGNS |= {"50 refusals": "50\nrefusals,\nlooked at again"}
_SIGNS |= {f"{m} clean rows": f"{m}\nclean\nrows" for m in (50, 200)}


@cache
def read() -> Study:
    """Return the study of the committed means."""
    # The text "none" is a name.
    missing = dict.fromkeys(study_of.METRICS, "")
    return Study(pd.read_csv(MEANS, keep_default_na=False, na_values=missing, low_memory=False))


# ----------------------------------------------------------------------------------------------------- tables


def places(learners: Sequence[str] = LEARNERS, kinds: Sequence[str] | None = None) -> dict[str, Place]:
    """Return all doses as places, by their words."""
    return {f"dose {two(dose)}": (dose, kinds, learners) for dose in DOSES}


def gain(study: Study, name: str, other: str, measure: str, place: Place) -> Estimate:
    """Return the mean gain of one over another over sources, with its interval."""
    return estimate(study.gains(measure, name, other, *place))


def text_of(own: Estimate) -> str:
    """Return an estimate as text; nothing if there is none."""
    return told(own, three) if isfinite(own[0]) else ""


def grid(study: Study, names: Mapping[str, str], other: str, of: Mapping[str, Place]) -> str:
    """Return the gains of techniques over another one in some places, with p-values corrected by Holm."""
    rows = [[words] for words in names.values()]
    for place in of.values():
        gains = [[study.gains(one, name, other, *place) for one in MEASURES] for name in names]
        p = holm(np.array([study_of.p_of_both(own) if len(own[0]) > 1 else np.nan for own in gains]))
        for row, own, one in zip(rows, gains, p, strict=True):
            row += [*map(text_of, map(estimate, own)), "" if np.isnan(one) else p_text(one)]
    head = [text for place in of for text in (f"agreement, {place}", "distance", "p")]
    return table(["known", *head], [row for row in rows if any(row[1:])])


def primary_table(study: Study) -> str:
    """Return the primary contrasts, over all sources and over those that did not suggest the study."""
    head = ["told", "over", "measure", "gain", "p", "p of both, corrected", "least gain", "power at it"]
    head += ["smallest difference", "on a new source", "better on"]
    rows = []
    for some, words in ((study.sources(), "all"), (study_of.fresh(study), "others than suggested it")):
        for name, one in study_of.primaries(study, some).items():
            for measure, gains in one.gains.items():
                own, least = gains.to_numpy(), LEAST[measure]
                new = prediction_intervals(own[None, :])
                cells = [PRIMARY[name], f"{words} ({len(own)})", _SHORT[measure], told(exact(gains), three)]
                cells += [p_text(sign_flip_p_values(own[None, :])[0]), p_text(one.p), three(least)]
                cells += [two(study_of.power(own, least)), three(smallest_difference(own))]
                cells += [interval((new[0][0], new[1][0])), f"{int((own > 0).sum())} of {len(own)}"]
                rows.append(cells)
    return table(head, rows)


def worth_table(study: Study, names: Mapping[str, str], dose: float = DOSE, *, tested: bool = True) -> str:
    """Return what is left at a dose, and gains over the best that knows nothing, with p-values by Holm."""
    apart = {NOTHING, BLIND, REFIT} | ({"half the gap", "50 refusals"} if dose == DOSE else set())
    gains = {name: [study.gains(one, name, BLIND, dose) for one in MEASURES] for name in names}
    p = holm(np.array([nan if name in apart else study_of.p_of_both(own) for name, own in gains.items()]))
    rows = []
    for (name, own), one in zip(gains.items(), p, strict=True):
        cells = [names[name]]
        for measure, more in zip(MEASURES, own, strict=True):
            cells += [three(study.values(measure, name, dose).mean()), text_of(estimate(more))]
        cells += ["" if np.isnan(one) else p_text(one)] * tested
        cells += [f"{int((own[0] > 0).sum())} of {len(own[0])}"]
        rows.append(cells if name != BLIND else [*cells[:2], "", cells[3], *[""] * (len(cells) - 4)])
    head = ["known", "agreement", "more", "distance", "less", *["p"] * tested, "agrees more on"]
    return table(head, rows)


_SHORTLY = {NOTHING: "nothing, and nothing is done", BLIND: "nothing: best technique by this measure"}
_SHORTLY |= {"half the gap": "**half the gap**", "the gap": "the gap", "50 refusals": "**50 refusals**"}
_SHORTLY |= {"both rates": "true rates of both groups"}
_SHORTLY |= {REFIT: "all clean rows (refit)"}


def people_table(study: Study) -> str:
    """Return, for each edition of a file and learner, what people's bias leaves."""
    names = {NOTHING: "nothing", "gap_weights": "gap", "rate_weights": "rates"} | _REFUSALS
    names |= {"prediction_powered_200": "200 clean rows", REFIT: "refit"}
    names = {name: words for name, words in names.items() if name in study_of.people(study)[AGREEMENT]}
    blind, rows = [name for name in study.states[BLIND].techniques if name != NOTHING], []
    for (_, edition, learner), own in study_of.people(study).iterrows():
        cells = [f"`{edition}`", learner]
        for measure, sign in MEASURES.items():
            values = own[measure]
            cells += [*map(three, values[[*names]]), three(sign * (sign * values.reindex(blind)).max())]
        rows.append(cells)
    head = [*names.values(), "best that knows nothing, in hindsight"]
    return table(["labels", "learner", *(f"{_SHORT[m]}: {name}" for m in MEASURES for name in head)], rows)


def harm_table(study: Study) -> str:
    """Return what is lost where nothing was planted."""
    head = {AGREEMENT: "agreement lost", BEYOND: "beyond the refit's", ACCURACY: "accuracy lost"}
    head |= {ACCEPTED: "deprived group accepted more"}
    rows = []
    for name in (*_FEARED, *_EXAMINED, DROP, REFIT):
        for learner in study.learners(name):
            own = study_of.harm(study, name, learner)
            rows.append([f"`{name}`", learner, *(text_of(own[one]) for one in head)])
    return table(["technique", "learner", *head.values()], rows)


def choices(study: Study) -> str:
    """Return how often each technique was the best elsewhere, among those that know nothing."""
    rows = []
    for measure in MEASURES:
        chosen = study.chosen(measure, study.states[BLIND].techniques)
        for learner, own in chosen.groupby(level="classifier"):
            counts = ", ".join(f"`{name}` {n}" for name, n in own.value_counts().items())
            rows.append([_SHORT[measure], learner, counts])
    return table(["measure", "learner", "chosen on the other sources, for so many sources"], rows)


# ------------------------------------------------------------------------------------------------------ words


def both(study: Study, name: str, other: str, dose: float = DOSE) -> str:
    """Return a gain in agreement, and in distance, as text."""
    place = (dose, None, study.learners(name))
    return " and ".join(text_of(gain(study, name, other, measure, place)) for measure in MEASURES)


def break_even(study: Study, dose: float) -> str:
    """Return the multiples of the true gap at which telling it gains nothing in either measure."""
    most, texts = max(study_of.told_gaps(dose)), []
    for measure in MEASURES:
        own = study_of.break_even(study, measure, dose)
        mean, low, high = (f"more than {most:g}" if value > most else two(value) for value in own)
        texts.append(mean if mean == low else f"{mean} [{low}, {high}]")
    return " and ".join(texts)


def boosted(study: Study) -> str:
    """Return what 50 refusals gain with gradient boosting, which no primary contrast counts."""
    nothing, best = (
        [gain(study, "refusal_weights_50", other, one, _BOOSTED) for one in MEASURES]
        for other in (NOTHING, BLIND)
    )
    if not all(isfinite(mean) for mean, *_ in best):
        return ""
    words = {AGREEMENT: ("agree more", "agree less"), RESTORATION_DISTANCE: ("end nearer", "end farther")}
    fates = []
    for own, (more, less) in zip(best, words.values(), strict=True):
        fate = more if own[1] > 0 else less if own[2] < 0 else f"are not shown to {more}"
        fates.append(f"{fate}: {text_of(own)}")
    return (
        f"With gradient boosting, refusals gain {' and '.join(three(mean) for mean, *_ in nothing)} over "
        f"doing nothing. Beside the best, they {fates[0]}. They {fates[1]}."
    )


def hindsight(study: Study) -> str:
    """Return the technique that knows nothing and agrees most at the dose of claims."""
    agrees = {name: study.values(AGREEMENT, name, DOSE).mean() for name in study.states[BLIND].techniques}
    return max((name for name in agrees if isfinite(agrees[name])), key=lambda name: agrees[name])


def hindsight_text(study: Study) -> str:
    """Return on how many people that technique agrees."""
    agrees = study.values(AGREEMENT, hindsight(study), DOSE).mean()
    return f"Chosen in hindsight, `{hindsight(study)}`, which knows nothing, agrees on {100 * agrees:.1f} %."


def answer(study: Study) -> str:
    """Return the answer, and the numbers of both primary contrasts."""
    own = study_of.primaries(study)
    shown, missed = (
        [PRIMARY[name] for name, one in own.items() if one.shown is fate] for fate in (True, False)
    )
    does = "bring decisions nearer to those of clean rows than the best technique that knows nothing"
    head = f"Knowing {' or '.join(shown)} is shown to {does}." if shown else ""
    head += f" Knowing {' or '.join(missed)} is not shown to{'.' if shown else f' {does}.'}" if missed else ""
    numbers = []
    for name, one in own.items():
        gains = " and ".join(told(exact(gains), three) for gains in one.gains.values())
        numbers.append(f"{PRIMARY[name].capitalize()}: {gains} (p {p_text(one.p)}).")
    names = ("refusal_weights_50", NOTHING, BLIND)
    agrees = [f"{100 * study.values(AGREEMENT, name, DOSE).mean():.1f} %" for name in names]
    return (
        f"**{head.strip()}** Told 50 refusals, models decide as the clean model on {agrees[0]} of the "
        f"people. Doing nothing agrees on {agrees[1]}, the best that knows nothing on {agrees[2]}. "
        f"These are means at dose {two(DOSE)}, over {len(study.sources())} sources. Agreement "
        f"and distance over the best: {' '.join(numbers)} {boosted(study)}"
    ).rstrip()


def exact(gains: pd.Series) -> Estimate:
    """Return a mean gain over sources, with the interval that exact sign flips give."""
    values = gains.to_numpy()
    return float(values.mean()), *sign_flip_interval(values)


def findings(study: Study) -> str:
    """Return the page of findings; ``studies/told/test_told.py`` holds what its words say."""
    examined = [*EXAMINERS]
    least = [f"{study_of.least_m(study, dose) or 'none'} at {two(dose)}" for dose in DOSES]
    small, wrong = (
        [two(one) if isfinite(one) else f"more than {two(0.1)}" for one in rates]
        for rates in ([study_of.rates_break_even(study, m, dose) for m in MEASURES] for dose in DOSES[:2])
    )
    even = [told(study_of.least_gap(study, AGREEMENT, dose), two) for dose in DOSES[:2]]
    place = (DOSE, OTHER_KINDS[:1], LEARNERS)
    missing = [
        " and ".join(three(gain(study, name, NOTHING, one, place)[0]) for one in MEASURES)
        for name in (examined[0], "gap_weights")
    ]
    fear, misjudged, refit = (
        study_of.harm(study, name, TREE) for name in ("gap_weights_feared_10", examined[-1], REFIT)
    )
    fresh = study_of.primaries(study, study_of.fresh(study))
    worth = [both(study, examined[0], NOTHING, dose) for dose in DOSES]
    by_learner = {
        words: gain(study, examined[0], BLIND, RESTORATION_DISTANCE, (DOSE, None, (one,)))
        for one, words in _LEARNERS.items()
    }
    apart = [f"{text_of(own)} ({words}{', not shown' * (own[1] <= 0)})" for words, own in by_learner.items()]
    kept = [PRIMARY[name] for name, one in fresh.items() if one.shown]
    happened = [words for words, own in study_of.dropped(study).items() if own]
    failed = [name for name, holds in study_of.claims(study).items() if not holds]
    powers = [
        study_of.power(study.gains(one, name, BLIND, DOSE).to_numpy(), LEAST[one])
        for name, one in itertools.product(PRIMARY, MEASURES)
    ]
    each, strongest = over_each(study), hindsight(study)
    alone = [low > 0 for low in each["low"]]
    least_gains = " and ".join(each.loc[f"`{strongest}`", [*MEASURES]])
    blind = [name for name in study.states[BLIND].techniques if name != NOTHING]
    ran = [name for name in blind if len(study.values(AGREEMENT, name, *_BOOSTED))]
    unseen = study_of.UNSEEN[0]
    lines = [
        "**How to read it.** Label and borderline bias (at .20 label bias alone), C4.5 and logistic "
        "regression, averaged. *Dose*: the added label gap. A row is the best technique with this knowledge "
        "on the other sources. Brackets: 95 %, above the figure by sign flips. Gradient boosting: "
        f"{two(DOSE)} alone, at most 4,000 rows, {WORDS[len(ran)]} techniques that know nothing, in no test.",
        f"**Worth.** Over doing nothing, 50 refusals gain {worth[0]} at {two(DOSES[0])}. They gain "
        f"{worth[1]} at {two(DOSES[1])}, and {worth[2]} at {two(DOSES[2])}. At {two(DOSE)}, they beat "
        f"{sum(alone)} of {len(alone)} techniques that know nothing. Of the best one, `{strongest}`, they "
        f"are ahead by {least_gains}. Distance, over the best elsewhere: {', '.join(apart)}.",
        f"**How many** refusals are enough? {listed(least).capitalize()}, of {M[0]} to {M[-1]}: intervals "
        "above .005 and .010.",
        f"**How wrong.** With C4.5 and told .05, doing nothing agrees more below a true gap of {even[0]}. "
        f"Told .10, that is {even[1]}. With C4.5, errors of both rates in the worst direction undo their "
        f"gain: {wrong[0]} and {wrong[1]} at {two(DOSE)}, {small[0]} and {small[1]} at {two(DOSES[0])}.",
        f"**Nothing planted.** With C4.5, a feared gap of .10 costs {text_of(fear[AGREEMENT])} of agreement, "
        f"and accepts {three(fear[ACCEPTED][0])} more of the deprived group. 50 refusals, 10 % misjudged, "
        f"cost {three(misjudged[AGREEMENT][0])}. A refit costs {three(refit[AGREEMENT][0])} by chance.",
        f"**People's labels.** {people_text(study)}",
        f"**People are missing** (selection bias of {two(DOSE)}). 50 refusals gain {missing[0]}, the told "
        f"gap {missing[1]}.",
        f"**Group hidden at prediction.** At {two(DOSE)}, 50 refusals gain {both(study, unseen, DROP)} over "
        "dropping the group.",
        f"**Checks.** Shown on the {len(study_of.fresh(study))} sources that did not suggest the study: "
        f"{listed(kept)}. Power at the least gains: {two(min(powers))} to {two(max(powers))}. Reasons to "
        f"drop it: {listed(happened)}. Not shown: {WORDS[len(failed)]} of six "
        f"[claims](NUMBERS.md#claims-written-before-the-run).",
        "**What would change our mind.** Further files with people's labels, or other kinds of bias.",
    ]
    picture = "![Agreement with the clean model and distance to it, by what is known](figures/told.png)"
    title = "What must you know to undo a bias?"
    return finding(title, answer(study), picture, [worth_table(study, _SHORTLY, tested=False)], lines)


def over_each(study: Study) -> pd.DataFrame:
    """Return gains of 50 refusals over each technique that knows nothing, and the lower end of both."""
    rows = {}
    for name in study.states[BLIND].techniques:
        own = [gain(study, "refusal_weights_50", name, one, (DOSE, None, LEARNERS)) for one in MEASURES]
        if all(isfinite(mean) for mean, *_ in own):
            rows[f"`{name}`"] = {
                **dict(zip(MEASURES, map(text_of, own), strict=True)),
                "low": min(o[1] for o in own),
            }
    return pd.DataFrame.from_dict(rows, orient="index", columns=[*MEASURES, "low"])


def people_text(study: Study) -> str:
    """Return in words what refusals and true rates do to people's labels, by file."""
    names, whole = (NOTHING, "refusal_weights_50", "rate_weights"), study_of.people(study)
    texts = []
    for file, own in whole.groupby(level="source").mean().iterrows():
        values = [" ".join(three(own[one, name]) for name in names) for one in MEASURES]
        texts.append(f"`{file}`: {'; '.join(values)}.")
    nearer = [own > 0 for own in study_of.on_people(study, RESTORATION_DISTANCE, names[1]).values()]
    editions: pd.DataFrame = whole[RESTORATION_DISTANCE].groupby(level=["source", "kind"]).mean()
    closer = editions[names[1]] < editions[NOTHING]
    head = f"50 refusals come nearer on {sum(nearer)} of {len(nearer)} files, "
    head += (
        f"{closer.sum()} of {len(closer)} editions. Agreement; distance: by nothing, refusals, true rates."
    )
    return " ".join([head, *texts])


def numbers(study: Study) -> str:
    """Return all numbers behind the findings."""
    known = {text: text for text in study.states if text != BLIND}
    everything = {NOTHING: "nothing is done", BLIND: BLIND} | known | _LEFT
    kinds = {kind.replace("_", " "): (DOSE, (kind,), LEARNERS) for kind in (*KINDS, *OTHER_KINDS)}
    learners = {learner: (DOSE, KINDS, (learner,)) for learner in study.planted.index.unique("classifier")}
    other = {f"level {level:g}": (level, ("measurement",), LEARNERS) for level in (0.25, 0.5, 1.0)}
    tree, blind = places((TREE,)), "over the best that knows nothing"
    even = [f"Dose {two(dose)}: {break_even(study, dose)}." for dose in DOSES]
    for dose in DOSES:
        least = " and ".join(told(study_of.least_gap(study, one, dose), two) for one in MEASURES)
        even.append(f"Told {two(dose)}, doing nothing is better below a true gap of {least}.")
    alike = [
        f"Dose {two(dose)}: in {' of '.join(map(str, study_of.no_better_refit(study, dose)))}."
        for dose in DOSES
    ]
    fates = [
        f"{words.capitalize()}: {'it is so' if own else 'no'}."
        for words, own in study_of.dropped(study).items()
    ]
    less = text_of(study_of.less_at_borderline(study, BLIND))
    refit = text_of(study_of.harm(study, REFIT, TREE)[AGREEMENT])
    remarks = {
        "told_borderline": f"Gains are over doing nothing. Over the best, it is {less} less, by distance.",
        "told_harm": f"A refit costs {refit} by chance.",
        "told_persons": f"The exact gap agrees more than the refit, by "
        f"{text_of(study_of.gap_over_refit(study))}: the refit draws its rows anew, by chance.",
    }
    claims = [
        f"`{name}`: {'holds' if own else 'not shown'}. {remarks.get(name, '')}".rstrip()
        for name, own in study_of.claims(study).items()
    ]
    parts = {
        "Numbers of what must be known to undo a bias": points(_NOTES),
        "Primary contrasts": primary_table(study),
        "The best that knows nothing": f"{choices(study)}\n\n{hindsight_text(study)}",
        **{
            f"What knowledge is worth, dose {two(dose)}, {blind}": worth_table(study, everything, dose)
            for dose in DOSES
        },
        "The same over doing nothing": grid(study, everything, NOTHING, places()),
        "Techniques that know nothing, over doing nothing": grid(
            study, {name: f"`{name}`" for name in study.states[BLIND].techniques}, NOTHING, places()
        ),
        f"50 refusals over each technique that knows nothing, dose {two(DOSE)}": table(
            ["technique", "agreement", "distance"],
            [[name, *row] for name, *row in over_each(study)[[*MEASURES]].itertuples()],
        ),
        f"By kind of bias, dose {two(DOSE)}, {blind}": grid(study, known, BLIND, kinds),
        f"By learner, dose {two(DOSE)}, {blind}": grid(study, known, BLIND, learners),
        f"Number of refusals, {blind}": grid(study, _REFUSALS, BLIND, places()),
        f"Examiners' errors, {blind}": grid(study, _EXAMINED, BLIND, places()),
        "Errors of the gap, over doing nothing, C4.5": grid(study, _GAPS, NOTHING, tree),
        "Break-even of the gap: agreement and distance, C4.5": points(even),
        "Errors of the rates (deprived, favored group), over doing nothing, C4.5": grid(
            study, _RATES, NOTHING, tree
        ),
        "Nothing planted": harm_table(study),
        f"Refusals where people are missing, {blind}": grid(
            study, _REFUSALS, BLIND, places(kinds=OTHER_KINDS)
        ),
        "Measurement bias, which adds no gap, over doing nothing": grid(
            study, _FEARED | _EXAMINED | _LEFT, NOTHING, other
        ),
        "People's labels": people_table(study),
        "Group hidden at prediction, over dropping the group": grid(
            study,
            dict(zip(study_of.UNSEEN, ("50 refusals", "the gap", "both rates"), strict=True)),
            DROP,
            places(),
        ),
        "Scenarios where doing nothing agrees at least as well as the refit": points(alike),
        "What would make us drop it": points(fates),
        "Claims written before the run": points(claims),
    }
    return sections(parts)


_NOTES = (
    "Written by `python -m studies told` from the atlas's means. [The findings](FINDINGS.md) say what "
    "follows, [the experiment](../../experiments/atlas.toml) has the rules, written before the run.",
    "A gain is the difference from another technique; larger is better. Unless a heading says otherwise, "
    "gains are over label and borderline bias, C4.5 and logistic regression. Few sources reach .20 with "
    "borderline bias: there, gains are over label bias alone.",
    "*The best that knows nothing* is chosen for each learner on the other sources, over all doses and "
    "kinds, by the measure itself. On the source that is left out it may be worse than doing nothing. Among "
    "techniques that know the same, the best is chosen alike.",
    "Where a group has fewer refusals than a number, all are looked at.",
    "Brackets: 95 %. In the first table they invert exact sign flips, elsewhere they are Student's. p: the "
    "larger one of both measures', of exact sign flips, corrected by Holm's method within a table and place.",
    "These sources suggested the study: the old eleven, and five on which a prototype may have been tried: "
    f"{named(PROTOTYPE)}.",
)


@style.styled()
def draw(study: Study) -> bytes:
    """Draw agreement and distance over what is known, at each dose, with the refit as lines."""
    names = {NOTHING: "do\nnothing", BLIND: "told\nnothing"} | _SIGNS
    names = {text: names.get(text, text) for text in (NOTHING, *study.states)}
    page = Page(
        2,
        1,
        panel=(6.9, 2.1),
        title="What must you know to undo a bias?",
        subtitle="Label and borderline bias (at .20 label bias alone), C4.5 and logistic regression.",
        notes=[
            "Means over the sources that reach a dose; the refit, over those of .10. Told nothing (dotted): "
            "the best such technique on the other sources, by this measure. Bars: 95 % intervals of the "
            "difference from it. Refusals of the deprived group, and rows of both, were looked at again."
        ],
    )
    looks = [{key: style.line_style(i)[key] for key in ("color", "marker")} for i in range(1, 1 + len(DOSES))]
    dashed = {"lw": 1.0, "ls": (0, (5, 2))}
    facts = ["", *(state.fact for state in study.states.values())]
    for panel, measure in zip(page.panels, MEASURES, strict=True):
        for i, (dose, look) in enumerate(zip(DOSES, looks, strict=True)):
            place, at = (dose, None, LEARNERS), np.arange(len(names)) + 0.22 * (i - 1)
            own = np.array([study.values(measure, name, *place).mean() for name in names])
            more = np.array([gain(study, name, BLIND, measure, place) for name in names])
            blind, sign = study.values(measure, BLIND, *place).mean(), MEASURES[measure]
            panel.vlines(at, *(blind + sign * more[:, 1:].T), color=look["color"], lw=1.2)
            panel.plot(at, own, ls="none", ms=4.6, **look)
            steps = np.array(facts) == "refusals"
            panel.plot(at[steps], own[steps], color=look["color"], lw=0.8)
            panel.axhline(blind, color=look["color"], lw=0.8, ls=(0, (1, 2)), zorder=1.2)
        panel.axhline(study.values(measure, REFIT, DOSE).mean(), color=style.GREY, zorder=1.2, **dashed)
        for x in (facts.count(""), facts.index("refusals"), facts.index("clean_rows")):
            panel.axvline(x - 0.5, color=style.FAINT, lw=0.8)
        panel.set_xticks(range(len(names)), labels=[*names.values()])
        panel.set_xlim(-0.5, len(names) - 0.5)
        panel.grid(visible=False, axis="x")
    page.name_axes()
    for panel, words in zip(page.panels, ("agreement with", "distance to"), strict=True):
        panel.set_ylabel(f"{words}\nthe clean model")
    handles = [
        Line2D([], [], ls="none", **look, label=f"dose {two(dose)}, {len(study.sources(dose))} sources")
        for look, dose in zip(looks, DOSES, strict=True)
    ]
    page.legend_below([*handles, Line2D([], [], color=style.GREY, **dashed, label="refit on clean rows")])
    return style.render(page.fit(), "png")


def claims(study: Study) -> str:
    """Return the page of claims, with the one that rests on the study."""
    own = study_of.primaries(study)["refusal_weights_50"].gains
    half = [(high - low) / 2 for _, low, high in map(estimate, own.values())]
    parts = {
        "Claim": f"{answer(study).replace('**', '')} {hindsight_text(study)} Details: "
        "[study](../results/told/FINDINGS.md), [numbers](../results/told/NUMBERS.md).",
        "Estimand": "The mean gain in [agreement and distance](statistics.md#restored-or-only-evened-out) "
        "over the best technique that knows nothing. This technique is chosen on the other sources over all "
        "doses and kinds, for each measure by itself.",
        "Design": "Label and borderline bias in real rows of independent sources, C4.5 and logistic "
        "regression, six splits. Rules were written before the run. p is the larger one of both measures', "
        "of exact sign flips, corrected for two contrasts. Gradient boosting stands apart; no test counts "
        "it.",
        "Smallest difference": f"{three(half[0])} of agreement and {three(half[1])} of distance, half the "
        "widths for 50 refusals.",
        "What would change our mind": f"Further files with people's labels. {people_text(study)}",
    }
    return with_claims("told", {"What must be known to undo a bias": parts})


FILES: Files = {
    FINDINGS: lambda: findings(read()),
    NUMBERS: lambda: numbers(read()),
    CLAIMS: lambda: claims(read()),
    TABLE: lambda: csv_text(study_of.shipped(read()), SIX_DIGITS),
    FIGURE: lambda: draw(read()),
}
