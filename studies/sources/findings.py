"""What forty-four sources say of techniques, for both goals: numbers, findings, figures, claims.

``python -m studies sources`` writes ``results/sources/FINDINGS.md``, ``NUMBERS.md``, the figure and
the claims of ``docs/claims.md`` that rest on them anew from the committed means, which
:mod:`tools.source_means` computes. The rules stand in ``experiments/sources.toml``;
``studies/sources/test_sources.py`` holds what is said.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from textwrap import fill

import numpy as np
import pandas as pd

from benchmark.columns import EQUALIZE, GOAL_METRICS, GOALS, ORIGINAL, RESTORE, TRUTH, hidden_name
from benchmark.experiment.plan import load_experiment
from benchmark.figures import style
from benchmark.statistics.cells import Array
from benchmark.statistics.hypothesis_tests import (
    holm,
    sign_flip_interval,
    sign_flip_p_values,
    smallest_difference,
)
from benchmark.statistics.intervals import prediction_intervals
from benchmark.statistics.restoration import AGREEMENT
from benchmark.text.markdown import table
from studies.agreement import tau_of
from studies.estimates import Estimate, three, told, two
from studies.pages import CLAIMS, WORDS, Files, finding, listed, named, points, with_claims
from studies.random_effects import heterogeneity, variance_of_next
from studies.source_means import DEGENERATE, DISTANCE, DOSE, FOLDER, LEVELS, REACHED, UNDO, committed
from studies.sources_figure import draw_sources

FINDINGS, NUMBERS, FIGURE = FOLDER / "FINDINGS.md", FOLDER / "NUMBERS.md", FOLDER / "figures" / "sources.png"
NOTHING, DROP, FIXED = "none", "drop_sensitive", "threshold_optimizer"
NAMED = (DROP, "reweighing", FIXED)
"""Techniques whose contrasts with doing nothing were named before the run."""

OLD = 11  # sources that the experiment lists first
DOUBTFUL = ("framingham", "georgia_parole")
DOSES, HIDDEN = (0.05, 0.10, 0.20), (0.0, 0.05, 0.10)
METRICS = {RESTORE: GOAL_METRICS[RESTORE], EQUALIZE: DISTANCE, AGREEMENT: AGREEMENT}
SIGNIFICANT = 0.05


@cache
def sources() -> list[str]:
    """Return all sources, in the order of the experiment: first the old ones."""
    return [entry.name for entry in load_experiment("sources").datasets]


@cache
def techniques() -> list[str]:
    """Return the techniques of the experiment, doing nothing among them."""
    return [entry.name for entry in load_experiment("sources").techniques]


@cache
def means(arm: str) -> pd.DataFrame:
    """Return the means of an arm by dataset, bias, level, test, metric, technique and classifier."""
    frame = committed(f"means_{arm}")
    assert frame is not None
    where = ["bias", "level", "test", "metric", "technique", "classifier", "dataset"]
    return frame.set_index(where).sort_index()


def reached(arm: str, level: float, hidden: float = 0.0) -> list[str]:
    """Return the sources that count at a level: whose solved level of bias is no more than .95."""
    computed = set(means(arm).index.get_level_values("dataset"))
    if arm == "levels":
        return [name for name in sources() if name in computed]
    told = means(arm)["mean"].loc[hidden_name("label", hidden), level, ORIGINAL, REACHED]
    some = set(told[told == 1].index.get_level_values("dataset"))
    return [name for name in sources() if name in some]


@cache
def without_doubtful() -> tuple[str, ...]:
    """Return the sources whose values are people's own: not changed for privacy, and not rebuilt."""
    return tuple(name for name in sources() if name not in DOUBTFUL)


def with_something_to_undo(arm: str, level: float, classifier: str = "c45") -> list[str]:
    """Return the sources on which the bias has changed something that could be undone."""
    told = means(arm)["mean"].loc["label", level, ORIGINAL, UNDO, NOTHING, classifier]
    return [name for name in reached(arm, level) if told.get(name) == 1]


