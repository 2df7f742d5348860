"""All figures of a run, and of its statistics."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from benchmark.figures import Drawing
from benchmark.figures.heat import draw_heat
from benchmark.figures.network import draw_network
from benchmark.figures.over_beta import draw_over_beta
from benchmark.figures.rows import (
    auc_rows,
    draw_auc,
    draw_forest,
    draw_gaps,
    draw_ranks,
    draw_restoration,
    of_techniques,
)
from benchmark.figures.tradeoff import TRADEOFF, draw_pareto, draw_tradeoff
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.finished import RunFrames
from benchmark.statistics.cells import SCENARIO
from benchmark.statistics.unprocessing import best_frontiers, mean_frontiers
from benchmark.text.words import file_name


def run_figures(run: RunFrames) -> Iterator[Drawing]:
    """Yield name and drawing function of each figure of a run.

    Names are ``auc/<dataset>__beta_<beta>``, with the name of the run's levels, ``network/<dataset>``,
    ``over_beta/<dataset>`` and ``tradeoff/<dataset>/all``. They have bias, classifier and test where a
    dataset has several. No figure has reference rows, and one level of bias has no figure over levels.
    """
    run = run.of_techniques
    manifest, curves = run.manifest, None
    if any(metric.name.startswith("auc[") for metric in manifest.metrics):
        for scenario, beta in product(run.scenarios, manifest.levels):
            rows = auc_rows(run.summary, scenario, beta, manifest)
            if len(rows):
                title = f"{scenario.heading}, {manifest.level_text(beta)}"
                name = f"auc/{scenario.file_name}__{manifest.unit}_{beta:g}"
                yield name, partial(draw_auc, rows, title)
    if run.frontier is not None and len(run.frontier):
        curves = mean_frontiers(best_frontiers(run.frontier))
    for dataset in manifest.datasets:
        if dataset.network.digest:
            yield f"network/{file_name(dataset.name)}", partial(draw_network, dataset)
    for scenario in run.scenarios:
        if len(manifest.levels) > 1:
            yield f"over_beta/{scenario.file_name}", partial(draw_over_beta, run, scenario)
        if any(manifest.metric(name) is None for name in TRADEOFF):
            continue
        yield f"tradeoff/{scenario.file_name}/all", partial(draw_tradeoff, run, scenario, curves)


def statistics_figures(statistics: RunStatistics) -> Iterator[Drawing]:
    """Yield name and drawing function of each figure of a run's statistics.

    Names are ``heat_<metric>``, ``restoration_<dataset>``, ``groups_<metric>``,
    ``forest_<dataset>__<metric>``, ``pareto_<dataset>`` and ``ranks_<datasets>``. They have bias, classifier
    and test where a run has several; heat maps have the test only.
    """
    compared, scenarios = statistics.compared_metrics, statistics.scenarios
    for metric, test in dict.fromkeys((metric, scenario.test) for scenario, metric in compared):
        yield f"heat_{statistics.file_name(metric, test)}", partial(draw_heat, statistics, metric, test)
    for scenario in scenarios:
        if len(of_techniques(scenario.rows(statistics.restoration))):
            yield f"restoration_{scenario.file_name}", partial(draw_restoration, statistics, scenario)
    gaps = statistics.groups[statistics.groups["difference"].notna()]
    for name, rows in _by_kind(gaps, "metric"):
        yield f"groups_{name}", partial(draw_gaps, statistics, rows)
    for scenario, metric in compared:
        rows = scenario.rows(statistics.comparisons)
        if np.isfinite(rows.loc[rows["metric"] == metric, "improvement"]).any():
            name = f"forest_{scenario.file_name}__{statistics.file_name(metric)}"
            yield name, partial(draw_forest, statistics, scenario, metric)
    for scenario in scenarios:
        if len(scenario.rows(statistics.pareto)):
            yield f"pareto_{scenario.file_name}", partial(draw_pareto, statistics, scenario)
    for name, rows in _by_kind(statistics.ranks, "datasets", ["test"] * statistics.names_tests):
        if rows.loc[rows["over"] == "dataset level", "mean_rank"].notna().any():
            yield f"ranks_{name}", partial(draw_ranks, statistics, rows)


def _by_kind(
    table: pd.DataFrame, first: str, named: Sequence[str] = ()
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each value of a column, bias, classifier and test, with a name for a file.

    The name has bias, classifier and test where they are several, or among ``named``.
    """
    kind = list(SCENARIO[1:])
    several = [column for column in kind if table[column].nunique() > 1 or column in named]
    for (value, *_), rows in table.groupby([first, *kind], sort=False):
        names = [*str(value).split(), *(str(rows[column].iloc[0]) for column in several)]
        yield "__".join(map(file_name, names)), rows
