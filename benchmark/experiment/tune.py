"""Cells whose technique is tuned: settings are tried on part of the training sample, and one is taken.

A technique's settings are its default one and a Latin hypercube of its search space, the same at every level
of bias. Each is fitted once, on the training sample but for a share of its rows, and scored on three kinds of
rows: that share with its labels as they are recorded, rows without planted bias, and the test rows. The rule
chooses by the first, by the second or, for the oracle, by the third; the setting chosen is then fitted on the
whole sample and tested as any cell is. No label of a test row plays a part in the first two.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.columns import ORIGINAL, TUNED
from benchmark.data.table import Table
from benchmark.experiment.draws import Fold, TestRows, draw_folds, n_held_out, numbering, sealed_fold
from benchmark.experiment.entries import TechniqueEntry, TunedOn
from benchmark.experiment.evaluate import (
    Cell,
    Evaluator,
    Shared,
    answers_of,
    cell_result,
    classifier_mismatch,
    declined_by,
    in_words,
    named,
    status_of,
)
from benchmark.experiment.plan import Block, Experiment
from benchmark.experiment.prepare import PreparedDataset, PreparedExperiment, network_digest
from benchmark.experiment.rule import Values, space
from benchmark.experiment.scoring import FoldTest, Scorer, scorers_of, scoring_digest
from benchmark.experiment.store import CellResult, Status
from benchmark.experiment.versions import code_digest
from benchmark.seeding import generator
from benchmark.techniques import Technique, get_technique
from benchmark.techniques._search import is_whole


def settings(
    experiment: Experiment, entry: TechniqueEntry, technique: Technique, **axes: str | int
) -> list[Technique]:
    """Return the settings of a technique that are tried, its own first, each once."""
    assert experiment.tune is not None
    searched, n = space(experiment, entry), experiment.tune.trials - 1
    rng = generator(experiment.seed, purpose="settings", technique=technique.name, **axes)
    # A Latin hypercube: of each parameter, one value in every n-th part of its space.
    shares = np.array([(rng.permutation(n) + rng.random(n)) / n for _ in searched]).T
    whole = [is_whole(type(technique), own.parameter) for own in searched]
    tried = [technique]
    for row in shares:
        values = [
            own.value(float(share), is_int) for own, share, is_int in zip(searched, row, whole, strict=True)
        ]
        chosen = dict(zip((own.parameter for own in searched), values, strict=True))
        made = get_technique(technique.name, **{**technique.parameters, **chosen})
        if made not in tried:
            tried.append(made)
    return tried


def describe_tuning(prepared: PreparedExperiment, block: Block, entry: TechniqueEntry) -> dict[str, Any]:
    """Return what identifies in a cell's key how its technique is tuned."""
    experiment, data = prepared.experiment, prepared.datasets[block.dataset]
    assert experiment.tune is not None
    described = {
        "on": entry.tuned,
        "space": [repr(own) for own in space(experiment, entry)],
        "trials": experiment.tune.trials,
        "share": experiment.tune.on,
        "rule": experiment.tune.rule,
        "metrics": _metrics_digest(experiment.tune.parsed.metrics, data.strata),
        "code": code_digest([Path(__file__), Path(__file__).with_name("rule.py")]),
    }
    if entry.tuned == "clean" and experiment.train == "network" and not experiment.splits:
        described["network"] = network_digest(data.network)
    return described


@cache
def _metrics_digest(names: tuple[str, ...], strata: str | None) -> str:
    return scoring_digest(names, strata)


@dataclass(frozen=True)
class _Tried:
    """A setting, and how it did on each kind of rows; ``values`` is empty where it could not be scored."""

    technique: Technique
    values: Mapping[TunedOn, Values]
    status: Status = "ok"
    reason: str = ""


@dataclass(frozen=True, eq=False)
class _Stage:
    """The rows of a block: what is trained and tested on, and what settings are tried on."""

    fold: Fold
    scorers: Mapping[FoldTest, Scorer]
    train: Table  # the training sample but for the validation rows
    rows: Mapping[TunedOn, TestRows]
    validation: Mapping[TunedOn, Scorer]
    whole: Shared  # what fits to the whole training sample have in common, and those to a part of it
    part: Shared
    # What has been computed: trials by entry and classifier, fields of results by classifier and setting.
    searched: dict[tuple[str, str], list[_Tried]] = field(default_factory=dict)
    fitted: dict[tuple[str, Technique], dict[str, Any]] = field(default_factory=dict)


