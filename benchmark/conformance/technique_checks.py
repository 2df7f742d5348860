"""Checks of techniques.

Each check is a function of a technique that raises :class:`NonconformityError` if the technique fails. Checks
run on a small made-up table, so they are quick and need neither data nor network.

Post-processing draws its held-out rows at random, so no two of its fits can be compared row by row. Its
adjustment is checked instead, on made-up scores, by the mean shares of favorable answers over several seeds.
Two checks find a technique that learns from the label column. Its answers change with the filler of that
column in the rows to predict. Or they are no better than a constant, if it uses other columns there.
"""

import functools
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.classifiers import make_classifier, naive_bayes_ranker
from benchmark.conformance import specimen
from benchmark.conformance.results import (
    CautionError,
    CheckResult,
    NonconformityError,
    NotApplicableError,
    demand,
    described,
    results_of,
)
from benchmark.conformance.specimen import (
    AnswerPairs,
    Answers,
    Scoreless,
    TechniqueUnderTest,
    Weightless,
    example_table,
    recoded,
    renamed,
    train_and_test,
)
from benchmark.data.table import Table
from benchmark.errors import BetabenchError, DeclinedError, NotConvergedError, TechniqueError
from benchmark.techniques._search import is_whole, search_space, space_flaws, space_of
from benchmark.techniques.base import Convergence, Estimator, Predictor, PreProcessing, Technique
from benchmark.techniques.knowledge import Examined, Fact, Knowledge
from benchmark.techniques.post_processing import PostProcessing, Scored

# Learners that take codes for numbers, or drop one state as reference and regularize the others, depend on
# the codes of features. Twelve such learners changed at most 5 % of their answers to the example, and 2 %
# where the two groups swap their codes.
_MOST_BY_CODES = 0.15
_MOST_BY_ROLES = 0.05
_ROWS_PER_FIT = 150  # of search spaces: enough for every shipped technique, and quick

_WITHOUT_LABEL = (
    "train on train.features and predict from test.features, which have no label column; codes and "
    "to_frame() have it"
)


def check_technique(
    technique: Technique, classifier: Callable[[NDArray[np.int64]], Estimator] | None = None
) -> list[CheckResult]:
    """Return the results of all checks on a configured technique, in the order of :data:`CHECKS`.

    ``classifier`` is as in :class:`Tools`, by default naive Bayes. If the technique fails on the example
    table, or declines it, the first check says why, and no other applies.
    """
    naive_bayes = functools.partial(make_classifier("naive_bayes").build, seed=0)
    tested = TechniqueUnderTest(technique, classifier or naive_bayes, naive_bayes_ranker, seed=0)
    return results_of(CHECKS, tested, "it does not train on the example table")


def _demand_alike(first: Answers, second: Answers, message: str, got: str = "{}", **details: Any) -> None:
    """Demand the same answers twice; ``got`` is a template for their differences."""
    differences = first.differences(second)
    demand(not differences, message, got=got.format(differences), **details)


def _trains(tested: TechniqueUnderTest) -> None:
    reason = tested.technique.skip(example_table())
    if reason is not None:
        raise NotApplicableError(f"it declines the example table: {reason}")
    _ = tested.fitted


def _deterministic(tested: TechniqueUnderTest) -> None:
    _demand_alike(
        tested.answers(),
        tested.repetition[0],
        "Two runs with one seed differ",
        remedy="draw every random number from tools.rng, and never iterate over a set",
    )


def _repeatable(tested: TechniqueUnderTest) -> None:
    first = tested.answers()
    specimen.predictions_and_scores(tested.fitted, example_table(90, seed=9))
    _demand_alike(
        first,
        tested.answers(),
        "A second prediction of the same rows gives another answer",
        remedy="draw a seed from tools.rng in fit, and start a new generator with it in each prediction",
    )


