"""Made-up runs of realistic size and shape."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from benchmark.columns import FAILURE_COLUMNS, ORIGINAL, RESULT_COLUMNS
from benchmark.experiment.entries import TechniqueEntry
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import (
    DatasetDescription,
    DatasetInExperiment,
    ExperimentInRun,
    Manifest,
    MetricDescription,
    PlantedBias,
)

BETAS = (0.0, 0.25, 0.5, 0.75, 1.0)

Told = Mapping[Any, Any] | str
"""Values of a cell by metric, or by test and metric; a text in place of one, or of all, is why it lacks."""
Cells = Iterator[tuple[Sequence[Any], Told]]
"""Dataset, bias, level, technique and repetition of cells, with their values."""


def frames_of(
    cells: Iterable[tuple[Sequence[Any], Told]], status: str = "skipped"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return results and failures of cells."""
    results, failures = [], []
    for (*where, repetition), told in cells:
        cell = (*where, "c45", repetition)
        if isinstance(told, str):
            failures.append((*cell, "", "", status, np.nan, told))
            continue
        for key, value in told.items():
            measured = key if isinstance(key, tuple) else (ORIGINAL, key)
            if isinstance(value, str):
                failures.append((*cell, *measured, "undefined", np.nan, value))
            results.append((*cell, *measured, np.nan if isinstance(value, str) else float(value)))
    return (
        pd.DataFrame(results, columns=list(RESULT_COLUMNS)),
        pd.DataFrame(failures, columns=list(FAILURE_COLUMNS)),
    )


def facts_of_run(
    datasets: Mapping[str, Mapping[str, Any]],
    techniques: Mapping[str, str],
    baselines: Mapping[str, str] = MappingProxyType({}),
    experiment: Mapping[str, Any] = MappingProxyType({}),
    **more: Any,
) -> dict[str, Any]:
    """Return what a manifest holds: what is known of datasets, and titles of techniques, by name."""
    known = {name: made_up_facts(name.partition(":")[0], **{"bias": {"cpt": {}}} | facts)
             for name, facts in datasets.items()}  # fmt: skip
    entries = [
        {"card": card, "name": card, "baseline": baselines.get(card, "none"),
         "bias": [{"name": bias} for bias in facts["bias"]]}
        for name, facts in known.items() for card in [name.partition(":")[0]]
    ]  # fmt: skip
    settings = {
        "name": "made_up",
        "title": "A made-up run",
        "seed": 1,
        "datasets": entries,
        "techniques": [
            {"technique": name.partition("_0")[0], "name": name, "title": title}
            for name, title in techniques.items()
        ],
        "classifiers": [{"classifier": "c45", "name": "c45"}],
        **experiment,
    }
    return {"experiment": settings, "datasets": known, "versions": {"betabench": "0.1.0"}, **more}


def made_up_technique(name: str, title: str = "", method: str = "") -> TechniqueEntry:
    """Return a technique under a name, by default the registered one of that name."""
    return TechniqueEntry(technique=method or name, name=name, title=title)


TECHNIQUES = (
    made_up_technique("none", "No technique"),
    made_up_technique("drop_sensitive", "Sensitive feature dropped"),
    made_up_technique("massaging", "Massaging"),
    made_up_technique("reweighing", "Reweighing"),
    made_up_technique("uniform_sampling", "Uniform sampling"),
    made_up_technique("preferential_sampling", "Preferential sampling"),
    made_up_technique("repair_0.25", "Repair 0.25", "repair"),
    made_up_technique("repair_0.50", "Repair 0.50", "repair"),
    made_up_technique("repair_0.75", "Repair 0.75", "repair"),
)

METRICS = (
    MetricDescription("discrimination", "Discrimination", 0.0),
    MetricDescription("accuracy", "Accuracy", 1.0),
    MetricDescription("overestimation", "Overestimation", 0.0),
    MetricDescription("underestimation", "Underestimation", 0.0),
)

SHARES = (
    MetricDescription("accepted", "Share accepted"),
    MetricDescription("accepted_deprived", "Share accepted, deprived group"),
    MetricDescription("accepted_favored", "Share accepted, favored group"),
)

_PAPER = Manifest.read(Path(__file__).resolve().parents[2] / "results" / "paper" / "manifest.json")


def _of_paper(name: str, digest: str, bias: str, /, **changes: Any) -> DatasetDescription:
    """Return a dataset of the paper's run with another bias and digest, and without its card."""
    dataset = _PAPER.dataset(name)
    own = {"entry": DatasetInExperiment(name=name, baseline=dataset.baseline), "card": ""}
    own |= {"test_digest": digest * 16, "bias": (PlantedBias("paper", description=bias),)}
    return replace(dataset, **{**own, **changes})


ADULT = _of_paper("adult", "5d0c", "P(>50K | Wife) and P(<=50K | Husband) are multiplied by 1 - β")
COMPAS = _of_paper(
    *("compas_leaky", "77aa", "Race is no parent of the outcome, so the bias has nothing to act on"),
    warning="the column event follows from the outcome, so accuracy is higher than it can be in practice",
)
DUTCH = _of_paper(
    *("dutch", "01fe", "P(2_1 | sex = 2) is multiplied by 1 - β"),
    **{"name": "dutch:embedded", "title": "Dutch", "embedded": True},
    test_data="sample of the learned network",
)


@dataclass(frozen=True)
class Run:
    """What the report is given."""

    results: pd.DataFrame
    failures: pd.DataFrame
    description: Manifest

    @property
    def frames(self) -> RunFrames:
        """The frames that everything is drawn from."""
        return RunFrames.of(self.description, self.results, self.failures)


