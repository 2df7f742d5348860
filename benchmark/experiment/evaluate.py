"""From a block to its results: draw the training sample, run each technique on it, score on the test data."""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from benchmark import errors
from benchmark.classifiers import ClassifierFactory, naive_bayes_ranker
from benchmark.columns import ORIGINAL, TRUTH, Test
from benchmark.data.row_facts import rows_of_units, units_of
from benchmark.data.table import Table, read_only
from benchmark.experiment import scoring
from benchmark.experiment.draws import Axes, Split, TestRows, draw_splits, told
from benchmark.experiment.entries import ClassifierEntry, Refit
from benchmark.experiment.plan import Block, Experiment
from benchmark.experiment.prepared import PreparedDataset, PreparedExperiment
from benchmark.experiment.store import CellResult, Status
from benchmark.experiment.telling import Telling
from benchmark.experiment.unprocessing import UnconstrainedSplit, frontier_values, has_frontier
from benchmark.experiment.versions import source_digest, versions_of
from benchmark.seeding import axis_seed, generator
from benchmark.techniques import (
    Convergence,
    Predictor,
    Prepared,
    PreProcessing,
    Technique,
    Tools,
    get_technique,
)
from benchmark.techniques.base import checked_decision, checked_score, unfit
from benchmark.text.words import in_fold

Fit: TypeAlias = Callable[[Table, Tools], Predictor]
"""How a technique is trained on rows: its method, or the half of it after the rows are prepared."""

Learned: TypeAlias = tuple[
    dict[Test, scoring.Answers], Convergence | None, Callable[[], UnconstrainedSplit] | None
]
"""Answers of a trained technique to each test, its convergence, and a function that gives frontier inputs."""

_NO_SCORES = "{} gives no scores, by which a share of the rows could be accepted"
_MOST_REMEMBERED = 256  # decisions of models that several blocks share, on a split's test rows


@dataclass(frozen=True)
class Cell:
    """One technique with one classifier on the sample of a block, by their names in the experiment."""

    technique: str
    classifier: str
    key: str  # identity in the store
    reference: str = ""  # identity of the untreated models that decisions are compared with; empty if none


def configured_techniques(experiment: Experiment) -> dict[tuple[str, str], Technique]:
    """Return the techniques of an experiment by dataset and entry, and their learners by classifier."""
    configured: dict[tuple[str, str], Technique] = {}
    for dataset in experiment.datasets:
        for entry in experiment.techniques:
            parameters = {**entry.parameters, **dataset.parameters.get(entry.technique, {})}
            configured[dataset.name, entry.name] = get_technique(entry.technique, **parameters)
        for classifier in experiment.classifiers:
            if (learner := classifier.learner) is not None:
                # Mitigation stays off, whatever parameters a dataset gives.
                given = dataset.parameters.get(learner.name, {})
                parameters = {**classifier.parameters, **given, **(learner.unconstrained or {})}
                configured[dataset.name, classifier.name] = get_technique(learner.name, **parameters)
    return configured


def describe_technique(technique: Technique) -> dict[str, Any]:
    """Return the facts that identify a technique in a cell's key."""
    return {
        "name": technique.name,
        "parameters": technique.parameters,
        "version": technique.version,
        "source": source_digest(type(technique)),
        "packages": versions_of(technique.packages),
    }


def describe_classifier(entry: ClassifierEntry) -> Mapping[str, Any]:
    """Return the facts that identify a classifier in a cell's key; raises if it cannot be built.

    Of a technique's learner, the facts are the technique's.
    """
    if entry.learner is not None:
        return describe_technique(entry.learner)
    assert entry.factory is not None
    factory = entry.factory
    try:
        factory.build(np.array([2]), 0)
    except Exception as error:
        raise errors.ClassifierError(
            f"The classifier {entry.name!r} cannot be built",
            got=f"{type(error).__name__}: {error}",
            remedy="correct its parameters in the experiment file",
        ) from error
    source = source_digest(factory.estimator_class)
    return {**factory.describe(), "categories": factory.entry.cardinality_parameter, "source": source}


def classifier_mismatch(technique: Technique, factory: ClassifierFactory) -> str | None:
    """Return why a technique can never work with a classifier, or None if it can."""
    classifier = factory.estimator_class.__name__
    if technique.needs_weights and not factory.takes_weights:
        return f"{technique.name} weights rows, and the fit of {classifier} takes no sample_weight"
    if technique.needs_scores and not factory.gives_scores:
        return f"{technique.name} needs scores, and {classifier} has no predict_proba"
    return None