class TuningEvaluator(Evaluator):
    """Computes the cells of one block after another, those with tuned techniques among them."""

    def __init__(self, prepared: PreparedExperiment) -> None:
        super().__init__(prepared)
        self._entries = {entry.name: entry for entry in prepared.experiment.techniques}
        self._block: Block | None = None
        self._stage: _Stage | None = None

    def __call__(self, block: Block, cells: tuple[Cell, ...]) -> Iterator[CellResult]:
        """Yield the result of each cell, in order; a cell that fails yields why."""
        for tuned, group in itertools.groupby(
            cells, lambda cell: self._entries[cell.technique].tuned is not None
        ):
            own = tuple(group)
            yield from (map(partial(self._tuned, block), own) if tuned else super().__call__(block, own))

    def _tuned(self, block: Block, cell: Cell) -> CellResult:
        data, started = self.prepared.datasets[block.dataset], time.perf_counter()
        if self._block != block:
            self._block, self._stage = block, None
        try:
            if self._stage is None:
                self._stage = self._drawn(data, block)
        except Exception as error:
            reason = f"the rows to train, to tune and to test on could not be drawn: {in_words(error)}"
            return cell_result(data, block, cell, "failed", reason)
        content = self._chosen(block, cell, self._stage)
        return cell_result(data, block, cell, **{**content, "seconds": time.perf_counter() - started})

    def _drawn(self, data: PreparedDataset, block: Block) -> _Stage:
        experiment = self.prepared.experiment
        assert experiment.tune is not None
        (drawn,) = draw_folds(data, block, experiment)
        fold = sealed_fold(drawn)
        held_out, clean = validation_rows(data, block, experiment, fold)
        whole = fold.train.take(held_out)
        rows: dict[TunedOn, TestRows] = {"biased": TestRows(whole.hide_label(), whole), "clean": clean}
        rows["oracle"] = fold.tests[ORIGINAL]
        rows = {on: TestRows(own.seen.sealed, own.truth) for on, own in rows.items()}
        metrics = experiment.tune.parsed.metrics
        scorers = {on: Scorer(own.truth, metrics, data.strata) for on, own in rows.items()}
        tested = scorers_of([fold], self.scorers[block.dataset], data.test)
        train = fold.train.take(~held_out).sealed
        shared = self._shared(fold, fold.train), self._shared(fold, train, "trial")
        return _Stage(fold, tested, train, rows, scorers, *shared)

    def _chosen(self, block: Block, cell: Cell, stage: _Stage) -> dict[str, Any]:
        """Return the fields of the result of a cell with a tuned technique."""
        entry, tune = self._entries[cell.technique], self.prepared.experiment.tune
        assert tune is not None
        assert entry.tuned is not None
        on: TunedOn = entry.tuned
        tried = self._search(block, cell, entry, stage)
        values = [own.values.get(on) for own in tried]
        if (place := tune.parsed.choose(values)) is None:
            return _unscored(tried)
        technique, default = tried[place].technique, tried[0].technique
        if (cell.classifier, technique) not in stage.fitted:
            tools = self._tools(cell, named(technique), stage.whole)
            content = self._cell(block, cell, technique, [stage.fold], [tools], stage.scorers, [stage.fold])
            stage.fitted[cell.classifier, technique] = content
        content = dict(stage.fitted[cell.classifier, technique])
        searched = [own.parameter for own in space(self.prepared.experiment, entry)]
        chosen = {name: technique.parameters[name] for name in searched}
        if content["status"] != "ok":
            reason = f"the setting chosen, {json.dumps(chosen)}: {content['reason']}"
            return {**content, "reason": reason}
        found, rule = values[place], tune.parsed
        assert found is not None
        noted = {
            "parameters": chosen,
            "default": technique == default,
            "settings": len(tried),
            "unscored": sum(own is None for own in values),
            "objective": rule.goal(found),
            "excess": rule.excess(found, values[0]),
        }
        counts = content["counts"]
        kept = dict(counts) if isinstance(counts, Mapping) else {ORIGINAL: [counts]}
        return {**content, "counts": {**kept, TUNED: [noted]}}

    def _search(self, block: Block, cell: Cell, entry: TechniqueEntry, stage: _Stage) -> list[_Tried]:
        """Try the settings of a technique, once for all that is chosen among them."""
        # Entries that are tuned on other rows differ in nothing else.
        base = entry.model_dump_json(include={"technique", "parameters"})
        if (base, cell.classifier) not in stage.searched:
            axes: dict[str, str | int] = {
                "dataset": str(stage.fold.axes["dataset"]),
                "repetition": block.repetition,
            }
            own = self.techniques[block.dataset, cell.technique]
            tried = settings(self.prepared.experiment, entry, own, **axes)
            stage.searched[base, cell.classifier] = [self._try(cell, one, stage) for one in tried]
        return stage.searched[base, cell.classifier]

    def _try(self, cell: Cell, technique: Technique, stage: _Stage) -> _Tried:
        tools = self._tools(cell, named(technique), stage.part)
        factory = self.classifiers.get(cell.classifier)
        numbers = factory is not None and factory.encoding == "numbers"
        train, tests, scorers = stage.train.twin(numbers=numbers), stage.rows, stage.validation
        try:
            with np.errstate():
                declined = None if factory is None else classifier_mismatch(technique, factory)
                declined = declined or declined_by(technique, train)
                if declined is not None:
                    return _Tried(technique, {}, "skipped", declined)
                asked: tuple[Any, Any] = (tests, scorers)  # by other names than those of tests
                answers = answers_of(technique, train, *asked, tools, numbers)[0]
            found: dict[Any, Any] = answers
            values = {on: scorers[on].score(own).results.values for on, own in found.items()}
            return _Tried(
                technique, {on: {k: float(v) for k, v in own.items()} for on, own in values.items()}
            )
        except BaseException as error:  # SystemExit as well: no setting ends more than itself
            return _Tried(technique, {}, status_of(error), in_words(error))


