"""The file of an atlas: its experiments, its clusters of datasets, and its rules, written before the run."""

import hashlib
import json
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, PrivateAttr, StrictInt, ValidationError, model_validator

from benchmark.data.card import list_cards
from benchmark.declarations import (
    broken_rules,
    count_of,
    find_declaration,
    load_experiment_file,
    with_paths,
)
from benchmark.errors import ExperimentError, UnknownNameError
from benchmark.experiment.plan import Experiment
from benchmark.models import STRICT, Identifier

KIND = "atlas"
"""Value of ``kind`` in the file of an atlas."""

LITE = "lite"
"""Name of the part that a contributor runs."""

Share = Annotated[float, Field(ge=0, le=1)]
Clusters = dict[Identifier, Annotated[tuple[str, ...], Field(min_length=1)]]


@cache
def _clusters_of_cards() -> Clusters:
    """Return the shipped cards that tell of the same people, by cluster."""
    cards = {card.name: card.cluster for card in list_cards()}
    named = {cluster: tuple(name for name in cards if cards[name] == cluster) for cluster in cards.values()}
    return {cluster: names for cluster, names in named.items() if len(names) > 1}


class Rules(BaseModel):
    """Thresholds of the rule that decides which advice may be printed."""

    model_config = STRICT

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05  # level of the tests and of the intervals
    least_share: Share = 0.2  # by which share of its distance to the oracle advice must beat a simple rule
    tie: Share = 0.001  # two simple rules that differ by less are equally good
    fewest_clusters: StrictInt = Field(default=8, ge=2)  # with fewer, the answer is not known


class Claim(BaseModel):
    """A sentence, written before the run, that the run may refute."""

    model_config = STRICT

    name: Identifier
    text: str


class Atlas(BaseModel):
    """The content of an atlas file.

    Fields of a part replace those in ``shared``; together they are an experiment, which is run as any other.
    """

    model_config = STRICT

    kind: Literal["atlas"]
    name: Identifier  # name of the folder of results
    title: str  # a line for headings
    version: str  # of the tables; it stands in each of their rows
    rules: Rules = Rules()
    claims: tuple[Claim, ...] = ()
    # Cards that count as one, those of the shipped cards unless given; any other is a cluster by itself.
    clusters: Clusters = Field(default_factory=_clusters_of_cards)
    shared: dict[str, Any] = {}
    parts: Annotated[dict[Identifier, dict[str, Any]], Field(min_length=1)]
    lite: dict[str, Any] | None = None  # a part that is run by itself
    # Parts whose scenarios advice is fitted on and compared on; all unless given.
    advice: tuple[str, ...] = ()

    _folder: Path | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _cards_are_in_one_cluster(self) -> Self:
        cards = [card for named in self.clusters.values() for card in named]
        if repeated := sorted({card for card in cards if cards.count(card) > 1}):
            raise ValueError(f"clusters: {repeated[0]!r} is in two clusters, or twice in one")
        if unknown := [name for name in self.advice if name not in self.parts]:
            raise ValueError(f"advice: there is no part {unknown[0]!r}")
        return self

    @cached_property
    def experiments(self) -> dict[str, Experiment]:
        """The experiments by part, in their order, the one to try last.

        Raises an ExperimentError that lists the broken rules of all parts.
        """
        experiments, rules = {}, []
        parts = self.parts if self.lite is None else {**self.parts, LITE: self.lite}
        for name, part in parts.items():
            title = f"{self.title}: {name.replace('_', ' ')}"
            fields = with_paths({"title": title, **self.shared, **part, "name": name}, self._folder)
            try:
                experiments[name] = Experiment.model_validate(fields)
            except ValidationError as error:
                rules += [f"{name}: {rule}" for rule in broken_rules(error, Experiment, fields)]
        if rules:
            raise ExperimentError(
                f"The parts of the atlas {self.name} break {count_of(rules)}:\n  " + "\n  ".join(rules),
                remedy="correct these fields; docs/adding/experiment_fields.md explains each",
            )
        return experiments

    def chosen(self, parts: tuple[str, ...] = (), *, lite: bool = False) -> dict[str, Experiment]:
        """Return the experiments of some parts, or of all but the one to try.

        An UnknownNameError says that there is no such part; an ExperimentError that there is none to try.
        """
        experiments = self.experiments
        if lite:
            if LITE not in experiments:
                raise ExperimentError(
                    f"The atlas {self.name} has no part to try",
                    expected=f"a table [{LITE}]",
                    got="none",
                    remedy="run a part by --part",
                )
            return {LITE: experiments[LITE]}
        names = [name for name in experiments if name != LITE]
        for part in parts:
            if part not in names:
                raise UnknownNameError("part", part, names)
        return {name: experiments[name] for name in names if not parts or name in parts}

    def cluster_of(self, card: str) -> str:
        """Return the cluster of a card."""
        return next((name for name, cards in self.clusters.items() if card in cards), card)


def digest_of(experiment: Experiment) -> str:
    """Return the SHA-256 of a part in 64 hexadecimal digits, but for titles and the order of techniques."""
    content = experiment.model_dump(
        mode="json", exclude={"name", "title", "description", "figures", "plugins"}
    )
    techniques = ({**entry, "title": ""} for entry in content["techniques"])
    content["techniques"] = sorted(techniques, key=lambda entry: str(entry["name"]))
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def load_atlas(name_or_path: str | Path) -> Atlas:
    """Return the content of an atlas file, by a shipped name or a path; errors as `load_experiment_file`."""
    atlas = load_experiment_file(Atlas, name_or_path, KIND)
    atlas._folder = find_declaration("experiments", str(name_or_path)).parent
    return atlas
