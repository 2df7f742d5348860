"""What the run ``nested`` says of planting bias in rows that hold hidden bias: table, findings and figure.

``python -m studies nested`` writes the table that ships with the package, ``FINDINGS.md`` and the
figure anew from the committed values; ``studies/nested/test_nested.py`` holds them. The rules stand in
``experiments/nested.toml``. Rates in place of label gaps are hidden by :mod:`studies.hidden_rates.findings`.

The unit is the dataset: each counts once, by its means over all splits. Degenerate models count as
measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.columns import EQUALIZE, GOAL_METRICS, GOALS, ORIGINAL, RESTORE, TRUTH, hidden_name
from benchmark.figures import style
from benchmark.figures.page import Page, RowLabels
from benchmark.runs.finished import read_frames
from benchmark.statistics.cells import Array
from benchmark.text.markdown import table
from studies.agreement import tau_of, tau_of_halves
from studies.estimates import Estimate, student_estimate, three, told, two
from studies.pages import Files, finding

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "results" / "nested"
FINDINGS, FIGURE = FOLDER / "FINDINGS.md", FOLDER / "figures" / "nested.png"
TABLE = ROOT / "benchmark" / "statistics" / "hidden_bias.csv"
"""What ships: for each goal, hidden label gap and dose, how far one's own planting can be trusted."""

DROP, NOTHING = "drop_sensitive", "none"
FIXED = "threshold_optimizer"
"""A technique that one could always choose to equalize, whatever the data."""

GOAL_WORDS = {RESTORE: RESTORE, EQUALIZE: "equalize"}
COLUMNS = (
    *("goal", "hidden", "dose", "tau", "tau_low", "tau_high", "ceiling"),
    *("regret", "regret_low", "regret_high", "drop_regret", "nothing_regret", "datasets"),
)
_DIGITS = 4  # of the table that ships


run = cache(partial(read_frames, FOLDER))
"""Return the committed run, which is read once."""


@cache
def techniques() -> list[str]:
    """Return the techniques to choose from, doing nothing among them."""
    return [t.name for t in run().manifest.techniques if not t.refit]