def _batch_irrelevant(tested: TechniqueUnderTest) -> None:
    """Demand that the other rows of a table change neither a row's answer nor its chances of one."""
    remedy = "learn thresholds and rates in fit, and predict each row by itself"
    unsorted = specimen.scored(example_table(400, seed=8))
    rising = np.argsort(unsorted.score, kind="stable")
    rows = Scored(unsorted.table.take(rising), unsorted.score[rising])
    half = np.arange(len(rising)) >= len(rising) // 2
    pairs: AnswerPairs | None = None
    if isinstance(tested.technique, PostProcessing):
        subject = "The adjustment of a row depends"
        pairs = tested.adjusted(
            lambda adjust: adjust(rows),
            lambda adjust: np.concatenate(
                [adjust(Scored(rows.table.take(part), rows.score[part])) for part in (~half, half)]
            ),
        )
    elif tested.technique.randomised:
        subject = "The chances of a row depend"
        pairs = specimen.predicted_in_parts(tested.fitted, rows.table, half)
    if pairs is not None:
        largest = specimen.share_difference(pairs, 2 * rows.table.deprived + half)
        demand(
            largest <= specimen.SHARE_TOLERANCE,
            f"{subject} on the other rows of the table",
            expected=f"shares of favorable answers that differ by at most {specimen.SHARE_TOLERANCE}",
            got=f"a difference of {largest:.3f}",
            remedy=remedy,
        )
        return
    test = example_table(200, seed=8)
    whole = tested.fitted.predict(test)
    order = np.random.default_rng(1).permutation(len(test))
    # In another order, in two unequal parts, and the first rows each alone.
    for chosen in (order, order[:50], order[50:], *np.arange(12)[:, None]):
        demand(
            np.array_equal(tested.fitted.predict(test.take(chosen)), whole[chosen]),
            "The answer for a row depends on the other rows of the table",
            remedy=remedy,
        )


def _input_untouched(tested: TechniqueUnderTest) -> None:
    demand(
        not tested.trial.tables_changed,
        "A table was changed in place",
        remedy="work on a copy: table.codes.copy(), table.y.copy()",
    )


def _global_state_untouched(tested: TechniqueUnderTest) -> None:
    demand(
        not tested.repetition[1],
        "A global random generator was used or seeded",
        remedy="draw every random number from tools.rng",
    )


def _silent(tested: TechniqueUnderTest) -> None:
    written = tested.trial.written
    demand(
        not written,
        "It writes to the standard output or error stream",
        got=repr(written if len(written) <= 300 else written[:300] + " ..."),
        remedy="print nothing, and silence a library's warnings around the call that causes them",
    )


def _randomness_declared(tested: TechniqueUnderTest) -> None:
    tested.demand_fixed()
    other = replace(tested, seed=tested.seed + 1).answers()
    _demand_alike(tested.answers(), other, "Results depend on the seed", remedy="declare `randomised = True`")


def _knowledge_declared(tested: TechniqueUnderTest) -> None:
    """Demand that a technique reads the facts about the bias that it declares, and no others."""
    knows, read = {*tested.technique.knows}, tested.trial.read
    demand(
        read <= knows,
        f"It tries to read {', '.join(sorted(read - knows))} of the bias, which it does not declare",
        remedy="declare the fact in 'knows', or do without it",
    )
    if not knows:
        raise NotApplicableError("it declares no knowledge about the bias")
    if unread := knows - read:
        raise CautionError(
            f"It declares to know {', '.join(sorted(unread))} of the bias, and does not read it",
            remedy="take it out of 'knows'; results are compared with techniques that know as much",
        )


_NOBODY, _ALL = np.zeros(0, dtype=np.intp), np.arange(20)
# Facts that no bias has, or that leave nothing to estimate.
_STRANGE: Mapping[Fact, Sequence[Any]] = {
    "gap": (-1.0, 1.0, 2.0, np.nan),
    "rates": ((0.0, 0.0), (1.0, 1.0), (1.5, -0.5), (np.nan, np.nan)),
    "bounds": ((0.0, 1.0), (0.9, 0.1), (np.nan, np.nan)),
    "refusals": (Examined(_NOBODY, _NOBODY > 0), Examined(_ALL, _ALL >= 0), Examined(_ALL, _ALL < 0)),
    "clean_rows": (Examined(_NOBODY, _NOBODY > 0), Examined(_ALL, _ALL >= 0), Examined(_ALL, _ALL < 0)),
}