@dataclass(frozen=True, eq=False)
class Contrast:
    """A contrast on several sources, larger is better: the gain of a technique over doing nothing."""

    sources: Sequence[str]
    values: Array  # of each source
    errors: Array  # standard errors of the values, corrected for overlapping splits

    @cached_property
    def estimate(self) -> Estimate:
        """Mean over sources, and the interval of centers that the test does not reject."""
        return estimated(self.values)

    @property
    def p(self) -> float:
        """The p-value of the exact sign-flip test."""
        return float(sign_flip_p_values(self.values[None, :])[0])

    @property
    def new(self) -> tuple[float, float]:
        """The prediction interval of a newly measured source; no gain of a distance is larger than 1."""
        means, variances = self.values[None, :], self.errors[None, :] ** 2
        low, high = np.clip(prediction_intervals(means, variance_of_next(means, variances)), -1, 1)
        return float(low[0]), float(high[0])

    @property
    def between(self) -> float:
        """The standard deviation of true values between sources."""
        return float(np.sqrt(heterogeneity(self.values[None, :], self.errors[None, :] ** 2)[0]))

    def of(self, some: Sequence[str]) -> Contrast:
        """Return the contrast on some of the sources."""
        kept = np.isin(self.sources, list(some))
        return Contrast([name for name in self.sources if name in some], self.values[kept], self.errors[kept])


@cache
def contrast(
    arm: str, goal: str, technique: str, level: float, some: tuple[str, ...] | None = None
) -> Contrast:
    """Return the gain of a technique over doing nothing with the same learner, where nothing is hidden.

    It is of ``some`` of the sources, by default of all that count at the level.
    """
    if some is not None:
        return contrast(arm, goal, technique, level).of(some)
    own = means(arm).loc["label", level, ORIGINAL, METRICS[goal], technique]
    [classifier] = set(own.index.get_level_values("classifier"))
    nothing = means(arm).loc["label", level, ORIGINAL, METRICS[goal], NOTHING, classifier]
    own = own.loc[classifier].loc[[name for name in reached(arm, level) if name in nothing.index]]
    gain = (own["mean"] - nothing["mean"].loc[own.index]) * (1 if goal == AGREEMENT else -1)
    known = gain.notna() & own["error"].notna()
    return Contrast([*gain[known].index], gain[known].to_numpy(), own["error"][known].to_numpy())


def compared() -> list[str]:
    """Return the techniques that are compared with doing nothing, named ones first."""
    return [*NAMED, *(name for name in techniques() if name not in (NOTHING, *NAMED))]


@cache
def corrected(arm: str, goal: str, level: float, some: tuple[str, ...] | None = None) -> dict[str, float]:
    """Return p-values by technique, corrected among the named contrasts, and among the others (Holm)."""
    found: dict[str, float] = {}
    for family in (NAMED, tuple(compared()[len(NAMED) :])):
        p = np.array([contrast(arm, goal, name, level, some).p for name in family])
        found |= dict(zip(family, holm(p, undecided=True).tolist(), strict=True))
    return found


def shown(arm: str, goal: str, level: float, some: tuple[str, ...] | None = None) -> dict[str, int]:
    """Return 1 or -1 by technique whose gain, or loss, is shown, and 0 by the others.

    A gain in distance to the clean model counts if agreement with it is not shown to fall.
    """
    found = {}
    for name, p in corrected(arm, goal, level, some).items():
        sign = int(np.sign(contrast(arm, goal, name, level, some).values.mean()))
        found[name] = sign if p < SIGNIFICANT else 0
        if goal == RESTORE and found[name] > 0:
            _, _, high = contrast(arm, AGREEMENT, name, level, some).estimate
            found[name] *= int(high >= 0)
    return found


def degenerate(arm: str, technique: str, level: float) -> int:
    """Return on how many sources a technique answers alike in more than half of the splits."""
    own = means(arm)["mean"].loc["label", level, ORIGINAL, DEGENERATE, technique]
    return int((own.droplevel("classifier").reindex(reached(arm, level)) > 0.5).sum())


# --------------------------------------------------------------------------------- planting in one's own rows


@cache
def ranked(goal: str, hidden: float, dose: float, test: str) -> pd.DataFrame:
    """Return how far each technique is from a goal, a row for each source."""
    own = means("doses")["mean"].loc[hidden_name("label", hidden), dose, test, METRICS[goal]]
    table_of = own.unstack("dataset").droplevel("classifier")
    # Of doing nothing, the row with C4.5 comes first.
    return table_of[~table_of.index.duplicated()].reindex(techniques()).T


@dataclass(frozen=True, eq=False)
class Planting:
    """What ranks under a planted dose say of ranks in truth, a value for each source."""

    tau: Array
    ceiling: Array
    regrets: dict[str, Array]  # of one's ``own`` planting, always ``drop``, ``nothing`` and ``fixed``


