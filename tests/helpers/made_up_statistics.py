"""Statistics of made-up runs."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pandas as pd

from benchmark.columns import BLIND, RESULT_COLUMNS
from benchmark.metrics import list_metrics
from benchmark.runs.analysis import GAP_COLUMNS, RunStatistics
from benchmark.runs.manifest import DatasetInExperiment, GroupSizes
from benchmark.statistics.across import pareto_fronts, repetitions_needed
from benchmark.statistics.answers import judged, standings
from benchmark.statistics.intervals import cell_intervals
from benchmark.statistics.paired import paired_comparisons
from benchmark.statistics.recommendation import Criteria
from benchmark.statistics.restoration import RESTORATION_COLUMNS, UNDO_COLUMNS
from benchmark.statistics.tuning import REGRET_COLUMNS
from benchmark.statistics.unprocessing import FRONTIER_GAP_COLUMNS
from tests.helpers.made_up_runs import HOSTILE_TITLES, made_up_dataset, made_up_technique, manifest_of

BETAS = (0.0, 0.5, 1.0)
METRICS = ("discrimination", "accuracy")
N_BLOCKS = 6  # two datasets, three levels of bias
WARNING = "2 datasets are too few for a claim beyond them"


@cache
def statistics(n_techniques: int, repetitions: int = 4) -> RunStatistics:
    """Return the parts of statistics that figures show, of made-up results, the last technique failing."""
    rng = np.random.default_rng(n_techniques)
    names = [f"technique_{i}" for i in range(n_techniques)]
    rows = []
    for dataset, beta, (i, name) in itertools.product(("one", "two"), BETAS, enumerate(names)):
        level = np.array([0.2 + 0.5 * beta - 0.02 * (i % 9), 0.85 - 0.1 * beta - 0.01 * (i % 5)])
        for repetition, values in enumerate(level + rng.normal(0, 0.01, (repetitions, 2))):
            gone = i == n_techniques - 1 > 1 and beta == 1
            for metric, value in zip(METRICS, values, strict=True):
                own = np.nan if gone else value
                rows.append((dataset, "cpt", beta, name, "c45", repetition, "original", metric, own))
    results = pd.DataFrame(rows, columns=list(RESULT_COLUMNS))
    goals = list_metrics()
    run = manifest_of(
        name="made_up",
        title="A made-up run",
        repetitions=repetitions,
        betas=BETAS,
        techniques=[
            made_up_technique(name, HOSTILE_TITLES[i % len(HOSTILE_TITLES)] + f" {i}")
            for i, name in enumerate(names)
        ],
        classifiers=("c45",),
        datasets=[
            made_up_dataset(
                name,
                warning="beware" if name == "two" else None,
                entry=DatasetInExperiment(name=name, baseline=names[0]),
                test_groups=GroupSizes(20, 80, 50, 50),
            )
            for name in ("one", "two")
        ],
    )
    empty = pd.DataFrame()
    return RunStatistics(
        run=run,
        failures=empty,
        metrics={name: goals[name] for name in METRICS},
        baselines=run.baselines(results),
        alpha=0.05,
        criteria=Criteria(),
        resampling=None,
        everything=results,
        standing=standings(results, run.constant_answers),
        answers=empty,
        intervals=cell_intervals(results),
        comparisons=judged(paired_comparisons(results, names[0], goals)),
        ranks=made_up_ranks(names).assign(below_constant=False, knows=BLIND),
        pareto=pareto_fronts(results, ("discrimination", "accuracy"), goals).assign(below_constant=False),
        restoration=pd.DataFrame(columns=list(RESTORATION_COLUMNS)),
        groups=pd.DataFrame(columns=list(GAP_COLUMNS)),
        regret=pd.DataFrame(columns=list(REGRET_COLUMNS)),
        frontier_gaps=pd.DataFrame(columns=list(FRONTIER_GAP_COLUMNS)),
        frontier=empty,
        unconstrained=(),
        undo=pd.DataFrame(columns=list(UNDO_COLUMNS)),
    )


def made_up_ranks(names: list[str]) -> pd.DataFrame:
    """Return ranks in the order of the names, of which every four neighbours do not differ."""
    rows = []
    for metric, (over, beta) in itertools.product(
        METRICS, [("dataset level", np.nan), *(("dataset", beta) for beta in BETAS)]
    ):
        for i, name in enumerate(names):
            first = max(0, i - 3) + 1
            groups = " ".join(str(group) for group in range(first, min(i, len(names) - 4) + 2))
            rank = np.nan if i == len(names) - 1 > 1 else i + 1.0
            rows.append(
                (
                    "one two",
                    over,
                    beta,
                    "cpt",
                    "c45",
                    "original",
                    metric,
                    name,
                    rank,
                    groups,
                    len(names),
                    N_BLOCKS,
                    2,
                    repetitions_needed(max(1, math.comb(len(names), 2))),
                    "" if np.isfinite(rank) else "no_value",
                    "" if np.isfinite(rank) else "one",
                    np.nan if np.isfinite(rank) else 1.0,
                )
            )
    columns = ["datasets", "over", "level", "bias", "classifier", "test", "metric", "technique", "mean_rank"]
    columns += ["groups", "n_techniques", "n_blocks", "n_datasets", "datasets_needed"]
    return pd.DataFrame(rows, columns=[*columns, "reason", "reason_dataset", "reason_level"])