def _strange_knowledge(tested: TechniqueUnderTest) -> None:
    """Demand an answer for each row, or a reason, whatever a technique is told."""
    train, test = train_and_test()
    if not tested.technique.knows:
        raise NotApplicableError("it declares no knowledge about the bias")
    for fact in tested.technique.knows:
        for strange in _STRANGE.get(fact, ()):
            known = Knowledge(**{**vars(specimen.facts_of(train)), fact: strange})
            try:
                specimen.predictions_and_scores(replace(tested, known=known).fit(train), test)
            except BetabenchError:
                continue
            except Exception as problem:
                raise NonconformityError(
                    f"It fails without a reason if it is told a strange {fact}",
                    expected="an answer for each row, or a DeclinedError",
                    got=f"{described(problem)}, told {strange}",
                    remedy="keep rates within 0 and 1, or decline what cannot be",
                ) from problem


def _sensitive_declared(tested: TechniqueUnderTest) -> None:
    if tested.technique.needs_sensitive:
        raise NotApplicableError("it declares that it may use the sensitive feature of the rows to predict")
    test = example_table(200, seed=8)
    group = np.random.default_rng(1).permutation(test.codes[:, test.schema.sensitive_index])
    regrouped = test.with_column(test.schema.sensitive_feature, group)
    first, second = (specimen.predictions_and_scores(tested.fitted, table) for table in (test, regrouped))
    same = first[1] is None or second[1] is None or np.array_equal(first[1], second[1])
    demand(
        same and np.array_equal(first[0], second[0]),
        "Predictions or scores depend on the sensitive feature of the rows to predict",
        remedy="declare needs_sensitive = True, or predict without the feature",
    )


def _need_declared(
    tested: TechniqueUnderTest,
    need: str,
    has_to: str,
    lacking: Callable[[Any], Any],
    classifier: str,
) -> None:
    """Demand a result with a classifier that lacks an ability, unless the technique declares the need."""
    if getattr(tested.technique, need):
        raise NotApplicableError(f"it declares that the classifier has to {has_to}")
    try:
        replace(tested, classifier=lambda k: lacking(tested.classifier(k))).predict(*train_and_test())
    except Exception as problem:
        raise NonconformityError(
            f"It fails with a classifier {classifier}",
            got=described(problem),
            remedy=f"declare {need} = True",
        ) from problem


def _scores_declared(tested: TechniqueUnderTest) -> None:
    """Demand scores from 0 to 1 if the technique declares scores, and none otherwise."""
    train, test = train_and_test()
    classifier = tested.classifier(train.feature_schema.cardinalities)
    if not hasattr(classifier, "predict_proba"):
        raise NotApplicableError("the classifier estimates no probabilities")
    predict_score = tested.fitted.predict_score
    if not tested.technique.produces_scores:
        message = "It estimates scores, but declares that it does not"
        demand(predict_score is None, message, remedy="declare produces_scores = True")
        return
    if predict_score is None:
        raise NonconformityError(
            "It declares that it estimates scores, but does not",
            remedy="return Predictor(predict, predict_score), or declare produces_scores = False",
        )
    scores = predict_score(test)
    demand(
        scores.shape == (len(test),) and bool(((scores >= 0) & (scores <= 1)).all()),
        "Its scores are no estimates of a probability",
        expected=f"{len(test)} numbers from 0 to 1",
        got=f"shape {scores.shape} from {scores.min()} to {scores.max()}",
        remedy="apply the logistic function to distances from the boundary",
    )


def _labels_unseen(tested: TechniqueUnderTest) -> None:
    test = example_table(200, seed=8)
    first, second = tested.answers(test), tested.answers(specimen.flipped(test))
    tested.demand_repeatable()
    _demand_alike(
        first,
        second,
        f"The true labels of the rows to predict, column {test.schema.label!r}, change the answers",
        "with the opposite labels {}",
        remedy="predict only from the argument of predict(), and override neither fit() nor learn()",
    )