@cache
def planting(goal: str, hidden: float, dose: float) -> Planting:
    """Return what planting in one's own rows says of the truth."""
    some = reached("doses", dose, hidden)
    apparent = ranked(goal, hidden, dose, ORIGINAL).loc[some]
    true = ranked(goal, hidden, 0.0, TRUTH if hidden else ORIGINAL).loc[some]
    left = true.sub(true.min(axis=1), axis=0)
    choice = apparent.idxmin(axis=1)
    regrets = {name: left[who].to_numpy() for name, who in (("drop", DROP), ("nothing", NOTHING))}
    regrets |= {"fixed": left[FIXED].to_numpy(), "random": left.mean(axis=1).to_numpy()}
    regrets["own"] = np.array([left.loc[source, name] for source, name in choice.items()])
    halves = means("doses")["mean"].loc[hidden_name("label", hidden)]
    metric = f"tau_of_halves_{goal}"
    ends = [halves.loc[dose, ORIGINAL, metric], halves.loc[0.0, TRUTH if hidden else ORIGINAL, metric]]
    taus = np.clip([own.droplevel([0, 1]).reindex(apparent.index).to_numpy() for own in ends], 0, 1)
    ceiling = np.sqrt(np.prod(2 * taus / (1 + taus), axis=0))
    tau = tau_of(apparent.to_numpy(), true.to_numpy())
    return Planting(tau, ceiling, regrets)


def less_regret(
    goal: str, hidden: float, dose: float, some: Sequence[str] | None = None, other: str = "drop"
) -> Array:
    """Return by how much one's own planting has less regret than another rule, by source."""
    own = planting(goal, hidden, dose)
    difference = own.regrets[other] - own.regrets["own"]
    return difference if some is None else difference[np.isin(reached("doses", dose, hidden), list(some))]


def estimated(values: Array) -> Estimate:
    """Return the mean of values over sources, and the interval of centers that the test does not reject."""
    return float(values.mean()), *sign_flip_interval(values)


# ------------------------------------------------------------------------------------------------------ words


def interval(estimate: Estimate | tuple[float, float], write: Callable[[float], str] = three) -> str:
    """Return an interval as text."""
    return f"[{', '.join(map(write, estimate[-2:]))}]"


def p_text(p: float) -> str:
    """Return a corrected p-value as text."""
    return "undecided" if np.isnan(p) else "< .001" if p < 0.001 else three(p)


def gains_table(arm: str, level: float, some: Sequence[str] | None = None, *, long: bool = False) -> str:
    """Return the gains of all techniques at a level, the largest to restore first."""
    chosen = None if some is None else tuple(name for name in reached(arm, level) if name in some)
    head = [
        "technique",
        "sources",
        "to restore",
        "p",
        "on a new source",
        "to equalize",
        "p",
        "on a new source",
    ]
    head += ["agreement", "degenerate on"] if long else []
    rows = []
    for name in compared():
        first = contrast(arm, GOALS[0], name, level, chosen)
        cells = [f"`{name}`" + " †" * (name in NAMED), str(len(first.sources))]
        for goal in GOALS:
            own = contrast(arm, goal, name, level, chosen)
            p = corrected(arm, goal, level, chosen)[name]
            mark = " \\*" if shown(arm, goal, level, chosen)[name] else ""
            cells += [told(own.estimate, three) + mark, p_text(p), interval(own.new)]
        if long:
            agreement = contrast(arm, AGREEMENT, name, level, chosen)
            cells += [told(agreement.estimate, three), str(degenerate(arm, name, level))]
        rows.append((-first.values.mean(), cells))
    return table(head, [cells for _, cells in sorted(rows, key=lambda row: row[0])])


def named_contrasts() -> Iterator[tuple[str, float, str, Contrast, Contrast]]:
    """Yield goal, dose and technique of each named contrast, and it over old sources and over all."""
    for goal, dose, name in itertools.product(GOALS, DOSES, NAMED):
        whole = contrast("doses", goal, name, dose)
        yield goal, dose, name, whole.of(sources()[:OLD]), whole


def narrower(old: Contrast, whole: Contrast) -> tuple[float, float]:
    """Return the width of an interval over all sources beside that over old ones, and by number alone."""
    widths = [own.estimate[2] - own.estimate[1] for own in (whole, old)]
    return widths[0] / widths[1], float(np.sqrt(len(old.sources) / len(whole.sources)))


