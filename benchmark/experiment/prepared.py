"""Datasets of an experiment with their rows, networks and biases, from which blocks draw."""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.bias import Bias, Expected, Planted, Rows, Score
from benchmark.bias.doses import Dose
from benchmark.data import Table
from benchmark.data.card import Card
from benchmark.data.card_parts import Edges, NetworkSettings
from benchmark.data.row_facts import Judged, Persons
from benchmark.data.table import Numbers
from benchmark.errors import BetabenchError
from benchmark.experiment.entries import DatasetEntry
from benchmark.experiment.plan import Block, ExpandedExperiment, Experiment
from benchmark.experiment.telling import BiasEffect
from benchmark.experiment.versions import source_digest
from benchmark.network.learn import learn_network
from benchmark.network.model import Network
from benchmark.registry import load_plugin
from benchmark.techniques import Kind, get_technique
from benchmark.text.words import EMBEDDED, REAL, SAMPLED

_MOST_REMEMBERED = 16  # networks of training rows, which several biases share


@dataclass(frozen=True)
class Learning:
    """Settings and edges for learning a dataset's network."""

    settings: NetworkSettings
    required: Edges
    forbidden: Edges

    def of(self, table: Table) -> Network:
        """Return a table's network; raises the errors of :func:`benchmark.network.learn.learn_network`."""
        return learn_network(
            table, self.settings, required_edges=self.required, forbidden_edges=self.forbidden
        )


@dataclass(frozen=True)
class SolvedDoses:
    """The doses of a bias, each with the β that was solved for it."""

    doses: tuple[Dose, ...] = ()
    hidden: Dose | None = None  # planted first, and then taken for the original

    def pooled(self, dose: Dose) -> bool:
        """Return whether results at a dose are pooled with those of other datasets."""
        return dose.pooled and (self.hidden is None or self.hidden.pooled)

    def out_of_reach(self, dose: Dose) -> str:
        """Return why a dose cannot be planted; empty if it can."""
        if self.hidden is not None and self.hidden.beta is None:
            return f"no level of this bias hides more than {self.hidden.gap:.3f}"
        return "" if dose.beta is not None else f"no level of this bias adds more than {dose.gap:.3f}"