@dataclass(frozen=True)
class Acceptance:
    """Which rows a technique accepts: those that it predicts, or a share of them by its own scores."""

    share: float | None  # None to accept whom the technique predicts to be favorable
    seed: int  # of the lots that decide between equal scores, the same for all techniques

    def __call__(self, technique: Technique, predictor: Predictor, rows: Table) -> NDArray[np.bool_]:
        """Return a mask of the accepted rows, shape (n_rows,); a DeclinedError says that it has no scores."""
        if self.share is None:
            return checked_decision(technique, predictor.predict(rows), len(rows))
        if predictor.predict_score is None:
            raise errors.DeclinedError(_NO_SCORES.format(technique.name))
        score = checked_score(technique, predictor.predict_score(rows), len(rows))
        # Not by the order of rows, because a file may be sorted by group.
        lots = np.random.default_rng(self.seed).permutation(len(score))
        accepted = np.zeros(len(score), dtype=np.bool_)
        accepted[np.lexsort((lots, -score))[: round(self.share * len(score))]] = True
        return accepted


def declined_by(technique: Technique, train: Table, acceptance: Acceptance) -> str | None:
    """Return why a technique declines a training sample, or None if it does not."""
    if acceptance.share is not None and not technique.produces_scores:
        return _NO_SCORES.format(technique.name)
    reason = unfit(technique, train)
    if reason is None:
        reason = technique.skip(train)
        if not (reason is None or (isinstance(reason, str) and reason.strip())):
            raise errors.TechniqueError(f"its skip() returned {reason!r} in place of a reason or None")
    return reason


def coordinates(data: PreparedDataset, block: Block, cell: Cell) -> dict[str, Any]:
    """Return the fields of a cell's result that say where it belongs."""
    names = {"technique": cell.technique, "classifier": cell.classifier}
    return {"key": cell.key, **data.place(block), **names}


def cell_result(
    data: PreparedDataset, block: Block, cell: Cell, status: Status, reason: str = "", **content: Any
) -> CellResult:
    """Return the result of a block's cell; ``content`` has the further fields of :class:`CellResult`."""
    return CellResult(**coordinates(data, block, cell), status=status, reason=reason, **content)