def _label_column_unused(tested: TechniqueUnderTest) -> None:
    """Demand the same answers for every filler of the label column of the rows to predict."""
    test = example_table(200, seed=8)
    label = test.schema.label
    fillers = {
        "1 in place of 0": test.with_column(label, np.ones(len(test), dtype=np.int16)),
        "the true labels": test,
        "the opposite of the true labels": specimen.flipped(test),
    }
    unlabeled = tested.answers(test)
    tested.demand_repeatable()
    for filler, filled in fillers.items():
        _demand_alike(
            unlabeled,
            tested.answers(specimen.Shown(filled.schema, filled.codes)),
            f"It learns or predicts from the label column {label!r}: answers change with the filler of that "
            "column in the rows to predict",
            expected="the same answers for every filler",
            got="{}, if the filler is " + filler,
            remedy=_WITHOUT_LABEL,
        )


def _better_than_constant(tested: TechniqueUnderTest) -> None:
    """Demand a higher accuracy than a constant's where one feature tells the label.

    The same holds after training on rows sorted by their labels, where learning from positions fails.
    """
    if tested.technique.may_lose_to_constant:
        raise NotApplicableError(f"it declares that it may not: {tested.technique.may_lose_to_constant}")
    train, test = specimen.told_by_skill(600, seed=7, wrong=0.05), specimen.told_by_skill(1000, seed=8)
    label = test.schema.label
    constant = float(max(np.mean(test.y), np.mean(~test.y)))

    def accuracy(predictor: Predictor, rows: Table = test) -> float:
        return float(np.mean(predictor.predict(rows) == test.y))

    try:
        predictor = tested.fit(train)
    except DeclinedError as declined:
        raise NotApplicableError(f"it declines the table: {declined}") from declined
    reached = accuracy(predictor)
    if reached <= constant:
        got = f"{reached:.3f}"
        remedy = (
            f"check whether its training data include the label column {label!r} or a copy of it "
            "(train.features does not), or declare may_lose_to_constant = 'the reason'"
        )
        if accuracy(predictor, specimen.Shown(test.schema, test.codes)) > constant:
            got += f"; more with the true labels in column {label!r}: it learns from that column"
            remedy = _WITHOUT_LABEL
        raise NonconformityError(
            "It is no better than a constant answer where one feature tells the label",
            expected=f"an accuracy above {constant:.3f}",
            got=got,
            remedy=remedy,
        )
    sorted_by_label = accuracy(tested.fit(train.take(np.argsort(train.y, kind="stable"))))
    demand(
        sorted_by_label > constant,
        "It learns from the order of the training rows: after rows sorted by their labels it is no better "
        "than a constant answer",
        expected=f"an accuracy above {constant:.3f}",
        got=f"{sorted_by_label:.3f}, and {reached:.3f} after the same rows in another order",
        remedy="never use the position of a row",
    )


def _valid_weights(tested: TechniqueUnderTest) -> None:
    weight = tested.prepared.sample_weight
    if weight is None:
        raise NotApplicableError("it does not weight rows")
    fits = weight.shape == (len(tested.prepared.table),)
    got = f"shape {weight.shape} from {weight.min()} to {weight.max()}"
    demand(fits and bool(np.isfinite(weight).all() and (weight >= 0).all()), "Weights are invalid", got=got)


def _valid_convergence(tested: TechniqueUnderTest) -> None:
    reported = tested.fitted.convergence
    if reported is None:
        raise NotApplicableError("it reports no convergence")
    figures = (reported.residual, reported.tolerance)
    demand(
        isinstance(reported, Convergence)
        and isinstance(reported.steps, numbers.Integral)
        and reported.steps >= 0
        and all(isinstance(f, numbers.Real) and np.isfinite(f) for f in figures)
        and 0 <= reported.residual <= reported.tolerance,
        "The figures of its convergence are invalid",
        expected="Convergence(steps, residual, tolerance), 0 or more steps, 0 <= residual <= tolerance",
        got=str(reported),
        remedy="raise NotConvergedError if the residual exceeds the tolerance",
    )