def old_and_new() -> str:
    """Return the named contrasts over the old sources and over all, with the widths of their intervals."""
    head = ["goal", "dose", "technique", "old sources", "smallest difference", "all sources"]
    head += ["smallest difference", "width, all / old", "by number alone"]
    rows = []
    for goal, dose, name, *both in named_contrasts():
        cells = [goal, two(dose), f"`{name}`"]
        for own in both:
            cells += [f"{told(own.estimate, three)} ({len(own.sources)})"]
            cells += [three(smallest_difference(own.values))]
        rows.append([*cells, *map(two, narrower(*both))])
    return table(head, rows)


def with_exchanged_roles(
    goal: str, technique: str, some: Sequence[str]
) -> tuple[Contrast, Contrast, Contrast]:
    """Return a gain with roles as they are, with exchanged ones, and the difference."""
    one, other = (contrast(arm, goal, technique, DOSE) for arm in ("doses", "exchanged"))
    both = [own for own in one.sources if own in other.sources and own in some]
    one, other = one.of(both), other.of(both)
    return one, other, Contrast(both, other.values - one.values, np.hypot(one.errors, other.errors))


def roles(some: Sequence[str]) -> str:
    """Return the gains of named techniques with roles exchanged, and the differences."""
    head = ["goal", "technique", "sources", "roles as they are", "exchanged", "exchanged minus as they are"]
    rows = []
    for goal in GOALS:
        named_ones = [with_exchanged_roles(goal, name, some) for name in NAMED]
        p = holm(np.array([change.p for *_, change in named_ones]), undecided=True)
        for name, own, corrected_p in zip(NAMED, named_ones, p, strict=True):
            texts = [told(one.estimate, three) for one in own]
            rows.append([goal, f"`{name}`", str(len(own[0].sources)), *texts, p_text(corrected_p)])
    return table([*head, "p"], rows)


def planting_table() -> str:
    """Return what planting in one's own rows says of the truth, by goal, hidden gap and dose."""
    head = ["goal", "hidden", "dose", "sources", "τ", "ceiling", "regret of own planting", "of dropping"]
    head += ["of nothing", "of `threshold_optimizer`", "of a random one", "less regret than dropping"]
    head += ["old sources", f"without {named(DOUBTFUL)}", "less than `threshold_optimizer`"]
    rows = []
    for goal in GOALS:
        for hidden in HIDDEN:
            for dose in DOSES:
                some = reached("doses", dose, hidden)
                if len(some) < 2:
                    continue
                own = planting(goal, hidden, dose)
                others = [three(own.regrets[name].mean()) for name in ("own", "drop", "nothing", "fixed")]
                texts = [
                    goal,
                    two(hidden) if hidden else "0",
                    two(dose),
                    str(len(some)),
                    told(estimated(own.tau), two),
                ]
                texts += [two(np.nanmean(own.ceiling)), *others, three(own.regrets["random"].mean())]
                for among in (None, sources()[:OLD], without_doubtful()):
                    texts.append(told(estimated(less_regret(goal, hidden, dose, among)), three))
                texts.append(told(estimated(less_regret(goal, hidden, dose, other="fixed")), three))
                rows.append(texts)
    return table(head, rows)


def named_planting() -> dict[tuple[str, float], tuple[Estimate, float]]:
    """Return the named contrasts: less regret than dropping, each with its corrected p-value."""
    keys = [(goal, hidden) for goal in GOALS for hidden in HIDDEN[1:]]
    values = [less_regret(goal, hidden, DOSE) for goal, hidden in keys]
    p = holm(np.array([sign_flip_p_values(own[None, :])[0] for own in values]), undecided=True)
    return {key: (estimated(values[i]), float(p[i])) for i, key in enumerate(keys)}


def names_shown(arm: str, goal: str, level: float, sign: int) -> list[str]:
    """Return the techniques whose gain, or loss, is shown at a level."""
    return [name for name, found in shown(arm, goal, level).items() if found == sign]


def of_old(goal: str, dose: float) -> dict[str, int]:
    """Return what :func:`shown` does, of the old sources alone."""
    return shown("doses", goal, dose, tuple(sources()[:OLD]))


