"""Hidden rates of label bias, by distance to the clean model's discrimination, as an earlier review measured.

``python -m studies.hidden_rates.findings`` computes the values (some minutes; it needs the real data).
``python -m studies hidden_rates`` writes the page anew from the committed ones.

The review hid a *rate* of label bias in all rows, the same on every dataset, planted more on top, and
ranked techniques by how near their discrimination comes to that of the model before: |T - D_clean|. It says
what it found and not how: :data:`PLANTED`, :data:`DATASETS` and what is deployed in truth are our reading.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd

from benchmark.bias.doses import Dose
from benchmark.columns import ORIGINAL, TRUTH, parted_name
from benchmark.experiment.engine import LocalEngine
from benchmark.experiment.expand import expand
from benchmark.experiment.export import metrics_frame
from benchmark.experiment.plan import Experiment, load_experiment
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.prepared import PreparedDataset, PreparedExperiment, SolvedDoses
from benchmark.experiment.run import compute
from benchmark.experiment.store import Store
from benchmark.statistics.cells import Array
from benchmark.text.markdown import table
from benchmark.text.writing import write_atomically
from studies.agreement import tau_of
from studies.estimates import Estimate, resampled, three, told, two
from studies.nested.findings import DROP, FOLDER, NOTHING, run
from studies.pages import Files, points
from tools.sources import first_of_sources

VALUES, PAGE = FOLDER / "rates.csv", FOLDER / "RATES.md"
HIDDEN = (0.0, 0.2, 0.4)
PLANTED = (0.2, 0.4)
SPLITS = 6
_METRICS = ("discrimination", "accuracy", "restoration_distance")
_CELL = ["dataset", "hidden", "planted", "technique"]


def datasets() -> list[str]:
    """Return the twelve datasets of the suite that share no people, and are not made up."""
    names = first_of_sources([entry.name for entry in load_experiment("suite").datasets])
    return [name for name in names if name != "attrition"]


def prepared() -> PreparedExperiment:
    """Return the suite's datasets and techniques, with rates in place of solved label gaps."""
    suite = load_experiment("suite")
    asked = Experiment(
        name="hidden_rates",
        seed=suite.seed,
        repetitions=SPLITS,
        doses=PLANTED,
        hidden=HIDDEN,
        paired_betas=True,
        train="data",
        holdout=suite.holdout,
        bias="label",
        datasets=datasets(),
        techniques=[entry.name for entry in suite.techniques],
    )
    made = prepare_experiment(expand(asked), require_real_data=True)
    return replace(made, datasets={name: _with_rates(data) for name, data in made.datasets.items()})


def _with_rates(data: PreparedDataset) -> PreparedDataset:
    """Return a dataset in which each label gap is taken for the level of bias of that number."""
    planted = tuple(Dose(rate, rate, float("nan")) for rate in (0.0, *PLANTED))
    hidden = {rate: Dose(rate, rate, float("nan")) if rate else None for rate in HIDDEN}
    return replace(data, solved={("label", own): SolvedDoses(planted, hidden[own]) for own in HIDDEN})


def measured() -> pd.DataFrame:
    """Return the means over splits of each cell: what is apparent, and in truth.

    ``distance`` is |T - D_clean|, with the discriminations of technique and clean model, which is C4.5 on
    rows with hidden bias alone, in truth on rows without any; ``parity`` is |T|. ``true_difference`` is
    T - D_clean in truth.
    """
    made = prepared()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
        cells = compute(made, store, engine=LocalEngine(os.cpu_count() or 1)).cells
    frame = metrics_frame(cells, _METRICS, (ORIGINAL, TRUTH))
    refits = {entry.name for entry in made.experiment.techniques if entry.refit}
    frame = frame[~frame["technique"].isin(refits)]
    frame["hidden"] = [parted_name(bias)[1] for bias in frame["bias"]]
    frame = frame.rename(columns={"level": "planted"})
    wide = frame.pivot(index=[*_CELL, "repetition"], columns=["test", "metric"], values="value")
    apparent, true = wide[ORIGINAL], wide[TRUTH]
    signed, places = apparent["discrimination"], wide.index.to_frame(index=False)

    def of_clean_model(**hidden: float) -> Array:
        clean = places.assign(planted=0.0, technique=NOTHING, **hidden)
        return signed.reindex(pd.MultiIndex.from_frame(clean)).to_numpy()

    told = pd.DataFrame(
        {
            "distance": (signed - of_clean_model()).abs(),
            "true_distance": (signed - of_clean_model(hidden=0.0)).abs(),
            "true_difference": signed - of_clean_model(hidden=0.0),
            "parity": signed.abs(),
            "accuracy": apparent["accuracy"],
            "true_accuracy": true["accuracy"],
            "restoration": apparent["restoration_distance"],
            "true_restoration": true["restoration_distance"],
        }
    )
    return told.groupby(level=_CELL, sort=False).mean().reset_index()