def _row_order_irrelevant(tested: TechniqueUnderTest) -> None:
    tested.demand_fixed()
    train, test = train_and_test()
    shuffled = train.take(np.random.default_rng(1).permutation(len(train)))
    demand(
        tested.difference((train, test), (shuffled, test)) == 0,
        "The result depends on the order of the training rows",
        remedy="declare `randomised = True` if chance decides, or break ties by the rows' contents",
    )


def _names_irrelevant(tested: TechniqueUnderTest) -> None:
    train, test = train_and_test()
    demand(
        np.array_equal(tested.fitted.predict(test), tested.predict(renamed(train), renamed(test))),
        "Predictions depend on the names of columns or states",
        remedy="use the roles of the schema, never names",
    )


def _coding_irrelevant(tested: TechniqueUnderTest) -> None:
    """Demand the same result for other codes of unordered states, unless chance decides.

    The codes of features may matter up to :data:`_MOST_BY_CODES`, with a warning.
    """
    effect = tested.effect_of(recoded)
    if effect == 0:
        return
    schema = example_table().schema
    label, sensitive = schema.label, schema.sensitive_feature
    by_label = tested.effect_of(functools.partial(recoded, names=[label]))
    demand(
        by_label <= _MOST_BY_ROLES,
        f"The result depends on which code the favorable label has, in column {label!r}",
        got=f"a change of {by_label:.1%} if the two labels swap their codes",
        remedy="read the label from table.y or schema.favorable_code, not from code 0 or 1; and learn from "
        "train.features, which have no label column",
    )
    by_group = tested.effect_of(specimen.swapped, before=specimen.merged)
    demand(
        by_group <= _MOST_BY_ROLES,
        f"The result depends on which code the deprived group has, in column {sensitive!r}",
        got=f"a change of {by_group:.1%} if the two groups swap their codes",
        remedy="read the group from table.deprived or schema.deprived_code, not from code 0 or 1",
    )
    unordered = [column.name for column in schema.columns if not column.ordered]
    alone = [name for name in unordered if tested.effect_of(functools.partial(recoded, names=[name])) > 0]
    error = NonconformityError if effect > _MOST_BY_CODES else CautionError
    raise error(
        f"The result depends on the codes of unordered states, in {', '.join(map(repr, alone or unordered))}",
        got=f"a change of {effect:.1%} if states swap their codes",
        remedy="nothing, if it is intended; else take no code for a number (train.feature_schema.ordered "
        "marks columns with an order). Give each state an indicator: with regularized coefficients, the "
        "choice of the dropped reference level matters",
    )


def _groups_declared(tested: TechniqueUnderTest) -> None:
    """Demand that all rows outside of the deprived group are one group, unless the technique is multi-group.

    Where the classifier sees the sensitive feature, a prediction may rightly depend on each of its states.
    """
    technique = tested.technique
    if technique.multi_group:
        raise NotApplicableError("it declares that it distinguishes more than two groups")
    if isinstance(technique, PreProcessing):
        tested.demand_fixed()
        seen = tested.prepared.table.schema.sensitive_index in tested.prepared.feature_indices
    else:
        # The scores that post-processing changes are the same whatever the classifier sees.
        seen = technique.needs_sensitive and not isinstance(technique, PostProcessing)
    if seen:
        raise NotApplicableError("its predictions may use the sensitive feature, and so all its states")
    # The ranker sees specimen.merged states, because its model would distinguish them.
    blind = replace(tested, ranker=lambda table: tested.ranker(specimen.merged(table)))
    effect = blind.effect_of(specimen.merged)
    demand(
        effect == 0,
        "The result depends on the states of the sensitive feature besides the deprived group",
        got=f"a change of {effect:.1%} if these states are one",
        remedy="declare multi_group = True, or distinguish groups by table.deprived",
    )