def nearer_on(technique: str, dose: float) -> str:
    """Return on how many sources a technique is nearer to the clean model than doing nothing."""
    own = contrast("doses", RESTORE, technique, dose)
    return f"{int((own.values > 0).sum())} of {len(own.values)}"


def change_of_widths() -> tuple[Array, Array]:
    """Return :func:`narrower` of each named contrast: the widths, and those by number alone."""
    both = np.array([narrower(old, whole) for *_, old, whole in named_contrasts()])
    return both[:, 0], both[:, 1]


def turned() -> tuple[list[str], list[str], int]:
    """Return what the old sources do not show and all do, the reverse, and how many they cannot show.

    The last are of the first. With so few old sources, no p-value is small enough after the correction.
    """
    now, gone, beyond_reach = [], [], 0
    for goal in GOALS:
        for dose in DOSES:
            old, whole = of_old(goal, dose), shown("doses", goal, dose)
            n_old = len(set(reached("doses", dose)) & {*sources()[:OLD]})
            for name in compared():
                words = f"`{name}` to {goal} at {two(dose)}"
                if whole[name] and not old[name]:
                    now.append(f"{words} ({'gain' if whole[name] > 0 else 'loss'})")
                    n_tests = len(NAMED) if name in NAMED else len(compared()) - len(NAMED)
                    beyond_reach += n_tests * 2.0 ** (1 - n_old) >= SIGNIFICANT
                elif old[name] and not whole[name]:
                    gone.append(words)
    return now, gone, beyond_reach


def short_table() -> str:
    """Return the gains at each dose, and on a new source, the largest gain at the highest dose first."""
    high = DOSES[-1]
    head = ["technique", *(f"restore, dose {two(dose)}" for dose in DOSES), f"on a new source, {two(high)}"]
    head += [f"equalize, dose {two(DOSE)}", f"on a new source, {two(DOSE)}"]
    rows = []
    for name in sorted(compared(), key=lambda own: -contrast("doses", RESTORE, own, high).values.mean()):
        cells = [f"`{name}`" + " †" * (name in NAMED)]
        for goal, dose in [*((RESTORE, dose) for dose in DOSES), (EQUALIZE, DOSE)]:
            own = contrast("doses", goal, name, dose)
            cells.append(told(own.estimate, three) + " \\*" * (shown("doses", goal, dose)[name] != 0))
            if (goal, dose) in ((RESTORE, high), (EQUALIZE, DOSE)):
                cells.append(interval(own.new))
        rows.append(cells)
    return table(head, rows)


