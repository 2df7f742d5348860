"""Cells with tuned techniques: settings are tried on part of the training sample, and the best is taken.

A technique's settings are its default and a Latin hypercube of its search space, the same at every level of
bias. Each setting is fitted once, on the training sample without a share of its rows. It is scored on three
kinds of rows: this share with its recorded labels, rows without planted bias, and the test rows. The rule
chooses by the first kind, by the second, or, for the oracle, by the third. The chosen setting is then fitted
on the whole sample and tested as any cell. The first two choices use no label of a test row.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.columns import ORIGINAL, TUNED
from benchmark.data.row_facts import units_of
from benchmark.data.table import Table
from benchmark.experiment import evaluate
from benchmark.experiment.draws import Split, TestRows, draw_splits, n_held_out, numbering
from benchmark.experiment.entries import TechniqueEntry, TunedOn
from benchmark.experiment.plan import Block, Experiment
from benchmark.experiment.prepared import PreparedDataset, PreparedExperiment
from benchmark.experiment.scoring import Answers, Scorer, SplitTest, scorers_of, scoring_digest
from benchmark.experiment.store import CellResult, Status
from benchmark.experiment.tuning_rule import Values
from benchmark.experiment.versions import code_digest
from benchmark.seeding import generator
from benchmark.techniques import Technique, get_technique
from benchmark.techniques._search import is_whole


def settings(
    experiment: Experiment, entry: TechniqueEntry, technique: Technique, **axes: str | int
) -> list[Technique]:
    """Return the settings of a technique to try, its own first, each once."""
    assert experiment.tune is not None
    searched, n = experiment.search_space(entry), experiment.tune.trials - 1
    rng = generator(experiment.seed, purpose="settings", technique=technique.name, **axes)
    # A Latin hypercube: one value of each parameter in every n-th part of its space.
    shares = np.array([(rng.permutation(n) + rng.random(n)) / n for _ in searched]).T
    whole = [is_whole(type(technique), search.parameter) for search in searched]
    tried = [technique]
    for row in shares:
        chosen = {
            search.parameter: search.value(float(share), is_int)
            for search, share, is_int in zip(searched, row, whole, strict=True)
        }
        setting = get_technique(technique.name, **{**technique.parameters, **chosen})
        if setting not in tried:
            tried.append(setting)
    return tried


def describe_tuning(prepared: PreparedExperiment, block: Block, entry: TechniqueEntry) -> dict[str, Any]:
    """Return the part of a cell's key that identifies how its technique is tuned."""
    experiment, data = prepared.experiment, prepared.datasets[block.dataset]
    assert experiment.tune is not None
    described = {
        "on": entry.tuned,
        "space": [repr(search) for search in experiment.search_space(entry)],
        "trials": experiment.tune.trials,
        "share": experiment.tune.on,
        "rule": experiment.tune.rule,
        "metrics": _metrics_digest(experiment.tune.parsed.metrics, data.entry.strata),
        "code": code_digest([Path(__file__), Path(__file__).with_name("tuning_rule.py")]),
    }
    if entry.tuned == "clean" and experiment.train == "network" and not experiment.splits:
        described["network"] = data.network.digest
    return described


_metrics_digest = cache(scoring_digest)
_RowsKey: TypeAlias = Any  # a kind of rows here, and a test in the types of :func:`answers_of`


@dataclass(frozen=True)
class _Tried:
    """A setting and its results."""

    technique: Technique
    values: Mapping[TunedOn, Values]  # by kind of rows; empty if it could not be scored
    status: Status = "ok"
    reason: str = ""


@dataclass(frozen=True, eq=False)
class _BlockState:
    """The rows of a block, for training, tests and trials of settings."""

    split: Split
    scorers: Mapping[SplitTest, Scorer]
    train: Table  # the training sample without the validation rows
    rows: Mapping[TunedOn, TestRows]
    validation: Mapping[TunedOn, Scorer]
    whole: evaluate.Shared  # shared by fits to the whole training sample
    part: evaluate.Shared  # shared by fits to ``train``
    # Computed so far: trials by entry and classifier, fields of results by classifier and setting.
    searched: dict[tuple[str, str], list[_Tried]] = field(default_factory=dict)
    fitted: dict[tuple[str, Technique], dict[str, Any]] = field(default_factory=dict)


