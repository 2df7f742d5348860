"""Figures of a run's data before any technique: the label's table, and the samples' fidelity."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmark.experiment.plan import Block
from benchmark.experiment.prepare import PreparedExperiment
from benchmark.figures import Drawing
from benchmark.runs.manifest import Manifest
from benchmark.text.embedded import NOT_LEARNED, NOT_REAL_LOUD
from benchmark.text.words import file_name
from benchmark.wording import described


def dataset_figures(prepared: PreparedExperiment, manifest: Manifest) -> Iterator[Drawing]:
    """Yield ``label/<dataset>`` and ``fidelity/<dataset>``, with the bias where a dataset has several.

    The label's table is drawn only for biases that edit the network. The manifest's datasets are in the
    experiment's order.
    """
    # matplotlib is loaded only when something is drawn.
    from benchmark.figures.fidelity import draw_fidelity
    from benchmark.figures.label_table import draw_label_table

    for (dataset_key, data), dataset in zip(prepared.datasets.items(), manifest.datasets, strict=True):
        for bias, declared in data.biases.items():
            several = [bias] if len(data.biases) > 1 else []
            levels = [level for level in prepared.experiment.levels if data.reaches(bias, level)]
            name = "__".join(map(file_name, [data.name, *several]))
            words = {
                "heading": ", ".join([dataset.heading, *several]),
                "bias": described.planted(dataset.planted(bias)),
            }
            if declared.edits_network and data.train == "network":
                betas = [data.beta_of(bias, level) for level in levels]
                networks = [data.planted(bias, beta)[0].network for beta in betas]
                origin = NOT_LEARNED if data.embedded else "The network was learned from the real data"
                draw = partial(draw_label_table, networks, betas, provenance=f"{origin}.", **words)
                yield f"label/{name}", draw
            samples = []
            for level in dict.fromkeys((levels[0], levels[-1])):
                # The very sample that the techniques met in their first repetition.
                block = Block(dataset_key, bias, level, repetition=0)
                samples.append((manifest.level_text(level), prepared.training_sample(block)))
            test_rows = "The real data"
            if data.embedded:
                test_rows = f"{NOT_REAL_LOUD}: a sample of the network stands in for the data"
            compared = (
                f"{test_rows} ({len(data.test):,} rows) against the training samples of the first repetition "
                f"({data.n_train:,} rows)."
            )
            draw = partial(draw_fidelity, data.test, samples, provenance=compared, **words)
            yield f"fidelity/{name}", draw