@cache
def findings() -> str:
    """Return the page of findings; ``studies/sources/test_sources.py`` holds what its words say."""
    least, middle, high = DOSES
    better, worse, even = (
        {dose: names_shown("doses", goal, dose, sign) for dose in DOSES}
        for goal, sign in ((RESTORE, 1), (RESTORE, -1), (EQUALIZE, 1))
    )
    n = {dose: len(reached("doses", dose)) for dose in DOSES}
    drop, (ratios, by_number) = contrast("doses", RESTORE, DROP, high), change_of_widths()
    now, gone, beyond_reach = turned()
    n_old = [len(set(reached("doses", dose)) & {*sources()[:OLD]}) for dose in (high, least)]
    planted = named_planting()
    to_restore, to_equalize = ([planted[goal, hidden] for hidden in HIDDEN[1:]] for goal in GOALS)
    undo = [str(len(with_something_to_undo("doses", dose))) for dose in DOSES]
    answer = (
        "**Whether a technique restores decisions depends on how much bias there is.** At a dose of "
        f"{two(high)}, {named(better[high])} {verb(better[high], 'is', 'are')} shown to come nearer to the "
        f"clean model than doing nothing, over {n[high]} sources. {agreement_of(better[high], high)} At "
        f"{two(middle)}, {named(better[middle])} {verb(better[middle], 'is', 'are')} shown to. At "
        f"{two(least)}, {named(better[least])} {verb(better[least], 'is', 'are')}, and "
        f"{WORDS[len(worse[least])]} of eleven are shown to end farther away. At each dose, "
        f"{WORDS[min(map(len, even.values()))]} lower discrimination; `equalized_odds` answers nearly all "
        f"alike on {degenerate('doses', 'equalized_odds', high)} sources at {two(high)}."
    )
    older = len(names_shown("levels", RESTORE, LEVELS[-1], 1))
    lines = [
        f"**What to do, and where it holds.** If the bias adds {two(least)}, do nothing to restore. If it "
        f"adds {two(high)}, try `{DROP}` or others on your rows; [`recommend`](../../docs/atlas.md) has "
        f"fewer sources. At {two(high)}, `{DROP}` is nearer on {nearer_on(DROP, high)} sources, and gains "
        f"{told(more_at_high_dose(DROP), three)} more than at {two(least)}. On a new one, expect a gain "
        f"within {interval(drop.new)} in 95 of 100 cases.",
        "**How to read it.** Label bias in real rows, C4.5, ten splits. *Dose*: label gap that the bias "
        f"adds; {n[least]}, {n[middle]} and {n[high]} sources reach it, and {', '.join(undo[:-1])} and "
        f"{undo[-1]} show something to undo. *Restore*: how much nearer to the clean model, by distance. "
        "*Equalize*: how much less absolute discrimination. Brackets: 95 %, for one technique alone. One off "
        "0 can lack \\*: p below .05, corrected (Holm) among the three named beforehand (†) or the others.",
        f"**Old and new sources.** {len(now)} of 66 contrasts are shown now, and not by the {n_old[0]} to "
        f"{n_old[1]} old sources that reach the dose. {beyond_reach} of these cannot be shown by so few. "
        f"{len(gone)} are shown by the old alone. Intervals have {two(np.median(ratios))} of their width "
        f"({two(ratios.min())} to {two(ratios.max())}), {two(np.median(by_number))} by number. At level "
        f"{LEVELS[-1]:g}, {WORDS[older]} are shown to restore; "
        "[the older study](../suite/FINDINGS.md) shows none.",
        f"**Selection.** A gap was one reason to take {len(sources()) - OLD} sources; the deprived group has "
        "the lower rate. So gaps are positive by construction, and say nothing of data at large. With roles "
        f"exchanged, the named gains change by {change_by_roles(RESTORE)} to restore, "
        f"{change_by_roles(EQUALIZE)} to equalize (dose {two(DOSE)}). Without {named(DOUBTFUL)}, "
        f"{without_them()}.",
        "**Planting in one's own rows**, where .05 and .10 are hidden. Less regret than always dropping, to "
        f"restore: {' and '.join(f'{told(own, three)} (p {p_text(p)})' for own, p in to_restore)}. To "
        f"equalize: {' and '.join(told(own, three) for own, _ in to_equalize)}. {beside_fixed()}",
        "**What would change our mind.** Other learners or kinds of bias, or many new gains outside of the "
        "ranges.",
    ]
    title = f"Over {len(sources())} sources, what restores decisions, and what evens out acceptance?"
    picture = f"![Gain of `{DROP}` to restore decisions, source by source](figures/sources.png)"
    return finding(title, answer, picture, [short_table()], lines)


def more_at_high_dose(technique: str) -> Estimate:
    """Return the gain at the highest dose minus that at the least, over sources that reach both."""
    most, least = (contrast("doses", RESTORE, technique, dose) for dose in (DOSES[-1], DOSES[0]))
    both = [name for name in most.sources if name in least.sources]
    return estimated(most.of(both).values - least.of(both).values)


def verb(names: Sequence[str], one: str, several: str) -> str:
    """Return the form of a verb that fits the number of names; none counts as one."""
    return several if len(names) > 1 else one


def change_by_roles(goal: str) -> str:
    """Return the least and the greatest change of the named gains with exchanged roles."""
    changes = [with_exchanged_roles(goal, name, sources())[-1].values.mean() for name in NAMED]
    return f"{three(min(changes))} to {three(max(changes))}"


def agreement_of(names: Sequence[str], dose: float) -> str:
    """Return in words with how many techniques the agreement with the clean model is shown to rise."""
    more = sum(contrast("doses", AGREEMENT, name, dose).estimate[1] > 0 for name in names)
    return f"A gain in agreement with it is shown for {WORDS[more]}."


def beside_fixed() -> str:
    """Return in words how planting chooses to equalize beside one technique for all."""
    own = [estimated(less_regret(EQUALIZE, hidden, DOSE, other="fixed")) for hidden in HIDDEN[1:]]
    word = "" if all(low > 0 for _, low, _ in own) else "not "
    return (
        f"To equalize, it is {word}shown to have less than always `{FIXED}`: less by "
        f"{' and '.join(told(one, three) for one in own)}."
    )