@dataclass(frozen=True)
class Measure:
    """A number that apparent ranks go by, and one that true ranks go by: columns of :data:`VALUES`."""

    apparent: str
    true: str
    sign: int = 1  # of less is better


MEASURES: Mapping[str, Measure] = {
    "distance": Measure("distance", "true_distance"),
    "restoration": Measure("restoration", "true_restoration"),
    "parity": Measure("parity", "parity"),
    "accuracy": Measure("accuracy", "true_accuracy", -1),
}
"""Distance to the clean model's discrimination; ``restoration_distance``; |discrimination|; accuracy."""

REVIEW: Mapping[tuple[str, float], float] = {
    **{("τ, distance", 0.2): 0.52, ("τ, parity", 0.2): 0.74, ("τ, accuracy", 0.2): 0.59},
    **{("own planting", 0.2): 0.055, ("dropping", 0.2): 0.042},
    **{("τ, distance", 0.4): 0.09, ("τ, parity", 0.4): 0.82, ("τ, accuracy", 0.4): 0.34},
    **{("own planting", 0.4): 0.214, ("dropping", 0.4): 0.073},
    **{("doing nothing", 0.4): 0.321, ("the best", 0.4): 0.017},
}
"""The review's estimates by hidden rate: of tau, and of the distance in truth that a choice leaves."""


def estimates(values: pd.DataFrame, hidden: float, planted: float) -> dict[str, Array]:
    """Return a value for each dataset of tau by each measure, and of the distance that each choice leaves.

    In truth the techniques are trained without the planted bias.
    """
    by = values.set_index(_CELL)
    found: dict[str, list[float]] = {}
    for dataset in values["dataset"].unique():
        biased, truth = (by.loc[(dataset, hidden, level)] for level in (planted, 0.0))
        for name, own in MEASURES.items():
            first, second = own.sign * biased[own.apparent], own.sign * truth[own.true]
            found.setdefault(f"τ, {name}", []).append(float(tau_of(first.to_numpy(), second.to_numpy())))
        for name, measure in (("", MEASURES["distance"]), (", restoration", MEASURES["restoration"])):
            left = truth[measure.true]
            chosen = {"own planting": biased[measure.apparent].idxmin(), "dropping": DROP}
            chosen |= {"doing nothing": NOTHING, "the best": left.idxmin()}
            for who, technique in chosen.items():
                found.setdefault(who + name, []).append(float(left[technique]))
    return {name: np.array(own) for name, own in found.items()}


def interval(own: Array) -> Estimate:
    """Return a mean over datasets with its interval of 95 %, from resampled datasets."""
    return float(own.mean()), *resampled(own, lambda sums: sums / len(own))


def within(values: pd.DataFrame, planted: float) -> dict[tuple[str, float], bool]:
    """Return whether each estimate of the review lies within our interval."""
    found = {}
    for (name, hidden), estimate in REVIEW.items():
        _, low, high = interval(estimates(values, hidden, planted)[name])
        found[name, hidden] = low <= estimate <= high
    return found


def best_by_means(values: pd.DataFrame, hidden: float) -> Estimate:
    """Return the least distance in truth if it is that of the mean over splits, in which noise cancels."""
    deployed = values[(values["hidden"] == hidden) & (values["planted"] == 0)]
    return interval(deployed["true_difference"].abs().groupby(deployed["dataset"]).min().to_numpy())


def gaps(rate: float) -> tuple[float, float]:
    """Return the least and the greatest label gap that a rate adds, over the datasets of ``nested``."""
    solved = [dose for d in run().manifest.datasets for dose in d.bias[0].doses if dose.beta]
    added = [rate * dose.gap / dose.beta for dose in solved if dose.beta]
    return min(added), max(added)


