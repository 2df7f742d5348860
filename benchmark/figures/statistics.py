"""All figures of a run's statistics."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from benchmark.figures import Drawing
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import by_rows
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION
from benchmark.statistics.cells import SCENARIO
from benchmark.text.words import file_name


def statistics_figures(statistics: RunStatistics) -> Iterator[Drawing]:
    """Yield name and drawing function of each figure of a run's statistics.

    Names are ``heat_<metric>``, ``restoration_<dataset>``, ``groups_<metric>``,
    ``regret``, ``forest_<dataset>__<metric>``, ``pareto_<dataset>`` and ``ranks_<datasets>``. They have bias,
    classifier and test where a run has several; heat maps have the test only. Where a dataset has several
    learners, ``together_<dataset>`` has all of them.
    """
    # matplotlib is loaded only when something is drawn.
    from benchmark.figures.gaps import gap_figures
    from benchmark.figures.improvement import draw_forest, draw_heat
    from benchmark.figures.pareto import draw_pareto
    from benchmark.figures.ranks import draw_ranks
    from benchmark.figures.restoration import restoration_figures
    from benchmark.figures.together import draw_together

    compared = statistics.compared_metrics
    for metric, test in dict.fromkeys((metric, scenario.test) for scenario, metric in compared):
        name = f"heat_{statistics.file_name(metric, test)}"
        yield name, functools.partial(draw_heat, statistics, metric, test)
    yield from restoration_figures(statistics)
    yield from gap_figures(statistics)
    if len(statistics.regret):
        from benchmark.figures.tuning import draw_regret

        yield "regret", functools.partial(draw_regret, statistics)
    for scenario, metric in compared:
        rows = scenario.rows(statistics.comparisons)
        if np.isfinite(rows.loc[rows["metric"] == metric, "improvement"]).any():
            name = f"forest_{scenario.file_name}__{statistics.metric_files[metric]}"
            yield name, functools.partial(draw_forest, statistics, scenario, metric)
    for scenario in statistics.scenarios:
        if len(scenario.rows(statistics.pareto)):
            yield f"pareto_{scenario.file_name}", functools.partial(draw_pareto, statistics, scenario)
    for of_rows in by_rows(statistics.scenarios):
        if len(of_rows.scenarios) > 1 and {DISCRIMINATION, ACCURACY} <= {*statistics.metrics}:
            yield f"together_{of_rows.file_name}", functools.partial(draw_together, statistics, of_rows)
    ranks = statistics.ranks
    where = ["datasets", *SCENARIO[1:]]
    several = [c for c in where[1:] if ranks[c].nunique() > 1 or (c == "test" and statistics.names_tests)]
    for keys, rows in ranks.groupby(where, sort=False):
        if rows.loc[rows["over"] == "dataset beta", "mean_rank"].notna().any():
            names = [*str(keys[0]).split(), *(str(rows[column].iloc[0]) for column in several)]
            yield "ranks_" + "__".join(map(file_name, names)), functools.partial(draw_ranks, statistics, rows)