def _with_one_nothing(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame without the rows of doing nothing with a technique's own learner."""
    is_own = frame["classifier"].isin(run().manifest.learners)
    return frame[~is_own | (frame["technique"] != NOTHING)]


@cache
def _values() -> pd.DataFrame:
    """Return values of both goals' metrics, a column for each split, by metric and cell."""
    results = _with_one_nothing(run().results)
    results = results[results["metric"].isin(GOAL_METRICS.values()) & results["technique"].isin(techniques())]
    where = ["metric", "dataset", "bias", "level", "test", "technique"]
    return results.set_index([*where, "repetition"])["value"].unstack("repetition")


def values(goal: str, dataset: str, hidden: float, dose: float, test: str) -> Array:
    """Return how far each technique is from a goal in each split, shape (n_techniques, n_splits)."""
    where = GOAL_METRICS[goal], dataset, hidden_name("label", hidden), dose, test
    found = _values().loc[where].reindex(techniques()).to_numpy()
    return np.abs(found) if goal == EQUALIZE else found


def reached(hidden: float, dose: float) -> list[str]:
    """Return the datasets that count: whose level of bias for both gaps is no more than .95."""
    found = []
    for dataset in run().manifest.datasets:
        bias = next(own for own in dataset.bias if own.name == hidden_name("label", hidden))
        if bias.pooled(dose):
            found.append(dataset.name)
    return found


def ceiling(*rankings: Array) -> float:
    """Return how far rankings of the same order would agree by tau, given the noise of the splits.

    Each has shape (n_techniques, n_splits). It is the geometric mean of their tau between halves, which
    Spearman and Brown's formula steps up to all splits: Spearman (1910), Correlation calculated from faulty
    data, British Journal of Psychology 3; Brown (1910), Some experimental results in the correlation of
    mental abilities, the same volume.
    """
    halves = np.clip([tau_of_halves(own) for own in rankings], 0.0, 1.0)
    return float(np.prod(2 * halves / (1 + halves)) ** (1 / len(rankings)))


@dataclass(frozen=True, eq=False)
class Judged:
    """What a ranking says, and what another one says of it, a value for each dataset.

    ``regrets`` are by name of who chooses: ``own`` planting, always ``drop``, ``nothing`` and ``fixed``, and
    ``random``;
    ``chosen`` are the techniques that own planting puts first.
    """

    datasets: list[str]
    chosen: list[str]
    tau: Array
    ceiling: Array
    regrets: dict[str, Array]

    @classmethod
    def of(cls, apparent: dict[str, Array], true: dict[str, Array]) -> Judged:
        """Compare two rankings by dataset, each of shape (n_techniques, n_splits)."""
        names = techniques()
        taus, ceilings, firsts = [], [], []
        regrets: dict[str, list[float]] = {name: [] for name in ("own", "drop", "nothing", "fixed", "random")}
        for dataset, first in apparent.items():
            second = true[dataset]
            one, other = first.mean(axis=1), second.mean(axis=1)
            taus.append(float(tau_of(one, other)))
            ceilings.append(ceiling(first, second))
            left = other - other.min()
            firsts.append(names[int(np.argmin(one))])
            chosen = {"own": int(np.argmin(one)), "drop": names.index(DROP), "nothing": names.index(NOTHING)}
            chosen["fixed"] = names.index(FIXED)
            for name, position in chosen.items():
                regrets[name].append(float(left[position]))
            regrets["random"].append(float(left.mean()))
        arrays = {name: np.array(own) for name, own in regrets.items()}
        return cls(list(apparent), firsts, np.array(taus), np.array(ceilings), arrays)


@cache
def judged(goal: str, hidden: float, dose: float, *, same_fits: bool = False) -> Judged:
    """Return what the apparent ranking says of the true one; else of the same fitted models in truth."""
    apparent, true = {}, {}
    for dataset in reached(hidden, dose):
        apparent[dataset] = values(goal, dataset, hidden, dose, ORIGINAL)
        true[dataset] = values(goal, dataset, hidden, dose if same_fits else 0.0, TRUTH)
    return Judged.of(apparent, true)


def degenerate(goal: str, hidden: float, dose: float) -> int:
    """Count the datasets on which the chosen technique answers alike in more than half of the splits.

    That is nearly everybody, or each group; it is trained on rows with hidden bias alone.
    """
    own, bias = judged(goal, hidden, dose), hidden_name("label", hidden)
    standing = _with_one_nothing(run().standing)
    standing = standing.set_index(["dataset", "bias", "test", "level", "technique"])["n_degenerate"]
    counts = [standing[d, bias, TRUTH, 0.0, name] for d, name in zip(own.datasets, own.chosen, strict=True)]
    return sum(2 * int(count) > run().manifest.repetitions for count in counts)


def with_interval(own: Array, low: float, high: float) -> Estimate:
    """Return the mean over datasets with Student's interval of 95 %, cut at the ends of the range."""
    mean, *ends = student_estimate(own)
    return (mean, *(float(np.clip(end, low, high)) for end in ends))


def levels() -> list[tuple[float, float]]:
    """Return hidden label gaps with doses."""
    experiment = run().manifest.experiment
    return [(hidden, dose) for hidden in experiment.hidden for dose in experiment.doses]


def shipped() -> pd.DataFrame:
    """Return the table that ships with the package, columns :data:`COLUMNS`."""
    rows = []
    for goal in GOALS:
        for hidden, dose in levels():
            own = judged(goal, hidden, dose)
            tau, regret = with_interval(own.tau, -1, 1), with_interval(own.regrets["own"], 0, 1)
            others = (float(own.regrets[name].mean()) for name in ("drop", "nothing"))
            numbers = (*tau, float(own.ceiling.mean()), *regret, *others)
            rows.append((goal, hidden, dose, *(round(n, _DIGITS) for n in numbers), len(own.datasets)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def beyond_dropping(own: Judged) -> Estimate:
    """Return the regret of one's own planting minus that of always dropping the sensitive feature."""
    return with_interval(own.regrets["own"] - own.regrets["drop"], -1, 1)


def row_of(goal: str, hidden: float, dose: float) -> list[str]:
    """Return a row of the table of findings."""
    own = judged(goal, hidden, dose)
    others = [three(own.regrets[name].mean()) for name in ("drop", "nothing", "random")]
    return [
        *(GOAL_WORDS[goal], two(hidden) if hidden else "0", two(dose), str(len(own.datasets))),
        told(with_interval(own.tau, -1, 1), two),
        two(own.ceiling.mean()),
        told(with_interval(own.regrets["own"], 0, 1), three),
        *others,
        told(beyond_dropping(own), three),
    ]


def findings() -> str:
    """Return the page of findings; ``studies/nested/test_nested.py`` holds what its words say."""
    table_of = shipped().set_index(["goal", "hidden", "dose"])
    restoring, equalising = (table_of.loc[goal] for goal in (RESTORE, EQUALIZE))
    most = run().manifest.experiment.hidden[-1]
    head = ["goal", "hidden", "dose", "datasets", "τ", "ceiling", "regret of own planting"]
    head += ["of dropping", "of nothing", "of a random one", "own minus dropping"]
    hiding = [(hidden, dose) for hidden, dose in levels() if hidden]
    same = [judged(RESTORE, hidden, dose, same_fits=True) for hidden, dose in hiding]
    taus, ceilings = ([float(np.mean(getattr(own, name))) for own in same] for name in ("tau", "ceiling"))
    least, greatest = (
        [two(float(getattr(own["tau"], end)())) for own in (restoring, equalising)] for end in ("min", "max")
    )
    answer = (
        f"**With a hidden label gap of up to {two(most)}, ranks from planting in one's own rows still agree "
        f"with true ranks, beyond chance.** τ is {least[0]} to {greatest[0]} to restore decisions, "
        f"{least[1]} to {greatest[1]} to equalize acceptance. To equalize, it chooses better than always "
        "dropping the sensitive feature. To restore, that is not shown."
    )
    clean, worst = three(restoring.loc[(0.0, 0.1), "regret"]), restoring.loc[most]
    unhidden = judged(RESTORE, 0.0, 0.1)
    others = sum(name != NOTHING for name in unhidden.chosen)
    to_equalize = [judged(GOALS[1], *own).regrets for own in hiding]
    planting, fixed = (
        [three(end([float(own[name].mean()) for own in to_equalize])) for end in (min, max)]
        for name in ("own", "fixed")
    )
    own_regrets = " and ".join(three(own) for own in worst["regret"])
    nothing, drop = (three(worst[name].iloc[0]) for name in ("nothing_regret", "drop_regret"))
    halves = half_widths(RESTORE)
    reading = [
        "**How to read it.** Label bias is first planted in training and test rows. These rows then count as "
        "the original rows. The added gap is the *hidden* label gap. A *dose* comes on top. *Apparent "
        "ranking*: of models with the dose, by labels with hidden bias and the clean model trained on them. "
        "*True ranking*: of models without the dose, the ones to deploy, by true labels and the true clean "
        "model. *τ*: Kendall's, of "
        "both rankings of twelve techniques, mean over datasets. *Ceiling*: τ that noise alone would leave. "
        "*Regret*: by how much the technique that the apparent ranking puts first is farther from the goal "
        "in truth than the best one. C4.5, ten splits; brackets are 95 % intervals over datasets.",
        "**Nothing hidden.** Then doing nothing restores decisions by definition. A planted dose of .10 "
        f"chooses another technique on {others} of {len(unhidden.chosen)} datasets, at a mean regret of "
        f"{clean}.",
        "**To equalize, planting is not shown to beat a fixed choice.** Where bias is hidden, always "
        f"`{FIXED}` has a regret of {fixed[0]} to {fixed[1]}, one's own planting {planting[0]} to "
        f"{planting[1]}.",
        f"**Hidden {two(most)}.** To restore, the regret is {nothing} for doing nothing, {own_regrets} for "
        f"own planting, {drop} for dropping.",
        "**The same fitted models**, dose included, judged in truth. To restore, τ is "
        f"{two(min(taus))} to {two(max(taus))} where bias is hidden, and its ceiling {two(min(ceilings))} to "
        f"{two(max(ceilings))}. To equalize, both rankings are one: acceptance needs no labels.",
        "**Degenerate models count as measured.** On up to "
        f"{max(degenerate(EQUALIZE, *own) for own in levels())} datasets the technique chosen to equalize "
        "answers nearly everybody, or each group, alike in most splits; to restore, on "
        f"{max(degenerate(RESTORE, *own) for own in levels())}.",
        "**What would change our mind.** Hidden and planted bias of two kinds: here both are label bias, "
        "which is the best case. More datasets: for restoring, intervals of own minus dropping are ± "
        f"{three(halves[0])} to {three(halves[-1])}. More hidden bias: [rates](RATES.md).",
    ]
    title = "If your rows hide bias, does planting more bias in them help to choose a technique?"
    picture = "![τ and regret at each hidden label gap and dose, dataset by dataset](figures/nested.png)"
    rows = [row_of(goal, *level) for goal in GOALS for level in levels()]
    return finding(title, answer, picture, [table(head, rows)], reading)


def half_widths(goal: str) -> list[float]:
    """Return half widths of own planting minus dropping with hidden bias, in ascending order."""
    ends = [beyond_dropping(judged(goal, *own)) for own in levels() if own[0]]
    return sorted((high - low) / 2 for _, low, high in ends)


def draw() -> bytes:
    """Draw tau and regrets of both goals at each hidden label gap and dose, a dot for each dataset."""
    labels = RowLabels([f"hidden {hidden:g}, dose {dose:g}" for hidden, dose in levels()])
    titles = [
        f"{GOAL_WORDS[goal]}: {what}"
        for what in ("τ with the true ranking", "regret of the choice")
        for goal in GOALS
    ]
    with style.styled():
        page = Page(
            4,
            2,
            panel=(2.6, 0.24 * len(labels)),
            title="Does planting in one's own rows choose well, if bias is hidden in them?",
            subtitle="A dot for each dataset; black: means with 95 % intervals over datasets. Orange, above: "
            "what noise alone would leave of τ; below: the regret of always dropping the sensitive feature.",
            notes=["Regret: value in truth of the chosen technique minus the best one's; 0 is ideal."],
            panel_titles=titles,
        )
        for number, axes in enumerate(page.panels):
            goal, of_tau = GOALS[number % 2], number < 2
            axes.axvline(0, **style.RULE)
            for row, (hidden, dose) in enumerate(levels()):
                own = judged(goal, hidden, dose)
                dots, beside = (own.tau, own.ceiling) if of_tau else (own.regrets["own"], own.regrets["drop"])
                mean, *ends = with_interval(dots, -1 if of_tau else 0, 1)
                axes.scatter(dots, [row] * len(dots), s=12, color=style.BLUE, alpha=0.6, lw=0, zorder=2)
                axes.plot(ends, [row, row], color="black", lw=1.2, zorder=3)
                for value, color, width in ((mean, "black", 1.5), (beside.mean(), style.ORANGE, 2.0)):
                    axes.scatter([value], [row], s=50, color=color, marker="|", lw=width, zorder=4)
            labels.write(axes, named=number % 2 == 0)
    return style.render(page.fit(), "png")


FILES: Files = {TABLE: lambda: shipped().to_csv(index=False), FINDINGS: findings, FIGURE: draw}