class TuningEvaluator(evaluate.Evaluator):
    """Computes the cells of one block after another, tuned techniques included."""

    _block: Block | None = None
    _state: _BlockState | None = None

    def __call__(self, block: Block, cells: tuple[evaluate.Cell, ...]) -> Iterator[CellResult]:
        """Yield the result of each cell, in order; a failed cell yields the reason."""
        for tuned, group in itertools.groupby(cells, lambda cell: bool(self._entries[cell.technique].tuned)):
            if tuned:
                yield from map(partial(self._tuned, block), group)
            else:
                yield from super().__call__(block, tuple(group))

    def _tuned(self, block: Block, cell: evaluate.Cell) -> CellResult:
        data, started = self.prepared.datasets[block.dataset], time.perf_counter()
        if self._block != block:
            self._block, self._state = block, None
        try:
            if self._state is None:
                self._state = self._drawn(data, block)
        except Exception as error:
            reason = f"the rows for training, tuning and tests could not be drawn: {evaluate.in_words(error)}"
            return evaluate.cell_result(data, block, cell, "failed", reason)
        content = self._chosen(block, cell, self._state)
        return evaluate.cell_result(
            data, block, cell, **{**content, "seconds": time.perf_counter() - started}
        )

    def _drawn(self, data: PreparedDataset, block: Block) -> _BlockState:
        experiment = self.prepared.experiment
        assert experiment.tune is not None
        (split,) = draw_splits(data, block)
        held_out, clean = validation_rows(data, block, split)
        biased = split.train.take(held_out)
        rows_on: dict[TunedOn, TestRows] = {
            "biased": TestRows(biased.hide_label().sealed, biased),
            "clean": clean,
            "oracle": split.tests[ORIGINAL],
        }
        metrics = experiment.tune.parsed.metrics
        scorers = {on: Scorer(rows.truth, metrics, data.entry.strata) for on, rows in rows_on.items()}
        tested = scorers_of([split], self.scorers[block.dataset], data.test)
        train = split.train.take(~held_out).sealed
        shared = self._shared(split, split.train), self._shared(split, train, "trial")
        return _BlockState(split, tested, train, rows_on, scorers, *shared)

    def _chosen(self, block: Block, cell: evaluate.Cell, state: _BlockState) -> dict[str, Any]:
        """Return the fields of a result with a tuned technique."""
        entry, tune = self._entries[cell.technique], self.prepared.experiment.tune
        assert tune is not None
        assert entry.tuned is not None
        tried = self._search(block, cell, entry, state)
        values = [trial.values.get(entry.tuned) for trial in tried]
        rule = tune.parsed
        if (position := rule.choose(values)) is None:
            return _unscored(tried)
        technique, default = tried[position].technique, tried[0].technique
        if (cell.classifier, technique) not in state.fitted:
            tools = self._tools(cell, evaluate.named(technique), state.whole)
            content = self._cell(block, cell, technique, [tools], state.scorers, [state.split])
            state.fitted[cell.classifier, technique] = content
        content = dict(state.fitted[cell.classifier, technique])
        searched = [search.parameter for search in self.prepared.experiment.search_space(entry)]
        chosen = {name: technique.parameters[name] for name in searched}
        if content["status"] != "ok":
            reason = f"the setting chosen, {json.dumps(chosen)}: {content['reason']}"
            return {**content, "reason": reason}
        chosen_values = values[position]
        assert chosen_values is not None
        note = {
            "parameters": chosen,
            "default": technique == default,
            "settings": len(tried),
            "unscored": sum(value is None for value in values),
            "objective": rule.goal(chosen_values),
            "excess": rule.excess(chosen_values, values[0]),
        }
        return {**content, "counts": {**content["counts"], TUNED: [note]}}

    def _search(
        self, block: Block, cell: evaluate.Cell, entry: TechniqueEntry, state: _BlockState
    ) -> list[_Tried]:
        """Return the trials of a technique's settings, which its tuned entries share."""
        # Tuned entries differ in nothing but the rows that they are chosen on.
        base = entry.model_dump_json(include={"technique", "parameters"})
        if (base, cell.classifier) not in state.searched:
            dataset = str(state.split.axes["dataset"])
            technique = self.techniques[block.dataset, cell.technique]
            tried = settings(
                self.prepared.experiment, entry, technique, dataset=dataset, repetition=block.repetition
            )
            state.searched[base, cell.classifier] = [
                self._try(block, cell, setting, state) for setting in tried
            ]
        return state.searched[base, cell.classifier]

    def _try(self, block: Block, cell: evaluate.Cell, technique: Technique, state: _BlockState) -> _Tried:
        tools = self._tools(cell, evaluate.named(technique), state.part)
        acceptance = self.acceptance(block.dataset, state.split)
        factory, numbers = self.classifiers.get(cell.classifier), cell.classifier in self._numbered
        train = state.train.twin(numbers=numbers)
        rows: Mapping[_RowsKey, TestRows] = state.rows
        scorers: Mapping[_RowsKey, Scorer] = state.validation
        try:
            with np.errstate():
                declined = None if factory is None else evaluate.classifier_mismatch(technique, factory)
                declined = declined or evaluate.declined_by(technique, train, acceptance)
                if declined is not None:
                    return _Tried(technique, {}, "skipped", declined)
                answers: Mapping[_RowsKey, Answers] = evaluate.answers_of(
                    technique, train, rows, scorers, tools, numbers, acceptance
                )[0]
            results = {on: scorers[on].score(answer).results.values for on, answer in answers.items()}
            values = {
                on: {name: float(value) for name, value in metrics.items()} for on, metrics in results.items()
            }
            return _Tried(technique, values)
        except BaseException as error:  # SystemExit as well, so that a setting ends nothing but itself
            return _Tried(technique, {}, evaluate.status_of(error), evaluate.in_words(error))