def page() -> str:
    """Return the page; ``studies/hidden_rates/test_hidden_rates.py`` holds what its words say."""
    values = read_values()
    inside = {planted: within(values, planted) for planted in PLANTED}
    counts = {planted: sum(own.values()) for planted, own in inside.items()}
    ours = {(h, p): estimates(values, h, p) for h in HIDDEN if h for p in PLANTED}
    low, high = gaps(HIDDEN[-1])
    rows, beside = [], []
    for (name, hidden), estimate in REVIEW.items():
        write = two if name.startswith("τ") else three
        cells = [two(hidden), name, write(estimate)]
        for planted in PLANTED:
            mark = "" if inside[planted][name, hidden] else " \\*"
            cells.append(told(interval(ours[hidden, planted][name]), write) + mark)
        rows.append(cells)
    for (hidden, planted), own in ours.items():
        names = [f"{who}, restoration" for who in ("own planting", "dropping", "doing nothing", "the best")]
        left = [three(float(own[name].mean())) for name in names]
        tau = told(interval(own["τ, restoration"]), two)
        beside.append([two(hidden), two(planted), tau, told(interval(own[names[0]]), three), *left[1:]])
    answer = (
        f"**Of {len(REVIEW)} estimates of an earlier review, {counts[0.4]} lie within our intervals if a "
        f"rate of .4 is planted on top of the hidden one, and {counts[0.2]} if it is .2. At a hidden rate of "
        ".4, ranks by distance to the clean model's discrimination are not shown to be the true ones: τ is "
        f"{told(interval(ours[0.4, 0.4]['τ, distance']), two)}.** By our `restoration_distance` they agree "
        f"more than by chance, τ {told(interval(ours[0.4, 0.4]['τ, restoration']), two)}; by accuracy, "
        f"{told(interval(ours[0.4, 0.4]['τ, accuracy']), two)}, and by parity, "
        f"{told(interval(ours[0.4, 0.4]['τ, parity']), two)}."
    )
    whole = [entry.name for entry in load_experiment("suite").datasets]
    left_out = ", ".join(f"`{name}`" for name in whole if name not in datasets())
    reading = [
        "**What was measured.** Label bias of the same *rate* is hidden in all rows of a dataset, and more "
        "is planted on top. Techniques are ranked by how near their discrimination comes to the clean "
        "model's, |T - D_clean|, by |T|, or by accuracy. In truth they are trained on hidden bias alone, "
        "and D_clean on none. The rows below τ are the distance in truth that a choice leaves. Brackets: "
        "95 %, from 100,000 resamples of datasets. \\*: the review's estimate lies outside.",
        "**What the review does not say** is which twelve datasets, how much is planted on top, and what "
        f"is deployed. We took the suite's without {left_out}; six splits, C4.5.",
        "**What lies outside, and why.** The best technique leaves more here, because we take the distance "
        "in each split, where noise alone makes one. Of the mean over splits, in which noise cancels, the "
        f"best leaves {told(best_by_means(values, 0.4), three)}. τ by parity at .4 fits if .4 is planted, "
        "not .2.",
        f"**Beside the doses.** A hidden rate of .4 is a label gap of {three(low)} to {three(high)} on the "
        "ten datasets of [the findings](FINDINGS.md), where .10 is the most that is hidden.",
    ]
    head = ["hidden", "estimate", "review", *(f"ours, {two(planted)} planted" for planted in PLANTED)]
    second = ["hidden", "planted", "τ", "own planting", "dropping", "doing nothing", "the best"]
    blocks = [
        "# Hidden rates of label bias: an earlier review, repeated",
        fill(answer, 125),
        table(head, rows),
        points(reading),
        "The same by `restoration_distance`, ranks and distances:",
        table(second, beside),
    ]
    return "\n\n".join(blocks) + "\n"


def read_values() -> pd.DataFrame:
    """Return the committed values."""
    return pd.read_csv(VALUES)


FILES: Files = {PAGE: page}


if __name__ == "__main__":
    write_atomically(VALUES, measured().round(6).to_csv(index=False).encode())