def without_them() -> str:
    """Return which gains and losses are shown, or not, without the doubtful sources."""
    changed = [
        f"`{name}` to {goal} at {two(dose)}"
        for goal in GOALS
        for dose in DOSES
        for name, sign in shown("doses", goal, dose, without_doubtful()).items()
        if sign != shown("doses", goal, dose)[name]
    ]
    return f"other is shown or not of {listed(changed)}" if changed else "the same is shown"


def numbers() -> str:
    """Return all numbers behind the findings."""
    now, gone, _ = turned()
    without = f"without {named(DOUBTFUL)}"
    parts = [
        f"# Numbers of {len(sources())} sources",
        "Written by `python -m studies sources` from the committed means; "
        "[the findings](FINDINGS.md) say what follows, "
        "[the experiment](../../experiments/sources.toml) has the rules, written before the run.",
        points(
            [
                "Gains and losses are against doing nothing with the same learner. *To restore*: by distance "
                "to the clean model. *To equalize*: by absolute discrimination. *Agreement*: by the share of "
                "people who are decided on as by the clean model.",
                "*p*: of exact sign flips, corrected by Holm's method among the three techniques named "
                "beforehand (†), and among the eight others. \\*: p is below .05, and for a gain to restore, "
                "the interval of the gain in agreement does not lie below 0.",
                "Brackets: intervals of 95 %, for one technique alone. One off 0 can lack the \\*. *On a new "
                "source*: the gain to expect in 95 of 100 cases, cut at -1 and 1.",
                "*Degenerate on*: sources on which a technique gives nearly all people one answer in more "
                "than half of the splits. Such models count as measured.",
                "*Smallest difference*: the mean that a t-test of as many sources shows with a power of 80 "
                "%. β: the level of bias.",
            ]
        ),
    ]
    for dose in DOSES:
        parts += [f"## Dose {two(dose)}", gains_table("doses", dose, long=True)]
    for level in LEVELS:
        parts += [f"## β = {level:g}", gains_table("levels", level, long=True)]
    for level in LEVELS:
        some = with_something_to_undo("levels", level)
        parts += [f"## β = {level:g}, only with something to undo", gains_table("levels", level, some)]
    for dose in DOSES:
        if some := with_something_to_undo("doses", dose):
            parts += [f"## Dose {two(dose)}, only with something to undo", gains_table("doses", dose, some)]
    for dose in DOSES:
        parts += [f"## Dose {two(dose)}, {without}", gains_table("doses", dose, without_doubtful())]
    for level in LEVELS:
        parts += [f"## β = {level:g}, {without}", gains_table("levels", level, without_doubtful())]
    parts += ["## The eleven old sources, and all", old_and_new()]
    parts += [f"Shown now and not with the old eleven: {'; '.join(now) or 'nothing'}."]
    parts += [f"Shown with the old eleven and not now: {'; '.join(gone) or 'nothing'}."]
    parts += [f"## Roles exchanged, dose {two(DOSE)}", roles(sources())]
    parts += [f"## Roles exchanged, dose {two(DOSE)}, {without}", roles(without_doubtful())]
    parts += [
        "## Planting in one's own rows",
        "τ is Kendall's correlation of the ranks under a planted dose with those in truth. The *ceiling* is "
        "what noise leaves of it. *Regret* is how much farther from the goal in truth a choice is than the "
        f"best one. *Less than `{FIXED}`* was not named beforehand.",
        planting_table(),
    ]
    return "\n\n".join(fill(part, 125) if part[:1] not in "#|-" else part for part in parts) + "\n"


def draw() -> bytes:
    """Draw the gain of dropping the sensitive feature at the highest dose, a dot for each source."""
    own = contrast("doses", RESTORE, DROP, DOSES[-1])
    page = draw_sources(
        own.sources,
        own.values,
        own.errors,
        load_experiment("sources").repetitions,
        title="Where does dropping the sensitive feature restore decisions?",
        gain=f"nearer to the clean model than doing nothing, dose {two(DOSES[-1])}",
        ends=own.estimate[1:],
    )
    return style.render(page, "png")


