"""Gradient feature auditing (Adler et al. 2016, 2018): the influence of each feature on a model.

A model that does not see a feature may still use it through columns that reveal it. So the feature is
obscured in itself and in every other column: these are repaired until the rows of each of its states look
alike. The change of the model's accuracy and discrimination is the feature's influence, direct and through
proxies. The model only predicts; it is neither opened nor trained again.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.classifiers import naive_bayes_ranker
from benchmark.data import Table
from benchmark.errors import DataError, ExperimentError
from benchmark.metrics import evaluate
from benchmark.seeding import generator
from benchmark.techniques import Estimator, Technique, Tools, get_technique
from benchmark.techniques.repair import Repair

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Default levels at which features are obscured."""

_METRICS = ("accuracy", "discrimination")
_CHANGES = tuple(f"{metric}_change" for metric in _METRICS)
_ERRORS = tuple(f"{change}_error" for change in _CHANGES)
_QUANTILE = 1.959963984540054  # of the normal distribution, for intervals of 95 %


def audit_features(
    train: Table,
    test: Table,
    classifier: Callable[[NDArray[np.int64]], Estimator],
    levels: Sequence[float] = LEVELS,
    *,
    technique: Technique | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    r"""Return the influence of each feature on a model, direct and through proxies.

    With :math:`m(X)` a metric of the model's predictions on the test rows and :math:`X_\lambda` the test rows
    with a feature obscured at level :math:`\lambda`, the feature's influence is :math:`m(X_1) - m(X)`.
    To obscure a feature, :class:`benchmark.techniques.repair.Repair` repairs all columns with the feature's
    states as groups, and the feature itself. The labels and groups that score predictions do not change.

    The technique, by default ``none``, trains the model on ``train`` with the classifier that ``classifier``
    builds for features of given numbers of states, shape (n_features,). Levels are numbers from 0, not
    obscured, to 1, no column reveals the feature. The seed decides which rows move, and is the technique's.
    Each feature has its own random numbers, the same for all levels.

    A row for each feature, in the schema's order, and level. Columns ``feature``, ``level``, ``accuracy``,
    ``discrimination``; ``accuracy_change``, ``discrimination_change``, the differences to the predictions on
    the unchanged rows; ``accuracy_change_error``, ``discrimination_change_error``, half the widths of their
    95 % intervals over test rows, see Notes.

    An ExperimentError means that there is no level, or a level outside of [0, 1], a DataError that the test
    rows are of one group or of one class, a TechniqueError that the technique cannot train.

    Notes
    -----
    Each column is repaired by itself, so that information in a combination of columns stays. The states of
    the audited feature meet at their median, where a rare state counts as much as a frequent one. A rare
    state with unusual rows moves every row, and makes its feature look more influential than it is.

    Intervals are for paired proportions, after Agresti and Min. A row is right or wrong (favorable or not)
    before and after: in a group, half a row is added to each of these four counts, and the change's standard
    error follows from the shares. Intervals cover other test rows, not models trained on other rows.

    References
    ----------
    Agresti and Min (2005), Simple improved confidence intervals for comparing matched proportions, Statistics
    in Medicine 24.

    Adler, Falk, Friedler, Nix, Rybeck, Scheidegger, Smith and Venkatasubramanian (2018), Auditing black-box
    models for indirect influence, Knowledge and Information Systems 54 (ICDM 2016). There the metric is
    accuracy; discrimination is measured in the same way.
    """
    if not levels or not all(0 <= level <= 1 for level in levels):
        raise ExperimentError(
            "The levels cannot be audited",
            expected="one or more numbers from 0 to 1",
            got=", ".join(f"{level:g}" for level in levels) or "none",
            remedy="correct the levels",
        )
    for role, members in (("label", test.y), ("group", test.deprived)):
        if members.all() or not members.any():
            raise DataError(
                f"Features cannot be audited on test rows of one {role}",
                expected="rows of both classes and of both groups",
                got=f"{np.count_nonzero(members)} of {len(test)} rows",
                remedy="take more test rows",
            )
    tools = Tools(classifier, naive_bayes_ranker, generator(seed, purpose="audit"))
    model = (technique or get_technique("none")).fit(train, tools)

    def measure(predicted: NDArray[np.bool_]) -> NDArray[np.float64]:
        values = evaluate(test.y, predicted, test.deprived, metrics=_METRICS).values
        return np.array([values[metric] for metric in _METRICS])

    before = model.predict(test)
    original = measure(before)
    audit: list[tuple[object, ...]] = []
    for feature in (test.schema.names[i] for i in test.schema.feature_indices):
        for level in levels:
            chance = replace(tools, rng=generator(seed, purpose="audit", feature=feature))
            after = model.predict(_obscured(test, feature, level, chance))
            values = measure(after)
            groups = (test.deprived, ~test.deprived)
            variances = (
                _variance(before == test.y, after == test.y),
                sum(_variance(before[group], after[group]) for group in groups),
            )
            errors = _QUANTILE * np.sqrt(variances)  # half the widths of the intervals of both changes
            audit.append((feature, float(level), *values, *(values - original), *errors))
    return pd.DataFrame(audit, columns=["feature", "level", *_METRICS, *_CHANGES, *_ERRORS])


def rank_features(audit: pd.DataFrame) -> pd.DataFrame:
    """Return the features of :func:`audit_features` ranked by their influence at the highest level.

    A row for each feature, the greatest loss of accuracy first. Columns ``feature``, ``accuracy_change``,
    ``discrimination_change``, their errors, and ``accuracy_rank``, ``discrimination_rank``: 1 for the
    greatest loss of accuracy, and for the greatest absolute change of discrimination; ties share the better
    rank.
    """
    ranking = audit.loc[audit["level"] == audit["level"].max(), ["feature", *_CHANGES, *_ERRORS]].copy()
    accuracy, discrimination = (ranking[change].round(12) for change in _CHANGES)  # rounding errors tie
    ranking["accuracy_rank"] = accuracy.rank(method="min").astype(int)
    ranking["discrimination_rank"] = (-discrimination.abs()).rank(method="min").astype(int)
    ranked: pd.DataFrame = ranking.sort_values("accuracy_rank", kind="stable", ignore_index=True)
    return ranked


def _variance(before: NDArray[np.bool_], after: NDArray[np.bool_]) -> float:
    """Return the variance of the change of a share of the same rows, after Agresti and Min."""
    n = len(before) + 2
    gained = (np.count_nonzero(after & ~before) + 0.5) / n
    lost = (np.count_nonzero(before & ~after) + 0.5) / n
    return float(gained + lost - (gained - lost) ** 2) / n


def _obscured(table: Table, feature: str, level: float, tools: Tools) -> Table:
    """Return a table with all columns but the label repaired, so that rows of all states look alike."""
    states = table.schema.column(feature).states
    if len(states) < 2:  # it has no information
        return table
    # Repair tells its groups by their role: the audited feature takes the sensitive feature's place.
    roles = replace(table.schema, sensitive_feature=feature, deprived_group=states[0])
    repaired = Repair(level=level, repair_sensitive=True).prepare(Table(roles, table.codes), tools)
    return Table(table.schema, repaired.table.codes)