def validation_rows(data: PreparedDataset, block: Block, split: Split) -> tuple[NDArray[np.bool_], TestRows]:
    """Return a mask of the training rows that are held out, and validation rows without planted bias.

    The latter are as many other people, drawn from the network before bias is planted. Of real rows they are
    the held-out people themselves before bias, including people whom the bias leaves out. Techniques see
    recorded features, as in tests.
    """
    assert data.experiment.tune is not None
    new_rng = partial(generator, data.experiment.seed, **split.axes)
    bias = data.biases[block.bias]
    before_bias, after_bias = split.before_bias, split.after_bias
    if before_bias is None or after_bias is None:
        units = np.arange(len(split.train))
    else:
        units = units_of(data.persons, before_bias)
    n = int(units.max()) + 1
    chosen = new_rng(purpose="validation").permutation(n)[: n_held_out(n, data.experiment.tune.on)]
    held_out = np.isin(units, chosen)
    if before_bias is None or after_bias is None:
        rows = None
        network = data.network if before_bias is None else data.network_of(before_bias)
        before = bias.plant_unchecked(network, 0.0).draw(int(held_out.sum()), new_rng(purpose="clean"))
    else:
        rows = before_bias[held_out]
        before = data.test.take(rows)
        held_out = held_out[np.searchsorted(before_bias, after_bias)]
    seen = bias.observe(before, data.beta(block), new_rng(purpose="observe clean")).hide_label()
    return held_out, TestRows(numbering(data, split.axes, before_bias)(seen, rows, "clean"), before)


def _unscored(tried: Sequence[_Tried]) -> dict[str, Any]:
    """Return the fields of a result if no setting could be taken."""
    first = next((trial for trial in tried if trial.status != "ok"), None)
    reason = f"none of {len(tried)} settings could be scored"
    if first is None:
        return {"status": "failed", "reason": f"{reason}: a metric of the rule has no value on their rows"}
    same = len({trial.status for trial in tried}) == 1
    return {"status": first.status if same else "failed", "reason": f"{reason}; {first.reason}"}
