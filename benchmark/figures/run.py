"""All figures of a run itself: networks, metrics over the levels of bias, trade-offs, AUC by group."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import pandas as pd

from benchmark.figures import Drawing
from benchmark.runs.descriptions import DatasetDescription, RunDescription
from benchmark.runs.frames import Scenario, only_described_metrics, scenarios
from benchmark.statistics.answers import standings
from benchmark.statistics.unprocessing import best_frontiers, mean_frontiers
from benchmark.text.words import file_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Repetitions from which a technique has a figure of its own: fewer dots are as clear in a panel of all.
_FEWEST_ALONE = 3


def run_figures(
    summary: pd.DataFrame,
    results: pd.DataFrame,
    failures: pd.DataFrame,
    description: RunDescription,
    frontier: pd.DataFrame | None = None,
) -> Iterator[Drawing]:
    """Yield name and drawing function of each figure.

    They are ``auc/<dataset>__beta_<beta>`` if AUC by group was measured; of the headline metrics
    ``network/<dataset>``, ``over_beta/<dataset>``, ``tradeoff/<dataset>/all`` and, with three repetitions or
    more, ``tradeoff/<dataset>/technique_<name>``; bias, classifier and test are part of the name where a
    dataset occurs with several. Results and failures are checked by :mod:`benchmark.runs.frames`.
    """
    # matplotlib is loaded only when something is drawn.
    from benchmark.figures.over_beta import draw_over_beta

    yield from _auc_figures(summary, results, failures, description)
    standing = standings(results, description.constant_answers)
    description = description.shown
    summary, results, failures = (
        only_described_metrics(frame, description) for frame in (summary, results, failures)
    )
    curves = None if frontier is None or frontier.empty else mean_frontiers(best_frontiers(frontier))
    for dataset in description.datasets:
        if dataset.columns:  # an earlier version's manifest may have no network
            yield f"network/{file_name(dataset.name)}", partial(_draw_network, dataset)
    for scenario in scenarios(results, failures, description):
        more = (failures, standing, scenario, description)
        yield f"over_beta/{scenario.file_name}", partial(draw_over_beta, summary, *more)
        yield from _tradeoff_figures(summary, results, *more, curves)


def _draw_network(dataset: DatasetDescription) -> Figure:
    # networkx is loaded only when a network is drawn.
    from benchmark.figures.network import draw_network

    return draw_network(dataset)


def _auc_figures(
    summary: pd.DataFrame, results: pd.DataFrame, failures: pd.DataFrame, description: RunDescription
) -> Iterator[Drawing]:
    if not any(metric.name.startswith("auc[") for metric in description.metrics):
        return
    from benchmark.figures.auc import auc_rows, draw_auc

    for scenario, beta in product(scenarios(results, failures, description), description.betas):
        rows = auc_rows(summary, failures, scenario, beta, description)
        if len(rows):
            title = f"{scenario.heading}, β = {beta:g}"
            yield f"auc/{scenario.file_name}__beta_{beta:g}", partial(draw_auc, rows, title)


def _tradeoff_figures(
    summary: pd.DataFrame,
    results: pd.DataFrame,
    failures: pd.DataFrame,
    standing: pd.DataFrame,
    scenario: Scenario,
    description: RunDescription,
    curves: pd.DataFrame | None,
) -> Iterator[Drawing]:
    from benchmark.figures.tradeoff import TRADEOFF, draw_tradeoff, points_of, tradeoff_limits

    if any(description.metric(name) is None for name in TRADEOFF):
        return
    points = points_of(scenario.rows(results))
    limits = tradeoff_limits(points, scenario.constant_accuracy)
    tried = frozenset(scenario.rows(summary)["technique"])
    techniques = [technique for technique in description.techniques if technique.name in tried]
    chosen = {"all": techniques}
    if description.repetitions >= _FEWEST_ALONE:
        chosen |= {f"technique_{file_name(t.name)}": [t] for t in techniques}
    for name, own in chosen.items():
        draw = partial(draw_tradeoff, points, limits, own, failures, standing, scenario, description, curves)
        yield f"tradeoff/{scenario.file_name}/{name}", draw
