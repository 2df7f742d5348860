"""Figures of what a run's data are, before any technique: the label's table, and the samples' fidelity."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmark.experiment.plan import Block
from benchmark.experiment.prepare import PreparedExperiment
from benchmark.figures import Drawing
from benchmark.runs.manifest import Manifest
from benchmark.text.embedded import NOT_LEARNED, NOT_REAL_LOUD
from benchmark.text.words import file_name


def dataset_figures(prepared: PreparedExperiment, manifest: Manifest) -> Iterator[Drawing]:
    """Yield name and drawing function of ``label/<dataset>`` and ``fidelity/<dataset>``.

    The bias is part of the name where a dataset has several. The label's table is drawn only for biases that
    edit the network: others leave it as it is. The manifest's datasets are in the experiment's order.
    """
    # matplotlib is loaded only when something is drawn.
    from benchmark.figures.fidelity import draw_fidelity
    from benchmark.figures.label_table import draw_label_table

    for (name_there, data), dataset in zip(prepared.datasets.items(), manifest.datasets, strict=True):
        for bias, planted in data.biases.items():
            several = [bias] if len(data.biases) > 1 else []
            levels = [level for level in prepared.experiment.levels if data.reaches(bias, level)]
            name = "__".join(map(file_name, [data.name, *several]))
            words = {
                "heading": ", ".join([dataset.heading, *several]),
                "bias": next(own.sentence for own in dataset.bias if own.name == bias),
            }
            if planted.edits_network and data.train == "network":
                betas = [data.beta_of(bias, level) for level in levels]
                networks = [data.planted(bias, beta)[0].network for beta in betas]
                learned = (
                    f"{NOT_LEARNED}." if data.embedded else "The network was learned from the real data."
                )
                yield f"label/{name}", partial(draw_label_table, networks, betas, provenance=learned, **words)
            samples = [
                # The very sample that the techniques met in their first repetition.
                (
                    manifest.level_text(level),
                    prepared.training_sample(Block(name_there, bias, level, repetition=0)),
                )
                for level in dict.fromkeys((levels[0], levels[-1]))
            ]
            test_rows = (
                f"{NOT_REAL_LOUD}: a sample of the network stands in for the data"
                if data.embedded
                else "The real data"
            )
            compared = (
                f"{test_rows} ({len(data.test):,} rows) against the training samples of the first repetition "
                f"({data.n_train:,} rows)."
            )
            yield (
                f"fidelity/{name}",
                partial(draw_fidelity, data.test, samples, provenance=compared, **words),
            )