def claims() -> str:
    """Return the page of claims, with those that rest on the sources."""
    least, middle, high = DOSES
    best, drop = names_shown("doses", RESTORE, high, 1), contrast("doses", RESTORE, DROP, high)
    worse = {dose: names_shown("doses", RESTORE, dose, -1) for dose in DOSES}
    even = [contrast("doses", EQUALIZE, own, middle) for own in names_shown("doses", EQUALIZE, middle, 1)]
    gains = sorted(even, key=lambda own: own.values.mean())
    page = "([sources](../results/sources/FINDINGS.md), [numbers](../results/sources/NUMBERS.md))"
    halves = {own: (own.estimate[2] - own.estimate[1]) / 2 for own in (drop, gains[0])}
    planted = named_planting()
    hidden, _ = planted[RESTORE, HIDDEN[-1]]
    half = (hidden[2] - hidden[1]) / 2
    alike = [
        f"{degenerate('doses', 'equalized_odds', dose)} of {len(reached('doses', dose))} sources"
        for dose in (middle, high)
    ]
    agreement = contrast("doses", AGREEMENT, DROP, high).estimate
    parts = {
        "Whether a technique restores decisions depends on the dose": {
            "Claim": f"At a dose of {two(high)}, {named(best)} {verb(best, 'is', 'are')} shown to come "
            f"nearer to the clean model than doing nothing {page}. {agreement_of(best, high)} `{DROP}` gains "
            f"{told(drop.estimate, three)} in distance over {len(drop.sources)} sources, and "
            f"{told(agreement, three)} in agreement. On a new source, expect {interval(drop.new)} in "
            f"distance. At {two(least)}, {WORDS[len(worse[least])]} of eleven techniques are shown to end "
            f"farther away, at {two(middle)} {WORDS[len(worse[middle])]}.",
            "Estimand": "The mean gain in [distance](statistics.md#restored-or-only-evened-out) over doing "
            "nothing, over all sources that reach the dose, those with nothing to undo among them.",
            "Design": f"Label bias in real rows of {len(sources())} independent sources, C4.5, ten splits. A "
            f"gap between groups was one reason to take {len(sources()) - OLD} of these. Rules were written "
            "before the run; p-values are of exact sign flips, corrected by Holm's method.",
            "Smallest difference": f"{three(halves[drop])}, half the width of {told(drop.estimate, three)}.",
            "What would change our mind": "Other learners or kinds of bias, or new sources outside of the "
            "range.",
        },
        "Most techniques even out acceptance at each dose": {
            "Claim": f"At a dose of {two(middle)}, {WORDS[len(even)]} of eleven lower discrimination, by "
            f"{three(gains[0].values.mean())} to {three(gains[-1].values.mean())} {page}. One of these, "
            f"`equalized_odds`, answers nearly all people alike on {alike[0]}; at {two(high)}, on "
            f"{alike[1]}.",
            "Estimand": "The mean fall in absolute discrimination against doing nothing, over all sources "
            "that reach the dose. Where groups differ before the bias, the fall includes that gap.",
            "Design": "As above. With roles exchanged, the named falls change by "
            f"{change_by_roles(EQUALIZE)}: the sources' own gaps are part of them.",
            "Smallest difference": f"{three(halves[gains[0]])}, half the width of "
            f"{told(gains[0].estimate, three)}.",
            "What would change our mind": "Intervals that include 0 on further sources, or with another "
            "learner.",
        },
        "Planting in one's own rows chooses better than dropping; a fixed technique may do as well": {
            "Claim": f"Where a label gap of .05 is hidden, it has less regret than always dropping {page}. "
            f"To restore, it has less by {told(planted[RESTORE, 0.05][0], three)}; ten datasets did not show "
            "this ([nested](../results/nested/FINDINGS.md)). To equalize, by "
            f"{told(planted[EQUALIZE, 0.05][0], three)}. Where .10 is hidden, by "
            f"{told(planted[EQUALIZE, 0.1][0], three)} to equalize; to restore, it is not shown: "
            f"{told(hidden, three)}. {beside_fixed()}",
            "Estimand": "How much farther from the goal in truth the technique is that planting puts first "
            "than dropping is.",
            "Design": "Label bias hidden in training and test rows, and a dose of .10 on top: both of one "
            "kind, the best case.",
            "Smallest difference": f"{three(half)}, half the width of {told(hidden, three)}.",
            "What would change our mind": "Hidden and planted bias of two kinds.",
        },
    }
    return with_claims("sources", parts)


FILES: Files = {FINDINGS: findings, NUMBERS: numbers, CLAIMS: claims, FIGURE: draw}
