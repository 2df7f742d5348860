"""The table ``published`` of an experiment file: which published numbers it repeats, and by what names."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, field_validator, model_validator

from benchmark.models import STRICT, Identifier


class PublishedMetric(BaseModel):
    """The metric that repeats a published one, perhaps with the opposite sign; its name alone will do."""

    model_config = STRICT

    metric: str
    negated: bool = False

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, data: Any) -> Any:
        return {"metric": data} if isinstance(data, str) else data


class PublishedDataset(BaseModel):
    """The dataset of the experiment that repeats a published one."""

    model_config = STRICT

    name: str  # the published name
    techniques: tuple[str, ...] = ()  # published names of its techniques; empty for all that no entry names
    entry: str
    bias: Identifier | None = None  # bias and classifier are needed only if the experiment has several
    classifier: Identifier | None = None


class PublishedVariant(BaseModel):
    """A way in which the experiment repeats a published dataset; a file may give the name alone."""

    model_config = STRICT

    name: str  # in the summary of variants
    entry: str
    bias: Identifier | None = None
    classifier: Identifier | None = None
    techniques: dict[str, Identifier] = {}  # entry by published technique, if it differs in this variant

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, data: Any) -> Any:
        return {"name": data, "entry": data} if isinstance(data, str) else data


class PublishedEntry(BaseModel):
    """Published numbers to compare results with; names that are not mapped are the same in both."""

    model_config = STRICT

    title: str  # the authors of the numbers, for headings
    file: str  # CSV, relative to the folder of the shipped experiments, or absolute
    baseline: str | None = None  # the published technique that is each dataset's ``baseline``
    techniques: dict[str, Identifier] = {}  # entry by published technique, if names differ
    datasets: tuple[PublishedDataset, ...] = ()  # datasets whose names differ
    metrics: dict[str, PublishedMetric] = {}  # by published metric, if names or signs differ
    groups: dict[str, tuple[int, ...]] = {}  # tables that are summarized together, by heading
    # Ways of repeating a published dataset, by its published name; each has a summary of its own.
    variants: dict[str, tuple[PublishedVariant, ...]] = {}

    @field_validator("datasets")
    @classmethod
    def _one_answer_each(cls, datasets: tuple[PublishedDataset, ...]) -> tuple[PublishedDataset, ...]:
        answered = [(d.name, technique) for d in datasets for technique in d.techniques or ("all others",)]
        if repeated := [pair for i, pair in enumerate(answered) if pair in answered[:i]]:
            raise ValueError("two entries repeat {!r}, technique {!r}".format(*repeated[0]))
        return datasets

    def dataset(self, name: str, technique: str) -> PublishedDataset:
        """Return the counterpart of a published technique's numbers on a published dataset."""
        same = PublishedDataset(name=name, entry=name)
        entries = [entry for entry in self.datasets if entry.name == name]
        general = next((entry for entry in entries if not entry.techniques), same)
        return next((entry for entry in entries if technique in entry.techniques), general)

    def metric(self, name: str) -> PublishedMetric:
        """Return the counterpart of a published metric."""
        return self.metrics.get(name) or PublishedMetric(metric=name)

    def technique(self, name: str, baseline: str) -> str:
        """Return the entry of a published technique on a dataset with this baseline."""
        return baseline if name == self.baseline else self.techniques.get(name, name)