def validation_rows(
    data: PreparedDataset, block: Block, experiment: Experiment, fold: Fold
) -> tuple[NDArray[np.bool_], TestRows]:
    """Return which training rows are held out, a mask, and validation rows without planted bias.

    Of a network these are other people, drawn from it before bias is planted, as many as are held out. Real
    rows are held out before bias is planted: they are the same people as they were then, those whom the bias
    leaves out among them. As of test rows, techniques see of them what is recorded.
    """
    assert experiment.tune is not None
    rng, bias = partial(generator, experiment.seed, **fold.axes), data.biases[block.bias]
    known, kept = fold.known, fold.kept
    n = len(fold.train if known is None or kept is None else known)
    held_out = np.zeros(n, dtype=bool)
    held_out[rng(purpose="validation").permutation(n)[: n_held_out(n, experiment.tune.on)]] = True
    if known is None or kept is None:
        rows, network = (
            None,
            data.network if known is None else data.network_of(known),
        )
        before = bias.plant_unchecked(network, 0.0).draw(int(held_out.sum()), rng(purpose="clean"))
    else:
        rows = known[held_out]
        before, held_out = data.test.take(rows), held_out[np.searchsorted(known, kept)]
    seen = bias.observe(
        before, data.beta_of(block.bias, block.level), rng(purpose="observe clean")
    ).hide_label()
    seen = numbering(data, experiment, fold.axes, known)(seen, rows, "clean")
    return held_out, TestRows(seen, before)


def _unscored(tried: Sequence[_Tried]) -> dict[str, Any]:
    """Return why none of the settings could be taken."""
    first = next((own for own in tried if own.status != "ok"), None)
    n = f"none of {len(tried)} settings could be scored"
    if first is None:
        return {
            "status": "failed",
            "reason": f"{n}: a metric of the rule has no value on the rows to choose by",
        }
    same = {own.status for own in tried}
    return {"status": first.status if len(same) == 1 else "failed", "reason": f"{n}; {first.reason}"}
