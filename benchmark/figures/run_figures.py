"""All figures of a run itself: networks, metrics over the levels of bias, trade-offs, AUC by group."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import pandas as pd

from benchmark.figures import Drawing
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario
from benchmark.statistics.unprocessing import best_frontiers, mean_frontiers
from benchmark.text.words import file_name

# Repetitions from which a technique has its own figure: fewer dots are clear in the figure of all.
_FEWEST_ALONE = 3


def run_figures(run: RunFrames) -> Iterator[Drawing]:
    """Yield name and drawing function of each figure of a run.

    Names are ``auc/<dataset>__beta_<beta>`` (``dose`` where levels are doses), ``network/<dataset>``,
    ``over_beta/<dataset>``, ``tradeoff/<dataset>/all`` and, from three repetitions on,
    ``tradeoff/<dataset>/technique_<name>``. They have bias, classifier and test where a dataset has several.
    No figure has reference rows.
    """
    run = run.of_techniques
    # matplotlib is loaded only when something is drawn.
    from benchmark.figures.network import draw_network
    from benchmark.figures.over_beta import draw_over_beta

    yield from _auc_figures(run)
    shown, standing = run.shown, run.standing
    curves = None
    if run.frontier is not None and len(run.frontier):
        curves = mean_frontiers(best_frontiers(run.frontier))
    for dataset in run.manifest.datasets:
        if dataset.network.digest:
            yield f"network/{file_name(dataset.name)}", partial(draw_network, dataset)
    for scenario in run.scenarios:
        more = (shown.failures, standing, scenario, shown.manifest)
        yield f"over_beta/{scenario.file_name}", partial(draw_over_beta, shown.summary, *more)
        yield from _tradeoff_figures(shown, *more, curves)


def _auc_figures(run: RunFrames) -> Iterator[Drawing]:
    if not any(metric.name.startswith("auc[") for metric in run.manifest.metrics):
        return
    from benchmark.figures.auc import auc_rows, draw_auc

    for scenario, beta in product(run.scenarios, run.manifest.levels):
        rows = auc_rows(run.summary, run.failures, scenario, beta, run.manifest)
        if len(rows):
            title = f"{scenario.heading}, {run.manifest.level_text(beta)}"
            name = f"auc/{scenario.file_name}__{run.manifest.level_name}_{beta:g}"
            yield name, partial(draw_auc, rows, title)


def _tradeoff_figures(
    run: RunFrames,
    failures: pd.DataFrame,
    standing: pd.DataFrame,
    scenario: Scenario,
    manifest: Manifest,
    curves: pd.DataFrame | None,
) -> Iterator[Drawing]:
    from benchmark.figures.tradeoff import TRADEOFF, draw_tradeoff, points_of, tradeoff_limits

    if any(manifest.metric(name) is None for name in TRADEOFF):
        return
    points = points_of(scenario.rows(run.results))
    limits = tradeoff_limits(points, scenario.constant_accuracy)
    tried = frozenset(scenario.rows(run.summary)["technique"])
    techniques = [technique for technique in manifest.techniques if technique.name in tried]
    chosen = {"all": techniques}
    if manifest.repetitions >= _FEWEST_ALONE:
        chosen |= {f"technique_{file_name(t.name)}": [t] for t in techniques}
    for name, members in chosen.items():
        draw = partial(draw_tradeoff, points, limits, members, failures, standing, scenario, manifest, curves)
        yield f"tradeoff/{scenario.file_name}/{name}", draw
