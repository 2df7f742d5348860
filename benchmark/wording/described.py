"""Words on a run and its datasets for figures and tables, from the run's manifest."""

from __future__ import annotations

from benchmark.runs.descriptions import DatasetDescription, PlantedBias
from benchmark.runs.manifest import Manifest
from benchmark.text.words import LEVEL_SIGNS, NOT_REAL_LOUD, SAMPLED, SEVERAL_LEVELS


def provenance(dataset: DatasetDescription) -> str:
    """Return the source of a dataset's test data: ``"tested on real data"``."""
    if dataset.embedded:
        return f"{NOT_REAL_LOUD}: tested on a {SAMPLED}"
    return f"tested on {'a ' if dataset.test_data.startswith('sample') else ''}{dataset.test_data}"


def planted(bias: PlantedBias) -> str:
    """Return a planted bias, with the β of each dose, or the most that can be added."""
    solved = [
        f"dose {dose.dose:g} is β = {dose.beta:.3g}"
        if dose.beta is not None
        else f"dose {dose.dose:g} is out of reach, at most {dose.gap:.3f} is added"
        for dose in bias.doses
        if dose.dose > 0
    ]
    return "; ".join([f"Bias {bias.name!r}: {bias.description}", *solved])


def all_planted(dataset: DatasetDescription) -> str:
    """Return all biases that are planted in a dataset."""
    return "; ".join(planted(bias) for bias in dataset.bias if bias.description)


def level_axis(run: Manifest) -> str:
    """Return the label of an axis of levels of bias."""
    return "planted bias β" if run.unit == "beta" else "planted dose: label gap added"


def levels_are_paired(run: Manifest) -> str:
    """Return a sentence on curves over levels of bias."""
    if run.experiment.paired_betas:
        levels = SEVERAL_LEVELS[run.unit]
        return f"A repetition has the same random numbers at all {levels}: curves over {levels} are paired."
    return f"Each {LEVEL_SIGNS[run.unit]} has its own samples, even within one repetition."


def ranked_over(run: Manifest) -> str:
    """Return what is ranked together: ``"datasets and all β"``, ``"datasets and doses 0.05 and 0.1"``."""
    levels = run.pooled_levels
    if len(levels) < 2:
        return f"datasets at {run.level_text(*levels)}" if levels else "datasets"
    return f"datasets and {'all β' if run.unit == 'beta' else run.level_text(*levels)}"