def made_up_facts(name: str, **facts: Any) -> dict[str, Any]:
    """Return what the manifest says of a dataset of which little is known."""
    roles = dict.fromkeys(("sensitive_feature", "deprived_group", "label", "favorable_label"), "")
    return {**roles, "title": name, "embedded": False, "warning": None, "columns": [], **facts}


def made_up_dataset(name: str, **facts: Any) -> DatasetDescription:
    """Return such a dataset."""
    entry = DatasetInExperiment(name=name, baseline="none")
    return DatasetDescription(name=name, **{"entry": entry, **made_up_facts(name, columns=(), **facts)})


def manifest_of(**fields: Any) -> Manifest:
    """Return a manifest of what its properties say: ``techniques``, ``classifiers``, ``betas``, ..."""
    datasets = fields["datasets"]
    experiment = {
        "title": "",
        "seed": 1,
        **{name: value for name, value in fields.items() if name in ExperimentInRun.model_fields},
        "datasets": [dataset.entry for dataset in datasets],
        "classifiers": [{"classifier": name} for name in fields["classifiers"]],
    }
    own = {name: value for name, value in fields.items() if name in Manifest.model_fields}
    return Manifest.model_validate({"versions": {}, **own, "experiment": experiment})


def changed(manifest: Manifest, **fields: Any) -> Manifest:
    """Return the manifest with other fields, as :func:`manifest_of` takes them."""
    own = {name: getattr(manifest, name) for name in Manifest.model_fields}
    own |= {name: getattr(manifest.experiment, name) for name in ExperimentInRun.model_fields}
    del own["experiment"], own["settings"]
    own |= {"datasets": manifest.datasets, "classifiers": manifest.classifiers}
    found = manifest_of(**{**own, **fields})
    # What is given here need not be what a file can hold.
    found.experiment.settings = manifest.experiment.settings
    return found


HOSTILE_TITLES = (
    "$x_1$",
    "<script>alert(1)</script>",
    "A title of sixty characters, which no legend has the room for",
    "averyveryverylongwordthatnobodycanbreakbecauseithasnoblank",
    "A & B; {C} \\frac12 %",
)


def hostile_techniques(n: int) -> dict[str, Any]:
    """Return techniques with titles that break what can be broken, and their stages, of all kinds."""
    names = [f"technique_{i}" for i in range(n)]
    titles = itertools.cycle(HOSTILE_TITLES)
    return {
        "techniques": [made_up_technique(names[i], f"{next(titles)} {i}") for i in range(n)],
        "stages": {names[i]: ("pre", "in", "post")[3 * i // n] for i in range(n)},
    }


def many_techniques(n: int) -> tuple[TechniqueEntry, ...]:
    """Return the sample's techniques, then further ones with ever longer titles."""
    more = tuple(
        made_up_technique(f"extra_{i}", f"Constrained regression {i}" + " with threshold" * (i % 3))
        for i in range(max(0, n - len(TECHNIQUES)))
    )
    return (TECHNIQUES + more)[:n]


def sample_run(
    *,
    techniques: Sequence[TechniqueEntry] = TECHNIQUES,
    stages: Mapping[str, str] = MappingProxyType({}),
    datasets: Sequence[DatasetDescription] = (ADULT, COMPAS, DUTCH),
    betas: Sequence[float] = BETAS,
    repetitions: int = 30,
    metrics: Sequence[MetricDescription] = METRICS,
    shares: bool = False,
) -> Run:
    """Return a run whose numbers behave roughly like the paper's.

    On Dutch, uniform and preferential sampling fail at beta 1, and one repetition of massaging has no
    overestimation. With ``shares``, 40 % are accepted, and as many more of the favored group as there is
    discrimination.
    """
    extra = SHARES if shares else ()
    rng = np.random.default_rng(20240607)

    def cells() -> Cells:
        for dataset, beta, (i, entry) in itertools.product(datasets, betas, enumerate(techniques)):
            where = (dataset.name, "paper", beta, entry.name)
            if dataset.title == "Dutch" and beta == 1 and entry.name.endswith("_sampling"):
                reason = "no deprived row has the favorable label, so none can be repeated"
                yield from (((*where, r), reason) for r in range(repetitions))
                continue
            bend = {"Adult": beta**0.7, "COMPAS (leaky)": 0.02 * beta}.get(dataset.title, beta**3)
            level = np.array([0.19, 0.84, 0.05, 0.07])
            level += bend * np.array([0.42, -0.12, 0.4, 0.7]) / (1 + i % 7 / 2)
            level[0] -= 0.03 * (i % 5)
            for repetition in range(repetitions):
                told = level + rng.normal(0, 0.008, size=4)
                values: dict[str, Any] = {m.name: v for m, v in zip(metrics, told, strict=False)}
                if (dataset.title, entry.name, repetition) == ("Dutch", "massaging", 0):
                    values |= dict.fromkeys({*values} & {"overestimation"}, "no favored row is favorable")
                accepted = (0.4, 0.4 - told[0] / 2, 0.4 + told[0] / 2)
                values |= {m.name: share for m, share in zip(extra, accepted, strict=False)}
                yield (*where, repetition), values

    return Run(
        *frames_of(cells(), status="failed"),
        manifest_of(
            name="paper",
            title="The paper's experiment",
            seed=42,
            repetitions=repetitions,
            betas=tuple(betas),
            techniques=tuple(techniques),
            stages=dict(stages),
            classifiers=("c45",),
            metrics=(*metrics, *extra),
            headline=tuple(metric.name for metric in metrics),
            datasets=tuple(datasets),
            versions={"betabench": "0.1.0", "numpy": "2.4.6", "scikit-learn": "1.9.0"},
            published={"title": "The paper", "file": "paper.csv"},
        ),
    )