def _group_without_positives(tested: TechniqueUnderTest) -> None:
    """Demand a result or a reason where one group never has the favorable label."""
    for positives in ((True, False), (False, True)):
        train = example_table(positives=positives)
        reason = tested.technique.skip(train)
        if reason is not None:
            demand(bool(reason.strip()), "The technique declines without a reason")
            continue
        try:
            tested.predict(train, example_table(200, seed=8))
        except TechniqueError as problem:
            demand(bool(problem.what.strip()), "The technique fails without a reason")


def _learner_declared(tested: TechniqueUnderTest) -> None:
    """Demand ``unconstrained`` from a technique that builds no classifier, and from no other."""
    technique = tested.technique
    if technique.unconstrained is None:
        if not tested.calls_classifier():
            raise CautionError(
                "It never calls tools.classifier, but is compared with a classifier",
                expected="unconstrained, the parameters at which its own learner does nothing for fairness",
                remedy="declare them, if any, so that it is compared with doing nothing with that learner",
            )
        return
    try:
        free = type(technique)(**{**technique.parameters, **technique.unconstrained})
    except (TechniqueError, TypeError) as problem:
        raise NonconformityError("unconstrained holds no parameters of it", got=str(problem)) from None
    for subject in (tested, replace(tested, technique=free)):
        demand(
            not subject.calls_classifier(),
            "It calls tools.classifier, but declares a learner of its own",
            remedy="remove 'unconstrained', or train without tools.classifier",
        )


def _valid_search_space(tested: TechniqueUnderTest) -> None:
    """Demand a search space within the declared ranges, and a fit, or a reason, at its ends."""
    technique, kind = tested.technique, type(tested.technique)
    if not search_space(kind):
        raise NotApplicableError("it declares no search space")
    if flaws := list(space_flaws(kind)):
        raise NonconformityError(
            "The search space is not valid", got="; ".join(flaws), remedy="correct its search_space"
        )
    train, test = example_table(_ROWS_PER_FIT), example_table(20, seed=8)
    for search in space_of(technique):
        for end in search.ends:
            value = round(end) if is_whole(kind, search.parameter) and isinstance(end, float) else end
            changed = kind(**{**technique.parameters, search.parameter: value})
            try:
                replace(tested, technique=changed).predict(train, test)
            except (DeclinedError, NotConvergedError):
                continue
            except Exception as problem:
                raise NonconformityError(
                    f"It does not train with {search.parameter} = {value!r}, an end of its search space",
                    got=f"{type(problem).__name__}: {problem}",
                    remedy="correct it, or narrow the search space",
                ) from problem


CHECKS: dict[str, Callable[[TechniqueUnderTest], None]] = {
    "trains on the example": _trains,
    "deterministic under a seed": _deterministic,
    "answers repeatable": _repeatable,
    "batch irrelevant": _batch_irrelevant,
    "input not mutated": _input_untouched,
    "global random state untouched": _global_state_untouched,
    "silent": _silent,
    "randomness declared": _randomness_declared,
    "knowledge declared": _knowledge_declared,
    "strange knowledge": _strange_knowledge,
    "sensitive feature declared": _sensitive_declared,
    "weights declared": lambda tested: _need_declared(
        tested, "needs_weights", "take weights", Weightless, "whose fit takes no weights"
    ),
    "need of scores declared": lambda tested: _need_declared(
        tested,
        "needs_scores",
        "estimate probabilities",
        Scoreless,
        "that estimates no probabilities",
    ),
    "scores declared": _scores_declared,
    "learner declared": _learner_declared,
    "test labels unseen": _labels_unseen,
    "label column unused": _label_column_unused,
    "better than a constant": _better_than_constant,
    "weights valid": _valid_weights,
    "convergence valid": _valid_convergence,
    "row order irrelevant": _row_order_irrelevant,
    "names irrelevant": _names_irrelevant,
    "coding irrelevant": _coding_irrelevant,
    "groups declared": _groups_declared,
    "a group without positives": _group_without_positives,
    "search space valid": _valid_search_space,
}
"""All checks by name, in the order in which they run."""