@dataclass(frozen=True, eq=False)
class PreparedDataset:
    """A dataset of an experiment, ready for samples and tests."""

    experiment: Experiment
    name: str  # in results: the entry's, marked if the embedded network stands in for real data
    entry: DatasetEntry
    card: Card
    embedded: bool  # whether the test data are a sample of the embedded network
    # Learned from all rows, without planted bias; None if real rows are trained on and no network stands in
    # for them.
    network_of_all: Network | None
    test: Table  # all rows; techniques are scored on all, or with splits on the held-out ones
    n_train: int  # most rows of a training sample
    biases: Mapping[str, Bias]  # by name
    learning: Learning
    score: Score | None = None  # the number behind the label, if the card names one
    boundary: NDArray[np.float64] | None = None  # nearness of rows to the boundary, if a bias needs it
    judged: Judged | None = None  # judged labels of the rows, if rows are split
    persons: Persons | None = None  # persons of the rows, if the card names them and the rows are real
    numbers: Numbers | None = None  # the numbers behind the test rows' bins, if a classifier takes them
    notes: tuple[str, ...] = ()  # sentences that readers of the test data need
    # By bias and hidden label gap, if levels are doses.
    solved: Mapping[tuple[str, float], SolvedDoses] = field(default_factory=dict)
    _planted: dict[tuple[str, float], Planted] = field(default_factory=dict, repr=False)
    _expected: dict[tuple[str, float, float], Expected] = field(default_factory=dict, repr=False)
    _learned: dict[bytes, Network] = field(default_factory=dict, repr=False)

    @property
    def network(self) -> Network:
        """The network of all rows, without planted bias, of an experiment that draws from one."""
        assert self.network_of_all is not None
        return self.network_of_all

    @property
    def n_folds(self) -> int | None:
        """The number of parts that are tested on in turn, if there are such."""
        return self.experiment.n_folds(self.entry)

    @property
    def title(self) -> str:
        """The dataset's title for readers, without its provenance."""
        entry, card = self.name.removesuffix(EMBEDDED), self.card
        return card.title if entry == card.name else f"{card.title} ({entry})"

    @property
    def test_data(self) -> str:
        """The kind of the test data, in the words of tables and the manifest."""
        return SAMPLED if self.embedded else REAL

    @cached_property
    def described_biases(self) -> dict[tuple[str, bool], list[dict[str, Any]]]:
        """Descriptions of biases in cells' keys, by name, and by whether bias is planted."""
        described = {}
        for name, bias in self.biases.items():
            steps = described[name, True] = describe_bias(bias)
            # Without planted bias, parameters have no effect, except on added columns.
            described[name, False] = [
                described_step if step.widens else {**described_step, "parameters": {}}
                for described_step, step in zip(steps, bias.steps, strict=True)
            ]
        return described

    def beta_of(self, bias: str, level: float, gap: float = 0.0) -> float:
        """Return the β of a level of bias on top of a hidden label gap: the level, unless it is a dose."""
        solved = self.solved.get((bias, gap))
        if solved is None:
            return level
        beta = next(dose.beta for dose in solved.doses if dose.dose == level)
        assert beta is not None  # all planned blocks can be reached
        return beta

    def place(self, block: Block) -> dict[str, Any]:
        """Return the fields of a result that say which sample it is of."""
        return {
            "dataset": self.name,
            "bias": block.bias,
            "hidden": block.hidden,
            "level": block.level,
            "beta": self.beta(block),
            "repetition": block.repetition,
        }

    def beta(self, block: Block) -> float:
        """Return the β of a block's level of bias."""
        return self.beta_of(block.bias, block.level, block.hidden)

    def hidden_beta(self, block: Block) -> float:
        """Return the β at which bias is planted first, in all rows, which then count as original."""
        return self._hidden_beta(block.bias, block.hidden)

    def _hidden_beta(self, bias: str, gap: float) -> float:
        before = self.solved[bias, gap].hidden if gap else None
        beta = 0.0 if before is None else before.beta
        assert beta is not None  # all planned blocks can be reached
        return beta

    def reaches(self, bias: str, level: float, gap: float = 0.0) -> bool:
        """Return whether a bias can be planted at a level, on top of a hidden label gap."""
        solved = self.solved.get((bias, gap))
        return solved is None or all(d.beta is not None for d in solved.doses if d.dose == level)

    def planted(self, bias: str, beta: float) -> Planted:
        """Return the network with planted bias; computed once."""
        if (bias, beta) not in self._planted:
            self._planted[bias, beta] = self.biases[bias].plant(self.network, beta)
        return self._planted[bias, beta]

    @cached_property
    def rows(self) -> Rows:
        """All rows before bias, with score, boundary and judged labels."""
        return Rows.of(self.test, self.score, self.boundary, self.judged)

    @cached_property
    def recorded_groups(self) -> NDArray[np.int16]:
        """Codes of the sensitive features in each group that occurs, shape (n_groups, n_features)."""
        return np.unique(self.test.codes[:, self.test.schema.sensitive_indices], axis=0)

    @cached_property
    def as_favored(self) -> Table:
        """All rows as if everybody belonged to the favored group, or to the largest of several."""
        codes = self.test.codes[:, self.test.schema.sensitive_indices]
        groups, n_rows = np.unique(codes[~self.test.deprived], axis=0, return_counts=True)
        favored = np.where(self.test.deprived[:, None], groups[np.argmax(n_rows)], codes)
        return self.rows.in_groups(favored).table

    @cached_property
    def favored_rows(self) -> Rows:
        """The favored group's rows, once in each group: the expected rows if groups are drawn anew."""
        favored, groups = np.flatnonzero(~self.test.deprived), self.recorded_groups
        repeated = self.rows.apart(np.tile(favored, len(groups)))
        return repeated.in_groups(np.repeat(groups, len(favored), axis=0))

    def expected(self, bias: str, beta: float, gap: float = 0.0) -> Expected:
        """Return the expectations of training samples from all rows, or from a network of all rows.

        If groups were drawn at random, the clean model's expected rows are the favored group's, in both
        groups.
        """
        if self.experiment.train == "network":
            return self.planted(bias, beta).expected
        if (bias, beta, gap) not in self._expected:
            recorded = beta > 0 and self.biases[bias].of_audit
            rows = self.favored_rows if self.entry.audit and not recorded else self.rows
            self._expected[bias, beta, gap] = self.biases[bias].expected_in_rows(
                rows, beta, hidden=self._hidden_beta(bias, gap)
            )
        return self._expected[bias, beta, gap]

    def expectations(self, bias: str, before: float = 0.0) -> Callable[[float], Expected]:
        """Return :meth:`expected` as a function of β, up to rounding, for the solver of doses.

        Bias of β ``before`` was planted and hidden first.
        """
        if self.experiment.train == "network":
            return cache(lambda beta: self.biases[bias].plant(self.network, beta).expected)
        rows = self.favored_rows if self.entry.audit else self.rows
        return self.biases[bias].expectations_in_rows(rows, hidden=before)

    def told(self, block: Block) -> BiasEffect:
        """Return what techniques may be told about the bias of a block."""
        recorded = self.expected(block.bias, self.beta(block), block.hidden).rates
        return BiasEffect(self._kinds[block.bias], recorded, self.expected(block.bias, 0.0).rates)

    @cached_property
    def _kinds(self) -> dict[str, Kind | None]:
        """What biases do to rows, by name."""
        return {name: self._kind_of(bias) for name, bias in self.biases.items()}

    def _kind_of(self, bias: Bias) -> Kind | None:
        """Return what the steps of a bias do to rows; turned labels count before rows left out."""
        effects = set[Kind]()
        for step in bias.steps:
            chances = None
            for beta in (1.0, 0.5, 0.1):  # some parameters are out of range at greater levels
                with contextlib.suppress(BetabenchError):
                    chances = step.chances(self.rows, beta)
                    break
            if chances is not None and chances.turned is not None and chances.turned.any():
                effects.add("label")
            elif chances is not None and chances.left_out is not None and chances.left_out.any():
                effects.add("selection")
        return "label" if "label" in effects else "selection" if effects else None

    def description(self, bias: str, gap: float) -> str:
        """Return a description of a bias in words."""
        planted = self.biases[bias].description(self.network if self.experiment.train == "network" else None)
        before = f"; first it adds a label gap of {gap:g}, and these rows count as the original ones"
        return planted + before if gap else planted

    def network_of(self, rows: NDArray[np.intp]) -> Network:
        """Return the network that is learned from some of the rows; the last networks are remembered."""
        key = rows.tobytes()
        if key not in self._learned:
            learned = self.learning.of(self.test.take(rows))
            while len(self._learned) >= _MOST_REMEMBERED:
                del self._learned[next(iter(self._learned))]
            self._learned[key] = learned
        return self._learned[key]

    def __getstate__(self) -> dict[str, Any]:
        derived = ("rows", "as_favored", "favored_rows")
        return {**{name: value for name, value in vars(self).items() if name not in derived}, "_learned": {}}


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedExperiment(ExpandedExperiment):
    """An expanded experiment with its data: everything that a worker needs."""

    datasets: Mapping[str, PreparedDataset]  # by the dataset's name in the experiment

    def reaches(self, dataset: str, bias: str, level: float, gap: float) -> bool:
        """Return whether a bias can be planted in a dataset at a level, on top of a hidden label gap."""
        return self.datasets[dataset].reaches(bias, level, gap)

    @property
    def embedded(self) -> bool:
        """Whether an embedded network stands in for any dataset's real data."""
        return any(data.embedded for data in self.datasets.values())

    def __getstate__(self) -> dict[str, Any]:
        # Plugins come first, because datasets may hold kinds of bias that they declare. Techniques travel by
        # name, because classes of other libraries' techniques are made on request.
        techniques = {
            key: (technique.name, technique.parameters) for key, technique in self.techniques.items()
        }
        state = {"plugins": _Plugins(self.plugins), "techniques": techniques}
        return {**state, **{name: value for name, value in vars(self).items() if name not in state}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        techniques = {key: get_technique(name, **given) for key, (name, given) in state["techniques"].items()}
        vars(self).update({**state, "techniques": techniques})


class _Plugins(tuple[str, ...]):
    """Files of plugins; unpickling their names loads them."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (tuple(self),)


def _loaded(plugins: tuple[str, ...]) -> tuple[str, ...]:
    for plugin in plugins:
        load_plugin(plugin)
    return plugins


def describe_bias(bias: Bias) -> list[dict[str, Any]]:
    """Return the identity of a bias: kind, code and parameters of each step."""
    return [
        {
            "name": step.name,
            "version": step.version,
            "source": source_digest(type(step)),
            "parameters": step.model_dump(mode="json"),
        }
        for step in bias.steps
    ]
