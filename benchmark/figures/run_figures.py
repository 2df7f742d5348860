"""All figures of a run itself: networks, metrics over the levels of bias, trade-offs, AUC by group."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

from benchmark.figures import Drawing
from benchmark.runs.finished import RunFrames
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
    from benchmark.figures.auc import auc_rows, draw_auc
    from benchmark.figures.network import draw_network
    from benchmark.figures.over_beta import draw_over_beta
    from benchmark.figures.tradeoff import TRADEOFF, draw_tradeoff

    manifest, curves = run.manifest, None
    if any(metric.name.startswith("auc[") for metric in manifest.metrics):
        for scenario, beta in product(run.scenarios, manifest.levels):
            rows = auc_rows(run.summary, scenario, beta, manifest)
            if len(rows):
                title = f"{scenario.heading}, {manifest.level_text(beta)}"
                name = f"auc/{scenario.file_name}__{manifest.level_name}_{beta:g}"
                yield name, partial(draw_auc, rows, title)
    if run.frontier is not None and len(run.frontier):
        curves = mean_frontiers(best_frontiers(run.frontier))
    for dataset in manifest.datasets:
        if dataset.network.digest:
            yield f"network/{file_name(dataset.name)}", partial(draw_network, dataset)
    for scenario in run.scenarios:
        yield f"over_beta/{scenario.file_name}", partial(draw_over_beta, run, scenario)
        if any(manifest.metric(name) is None for name in TRADEOFF):
            continue
        folder = f"tradeoff/{scenario.file_name}"
        yield f"{folder}/all", partial(draw_tradeoff, run, scenario, curves)
        tried = set(scenario.rows(run.summary)["technique"])
        for technique in manifest.techniques if manifest.repetitions >= _FEWEST_ALONE else ():
            if technique.name in tried:
                name = f"{folder}/technique_{file_name(technique.name)}"
                yield name, partial(draw_tradeoff, run, scenario, curves, technique.name)