class Evaluator:
    """Computes the cells of one block after another."""

    def __init__(self, prepared: PreparedExperiment) -> None:
        self.prepared = prepared
        self.techniques = prepared.techniques
        self._named = {key: named(technique) for key, technique in self.techniques.items()}
        self._entries = {entry.name: entry for entry in prepared.experiment.techniques}
        # Folds without planted bias, by whether they have a test in truth; decisions by model and rows.
        self._unbiased: dict[bool, tuple[Block, list[Split]]] = {}
        self._accepted: dict[object, NDArray[np.bool_]] = {}
        # Answers of the last block's models of techniques that are told drawn rows, by what they came to.
        self._models: tuple[Block | None, dict[object, Learned]] = (None, {})
        declared = {entry.name: entry.factory for entry in prepared.experiment.classifiers}
        self.classifiers = {name: factory for name, factory in declared.items() if factory is not None}
        self._numbered = {name for name, own in self.classifiers.items() if own.encoding == "numbers"}
        self.scorers = {name: scoring.scorer_of(data) for name, data in prepared.datasets.items()}
        self.scoring = {name: scoring.scoring_identity(data) for name, data in prepared.datasets.items()}
        self._warm_up()

    def _warm_up(self) -> None:
        """Compile the classifiers' loops, so that no technique's time includes it."""
        X, y = np.array([[0], [1]] * 4, dtype=np.int16), np.array([0, 1] * 4)
        for factory in self.classifiers.values():
            # A classifier that cannot train on these eight rows may train on a sample.
            with contextlib.suppress(Exception):
                classifier = factory.build(np.array([2]), 0)
                classifier.fit(X, y, sample_weight=None)
                classifier.predict(X)

    def __call__(self, block: Block, cells: tuple[Cell, ...]) -> Iterator[CellResult]:
        """Yield the result of each cell, in order; the result of a failed cell has the reason."""
        data = self.prepared.datasets[block.dataset]
        splits: list[Split] = []
        try:
            splits.extend(draw_splits(data, block))
            kinds = {self._entries[cell.technique].refit for cell in cells}
            refits = {rows: rows and self._refitted(block, splits, rows) for rows in kinds}
        except Exception as error:
            begin = in_fold(len(splits), data.n_folds)
            reason = f"{begin}the rows to train and test on could not be drawn: {in_words(error)}"
            yield from (cell_result(data, block, cell, "failed", reason) for cell in cells)
            return
        scorers = scoring.scorers_of(splits, self.scorers[block.dataset], data.test)
        shared = [self._shared(split, split.train) for split in splits]
        keys = [self.prepared.trained(block.dataset, cell.technique, cell.classifier) for cell in cells]
        # All before the first technique: techniques empty the processor's caches, and then each set of tools
        # would take five times as long.
        tools = [
            [self._tools(cell, self._named[key], part) for part in shared]
            for cell, key in zip(cells, keys, strict=True)
        ]
        for cell, key, cell_tools in zip(cells, keys, tools, strict=True):
            technique, started = self.techniques[key], time.perf_counter()
            trained_on = refits[self._entries[cell.technique].refit]
            content = self._cell(block, cell, technique, cell_tools, scorers, splits, trained_on)
            yield cell_result(data, block, cell, **{"seconds": time.perf_counter() - started, **content})

    def _shared(self, split: Split, train: Table, purpose: str = "technique") -> Shared:
        seed = axis_seed(self.prepared.experiment.seed, purpose="classifier", **split.axes)
        return Shared({"purpose": purpose, **split.axes}, _Ranker(train), seed)

    def _tools(self, cell: Cell, technique: str, shared: Shared) -> Tools:
        """Return a technique's tools for a cell; ``technique`` is its identity from :func:`named`."""
        factory = self.classifiers.get(cell.classifier)
        return Tools(
            _no_classifier if factory is None else functools.partial(factory.build, seed=shared.seed),
            shared.ranker,
            # The entry's name is not an axis, so a renamed entry keeps its numbers.
            generator(self.prepared.experiment.seed, technique=technique, **shared.axes),
        )

    def _told(
        self,
        telling: Telling,
        block: Block,
        technique: Technique,
        tools: Sequence[Tools],
        splits: Sequence[Split],
    ) -> list[Tools]:
        """Return the tools of each draw of what a technique is told in each split.

        All draws have the same random numbers, so that no draw depends on the number of draws.
        """
        data = self.prepared.datasets[block.dataset]
        # Chance decided about groups that an audit recorded, and no row's true label is known.
        true = None if data.biases[block.bias].of_audit else data.test.y
        planted = data.told(block)
        return [
            replace(split_tools, known=known, rng=copy.deepcopy(split_tools.rng))
            for split, split_tools in zip(splits, tools, strict=True)
            for known in told(telling, technique, planted, split, true, data.experiment.seed)
        ]

    def _cell(
        self,
        block: Block,
        cell: Cell,
        technique: Technique,
        tools: Sequence[Tools],
        scorers: Mapping[scoring.SplitTest, scoring.Scorer],
        splits: Sequence[Split],
        trained_on: Sequence[Split] | None = None,
    ) -> dict[str, Any]:
        """Return the fields of a cell's result; its seconds end before scoring.

        ``splits`` are the block's, with ``tools`` for each. Refits are ``trained_on`` others.
        """
        if (telling := self._entries[cell.technique].told) is not None:
            try:
                tools = self._told(telling, block, technique, tools, splits)
            except errors.BetabenchError as error:
                return {"status": status_of(error), "reason": in_words(error)}
        started, n_draws = time.perf_counter(), len(tools) // len(splits)
        factory = self.classifiers.get(cell.classifier)
        if factory is not None and (mismatch := classifier_mismatch(technique, factory)) is not None:
            return {"status": "skipped", "reason": scoring.storable(mismatch)}
        numbers = cell.classifier in self._numbered
        answers: dict[scoring.SplitTest, scoring.Answers] = {}
        convergences, delayed_frontiers = [], []
        begin = ""
        # Draws that come to the same training rows share a model, whatever number of rows was drawn.
        if self._models[0] != block:
            self._models = block, {}
        models = self._models[1]
        try:
            for number, split_tools in enumerate(tools):
                place = number // n_draws
                begin, split = in_fold(place, len(splits)), (trained_on or splits)[place]
                # A new table for each technique, which could write to arrays that a table derives from codes.
                train = split.train.twin(numbers=numbers)
                with np.errstate():  # restores numpy's settings for the next technique
                    acceptance = self.acceptance(block.dataset, splits[place])
                    if (declined := declined_by(technique, train, acceptance)) is not None:
                        return {"status": "skipped", "reason": begin + scoring.storable(declined)}
                    split_scorers = {test: scorers[place, test] for test in split.tests}
                    fit: Fit | None = None
                    model: object = None
                    if n_draws > 1 and _fits_by_halves(technique):
                        rows = technique.prepare(train, split_tools)
                        fit = _learner_of(technique, rows)
                        model = (named(technique), cell.classifier, place, _digest_of(rows))
                    learned = models.get(model) or answers_of(
                        technique,
                        train,
                        split.tests,
                        split_scorers,
                        split_tools,
                        numbers,
                        acceptance,
                        fit,
                    )
                    if model is not None:
                        models[model] = learned
                split_answers, convergence, frontier_of_split = learned
                answers |= {(number, test): answer for test, answer in split_answers.items()}
                convergences += [convergence] if convergence is not None else []
                if frontier_of_split is not None and trained_on is None:
                    delayed_frontiers.append(frontier_of_split)
            seconds = time.perf_counter() - started
            unconstrained = [frontier_of_split() for frontier_of_split in delayed_frontiers]
            frontier = frontier_values(unconstrained, self.prepared.experiment.tests)
        # SystemExit and KeyboardInterrupt as well: no technique ends more than its own cell.
        except BaseException as error:
            return {"status": status_of(error), "reason": begin + in_words(error)}
        scored = {
            (number, test): scorers[number // n_draws, test].score(answer)
            for (number, test), answer in answers.items()
        }
        metrics = scoring.metric_values(scored, self.prepared.experiment.tests, n_draws)
        counts = scoring.stored_counts(scored, n_draws)
        if cell.reference:
            for decisions in self._decisions(block, cell, splits, answers, scorers, n_draws):
                counts = decisions.beside(counts)
            metrics += scoring.decision_metrics(
                counts, self.scorers[block.dataset], self.prepared.experiment.tests
            )
        return {
            "status": "ok",
            "metrics": metrics,
            "frontier": frontier,
            "counts": counts,
            # The convergence of the split that exceeds its tolerance most, or else comes nearest to it.
            "convergence": max(convergences, key=lambda c: c.residual - c.tolerance, default=None),
            "rows": scoring.pack(answers) if scorers[0, ORIGINAL].needs_rows else None,
            "scoring": scoring.scoring_of(self.scoring[block.dataset], cell.reference),
            "seconds": seconds,
        }

    def _decisions(
        self,
        block: Block,
        cell: Cell,
        splits: Sequence[Split],
        answers: Mapping[scoring.SplitTest, scoring.Answers],
        scorers: Mapping[scoring.SplitTest, scoring.Scorer],
        n_draws: int,
    ) -> list[scoring.Decisions]:
        """Return counts of a cell's decisions beside its untreated learner's, with and without planted bias.

        Where a block has a test in truth, there are also counts in it: by true labels, beside the learner on
        true rows.
        """
        entry = self.prepared.datasets[block.dataset].entry.baseline
        learner = (block.dataset, entry, cell.classifier)
        tests: list[Test] = [ORIGINAL, TRUTH] if block.has_truth else [ORIGINAL]
        counted: dict[Test, list[list[int]]] = {test: [] for test in tests}
        begin = ""
        try:
            for number in range(len(splits) * n_draws):
                place = number // n_draws
                begin, split = in_fold(place, len(splits)), splits[place]
                accepted = answers[number, ORIGINAL].predicted
                if cell.technique == entry:  # the cell is the untreated learner
                    self._remember(_model_key(*learner, split), accepted)
                clean = {ORIGINAL: self._accepts(*learner, self._clean(block, splits)[place])}
                if block.has_truth:
                    true = self._at_0(block.true)[place]
                    assert true.test_rows is not None
                    assert split.test_rows is not None
                    of_split = np.searchsorted(true.test_rows, split.test_rows)
                    clean[TRUTH] = self._accepts(*learner, true)[of_split]
                before = self._accepts(*learner, split)
                for test, counts in counted.items():
                    counts.append(scorers[place, test].decisions(clean[test], before, accepted))
        except BaseException as error:
            reason = f"{begin}the untreated learner {entry!r} decides nothing: {in_words(error)}"
            return [scoring.Decisions(cell.reference, (), scoring.storable(reason), test) for test in counted]
        return [scoring.Decisions(cell.reference, counts, test=test) for test, counts in counted.items()]

    def _clean(self, block: Block, splits: Sequence[Split]) -> Sequence[Split]:
        """Return the splits of a block without planted bias; ``splits`` are the block's own."""
        return splits if block.level == 0 else self._at_0(block.clean)

    def _at_0(self, block: Block) -> Sequence[Split]:
        remembered = self._unbiased.get(block.has_truth)
        if remembered is None or remembered[0] != block:
            drawn = list(draw_splits(self.prepared.datasets[block.dataset], block))
            remembered = self._unbiased[block.has_truth] = block, drawn
        return remembered[1]

    def _refitted(self, block: Block, splits: Sequence[Split], refit_on: Refit) -> list[Split]:
        """Return the splits of a reference row: bootstraps of clean, or of biased, training rows.

        The clean ones are tested on original test rows without planted bias.
        """
        refits, persons = [], self.prepared.datasets[block.dataset].persons
        sources = self._clean(block, splits) if refit_on == "clean" else splits
        for split, source in zip(splits, sources, strict=True):
            # A person's rows are drawn together.
            real = source.after_bias
            units = np.arange(len(source.train)) if real is None else units_of(persons, real)
            n = int(units.max()) + 1
            rng = generator(self.prepared.experiment.seed, purpose="refit", **split.axes)
            chosen = rows_of_units(units, rng.integers(n, size=n))
            tests = {name: replace(test_rows, among=None) for name, test_rows in split.tests.items()}
            tests[ORIGINAL] = source.tests[ORIGINAL]
            refits.append(replace(split, train=source.train.take(chosen).sealed, tests=tests))
        return refits

    def _accepts(self, dataset: str, entry: str, classifier: str, split: Split) -> NDArray[np.bool_]:
        """Return which original test rows of a split an untreated model accepts, shape (n_rows,).

        Models are identified by their rows, so that levels and kinds of bias share the clean models.
        """
        model = _model_key(dataset, entry, classifier, split)
        if model not in self._accepted:
            key = self.prepared.trained(dataset, entry, classifier)
            technique, numbers = self.techniques[key], classifier in self._numbered
            train, seen = split.train.twin(numbers=numbers), split.tests[ORIGINAL].seen.twin(numbers=numbers)
            shared = self._shared(split, split.train)
            tools = self._tools(Cell(entry, classifier, ""), self._named[key], shared)
            with np.errstate():
                acceptance = self.acceptance(dataset, split)
                if (declined := declined_by(technique, train, acceptance)) is not None:
                    raise errors.DeclinedError(declined)
                accepted = acceptance(technique, technique.fit(train, tools), seen)
            self._remember(model, accepted)
        return self._accepted[model]

    def _remember(self, model: object, accepted: NDArray[np.bool_]) -> None:
        while len(self._accepted) >= _MOST_REMEMBERED:
            del self._accepted[next(iter(self._accepted))]
        self._accepted[model] = accepted

    def acceptance(self, dataset: str, split: Split) -> Acceptance:
        """Return which rows are accepted of a dataset's split."""
        seed = axis_seed(self.prepared.experiment.seed, purpose="accept", **split.axes)
        return Acceptance(self.prepared.datasets[dataset].entry.accept, seed)


def _model_key(dataset: str, entry: str, classifier: str, split: Split) -> object:
    """Return a key of an untreated model's decisions, apart from the entry's parameters."""
    seen = split.tests[ORIGINAL].seen
    numbers = (None if table.numbers is None else table.numbers.digest for table in (split.train, seen))
    return dataset, entry, classifier, *split.axes.items(), split.train.digest, seen.digest, *numbers


def named(technique: Technique) -> str:
    """Return the identity of a configured technique, from which its random numbers follow."""
    return json.dumps({"name": technique.name, "parameters": technique.parameters}, sort_keys=True)


def _no_classifier(_cardinalities: NDArray[np.int64]) -> NoReturn:
    raise errors.TechniqueError(
        "A technique that declares a learner of its own asks for a classifier",
        expected="no use of tools.classifier",
        remedy="correct the technique, or take 'unconstrained' out of it",
    )


def answers_of(
    technique: Technique,
    train: Table,
    tests: Mapping[Test, TestRows],
    scorers: Mapping[Test, scoring.Scorer],
    tools: Tools,
    numbers: bool,
    acceptance: Acceptance,
    fit: Fit | None = None,
) -> Learned:
    """Return what a technique learns from training rows.

    All answers are checked here, because a plugin may have replaced the technique's own checks.
    """
    predictor = (fit or technique.fit)(train, tools)
    predict = functools.partial(acceptance, technique, predictor)
    with_scores: dict[Test, scoring.Answers] = {}  # whatever the metrics need

    def predict_score(table: Table) -> NDArray[np.float64]:
        assert predictor.predict_score is not None
        return checked_score(technique, predictor.predict_score(table), len(table))

    def ask(name: Test, rows: TestRows) -> scoring.Answers:
        test = rows.seen.twin(numbers=numbers)
        predicted = predict(test)
        # Scores are checked even where no metric needs them: predictions may have been made from NaN.
        score = None if predictor.predict_score is None else predict_score(test)
        if score is not None:
            with_scores[name] = scoring.Answers(predicted, score)
        return scorers[name].ask(test, predicted, score, predict if score is None else predict_score)

    def frontier_of_split() -> UnconstrainedSplit:
        return train, predict_score(train.twin(numbers=numbers)), tests, with_scores

    answers: dict[Test, scoring.Answers] = {}
    for name, rows in tests.items():
        # Of a part of the original rows, another share may be accepted.
        if rows.among is None or acceptance.share is not None:
            answers[name] = ask(name, rows)
            continue
        answers[name] = answers[ORIGINAL].of(rows.among)
        if with_scores:
            with_scores[name] = with_scores[ORIGINAL].of(rows.among)
    delayed_frontier = frontier_of_split if with_scores and has_frontier(technique) else None
    reported = predictor.convergence
    if reported is None:
        return answers, None, delayed_frontier
    convergence = Convergence(int(reported.steps), float(reported.residual), float(reported.tolerance))
    finite = bool(np.isfinite([convergence.residual, convergence.tolerance]).all())
    if not (finite and 0 <= convergence.steps < 2**63):  # SQLite's integers
        raise errors.TechniqueError(
            f"{technique.name} reported a convergence that cannot be stored",
            expected="a finite residual and tolerance, and steps from 0 to 2**63 - 1",
            got=str(convergence),
            remedy="correct the convergence that the technique reports",
        )
    return answers, convergence, delayed_frontier


def _fits_by_halves(technique: Technique) -> TypeGuard[PreProcessing]:
    """Return whether a technique prepares rows and learns from them alone, by no method of its own."""
    methods = "fit", "_fit", "prepare", "learn", "_learned", "_transformed"
    return isinstance(technique, PreProcessing) and all(
        getattr(type(technique), name) is getattr(PreProcessing, name) for name in methods
    )


def _learner_of(technique: PreProcessing, rows: Prepared) -> Fit:
    """Return the second half of a technique's fit, to rows that it has prepared."""
    return lambda _train, tools: technique.learn(rows, tools)


def _digest_of(rows: Prepared) -> object:
    """Return an identity of prepared rows; those that come with a change of test rows are like no others."""
    weights = None if rows.sample_weight is None else rows.sample_weight.tobytes()
    own = rows.table.numbers
    numbers = None if own is None else (own.columns, own.values.tobytes())
    return rows.transform or (rows.table.digest, numbers, rows.features, weights)


def status_of(error: BaseException) -> Status:
    """Return the status of a cell in which a technique raised an exception."""
    if isinstance(error, errors.NotConvergedError):
        return "not_converged"
    return "skipped" if isinstance(error, errors.DeclinedError) else "failed"


def in_words(error: BaseException) -> str:
    """Return an exception's message, as a reason that can be stored."""
    try:
        text = str(error)
    except Exception:  # a plugin's exception
        text = "(its message cannot be read)"
    if isinstance(error, errors.BetabenchError):
        return scoring.storable(text)
    location = errors.where(error)
    return scoring.storable(f"{type(error).__name__}: {text}", f" ({location})" if location else "")


@dataclass(eq=False)
class _Ranker:
    """The naive Bayes ranker, trained once although several techniques use it on the same sample."""

    train: Table

    @functools.cached_property
    def _scores(self) -> NDArray[np.float64]:
        return read_only(naive_bayes_ranker(self.train))

    def __call__(self, table: Table) -> NDArray[np.float64]:
        # Codes cannot change, so the same object gives the same scores.
        same = table.codes is self.train.codes and table.schema is self.train.schema
        return self._scores if same else naive_bayes_ranker(table)


@dataclass(frozen=True, eq=False)
class Shared:
    """The part of the tools that all techniques on one training sample share."""

    axes: Axes  # of techniques' random numbers
    ranker: _Ranker
    seed: int  # of classifiers
