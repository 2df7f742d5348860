"""The Aequitas audit: rates of groups, their ratios to a reference group, and verdicts on these ratios.

A *positive* is here a person who is selected for the intervention, or should have been, whether it
helps or hurts: ``y_pred`` is True for people who are selected, ``y_true`` for people who should be.

From rows to verdicts: :func:`select` turns scores into predictions, :func:`intersect` crosses attributes,
:func:`by_group` brings predictions and an attribute together, :func:`group_table` counts, :func:`disparities`
compares, :func:`parity` and :func:`overall_parity` judge.

References
----------
Saleiro, Kuester, Hinkson, London, Stevens, Anisfeld, Rodolfa and Ghani (2018), Aequitas: A Bias and Fairness
Audit Toolkit, arXiv:1811.05577.
"""

import itertools
import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.columns import CROSSED
from benchmark.errors import DataError, ExperimentError, UnknownNameError
from benchmark.metrics import Conventions, Group, GroupCounts, Predictions, list_families, measure
from benchmark.statistics.across import ALPHA
from benchmark.statistics.hypothesis_tests import holm

AEQUITAS_COUNTS: Mapping[str, str] = {
    **{cell: cell for cell in ("tp", "fp", "fn", "tn")},
    "pp": "predicted_positives",
    "pn": "predicted_negatives",
    "group_label_pos": "labelled_positives",
    "group_label_neg": "labelled_negatives",
    "group_size": "n",
    "k": "k",
}
"""Columns of :func:`group_table` by Aequitas' names of these counts."""

_SHARE = "predicted_positive_share"
# The members of a group that a rate counts, and the other members of its denominator.
_COUNTED = {
    "selection_rate": ("predicted_positives", "predicted_negatives"),
    "precision": ("tp", "fp"),
    "false_discovery_rate": ("fp", "tp"),
    "false_omission_rate": ("fn", "tn"),
    "false_positive_rate": ("fp", "tn"),
    "false_negative_rate": ("fn", "tp"),
    "true_positive_rate": ("tp", "fn"),
    "true_negative_rate": ("tn", "fp"),
    "negative_predictive_value": ("tn", "fn"),
}
_RATES = (_SHARE, *_COUNTED)
_CELLS = ("tp", "fp", "fn", "tn")
DISPARITY = "_disparity"
SMALL = 30
"""Groups of fewer rows are flagged."""
CHOSEN = ("majority", "minimum")
"""Ways to choose a reference group, in place of its name."""

PARITIES: Mapping[str, tuple[str, ...]] = {
    "Statistical Parity": (_SHARE,),
    "Impact Parity": ("selection_rate",),
    "FDR Parity": ("false_discovery_rate",),
    "FPR Parity": ("false_positive_rate",),
    "FOR Parity": ("false_omission_rate",),
    "FNR Parity": ("false_negative_rate",),
    "TPR Parity": ("true_positive_rate",),
    "TNR Parity": ("true_negative_rate",),
    "NPV Parity": ("negative_predictive_value",),
    "Precision Parity": ("precision",),
    "TypeI Parity": ("FDR Parity", "FPR Parity"),
    "TypeII Parity": ("FOR Parity", "FNR Parity"),
    "Equalized Odds": ("FPR Parity", "TPR Parity"),
    "Unsupervised Fairness": ("Statistical Parity", "Impact Parity"),
    "Supervised Fairness": ("TypeI Parity", "TypeII Parity"),
}
"""Input of each verdict: the disparity of one rate, or two other verdicts.

The names are Aequitas' names. Its statistical parity compares *numbers* of selected people. Its impact parity
compares *selection rates*; elsewhere this is called statistical or demographic parity.
"""

# Rounding must not decide at the ends: 0.6 / 0.75 is a little less than 0.8 in floating point.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Selection:
    """The rows that are selected by score."""

    selected: NDArray[np.bool_]  # shape (n_rows,): whether the score is at least the threshold
    threshold: float  # lowest score that is selected
    n_selected: int  # number of selected rows: more than requested if rows tie at the threshold
    n_tied: int = 0  # number of rows that are selected beyond those requested


def select(
    score: NDArray[np.float64],
    *,
    threshold: float | None = None,
    k: int | None = None,
    percent: float | None = None,
) -> Selection:
    r"""Return the selection of the rows with the highest scores.

    A row is selected if its score is at least a threshold: a given one, or the score of the k-th highest
    row, :math:`\hat y = 1` if :math:`s \ge s_k` (Saleiro et al. 2018, section 3.2). Rows that tie with the
    k-th row are all selected, in any order of the rows.

    The rule is the lowest score to select, the number ``k`` of rows, or their share in percent, rounded down
    to whole rows. A DataError means that the scores are not finite numbers of shape (n_rows,). An
    ExperimentError means that not exactly one rule is given, or that it selects an impossible number of rows.
    """
    score = np.asarray(score)
    if score.ndim != 1 or score.dtype.kind not in "iuf" or not np.isfinite(score).all():
        raise DataError(
            "The scores cannot be ranked",
            expected="finite numbers, one per row",
            got=f"{score.dtype} of shape {score.shape}",
            remedy="leave out rows without a score",
        )
    rules = {"threshold": threshold, "k": k, "percent": percent}
    given = {name: value for name, value in rules.items() if value is not None}
    if len(given) != 1:
        raise ExperimentError(
            "It is not clear whom to select",
            expected="exactly one of threshold, k and percent",
            got=" and ".join(given) or "none",
            remedy="name one of them",
        )
    n, by_number = len(score), threshold is None
    most = int(k) if k is not None and float(k).is_integer() else 0
    if threshold is None:
        if percent is not None and 0 < percent <= 100:
            # The small number corrects whole percentages that rounding made a little less.
            most = math.floor(percent * n / 100 + _ROUNDING)
        if not 1 <= most <= n:
            raise ExperimentError(
                "That many rows cannot be selected",
                expected=f"from 1 to {n} rows",
                got=", ".join(f"{name} = {value:g}" for name, value in given.items()),
                remedy="choose a number in this range",
            )
        threshold = float(np.partition(score, n - most)[n - most])
    if math.isnan(threshold):
        raise ExperimentError("The threshold is not a number", expected="a score", got="NaN")
    selected = score >= threshold
    n_selected = int(selected.sum())
    return Selection(selected, threshold, n_selected, n_selected - most if by_number else 0)


def intersect(frame: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Return two or more attributes, columns of a frame of one row per person, crossed into one.

    Its values are like ``"Female × Black"``, its name like ``"sex × race"``. An UnknownNameError means that
    a column does not exist, an ExperimentError that there are fewer than two columns. A DataError means that
    a value is missing, or that two crossed groups would have the same name.
    """
    if len(columns) < 2:
        raise ExperimentError(
            "There is nothing to cross", expected="two or more columns", got=", ".join(columns) or "none"
        )
    for column in columns:
        if column not in frame:
            raise UnknownNameError("column", column, map(str, frame.columns))
        _check_complete(frame[column])
    texts = frame[list(columns)].astype(str)
    crossed = texts[columns[0]]
    for column in columns[1:]:
        crossed = crossed + CROSSED + texts[column]
    # "a" and "b × c" must not become one group with "a × b" and "c".
    if crossed.nunique() < len(texts.drop_duplicates()):
        raise DataError(
            "Crossed groups would have the same name",
            expected=f"values without {CROSSED!r}",
            got=", ".join(repr(v) for c in columns for v in texts[c].unique() if CROSSED in v)[:200],
            remedy="rename these values",
        )
    return crossed.rename(CROSSED.join(columns))


def by_group(values: pd.Series, **arrays: Any) -> Predictions:
    """Return predictions with the groups of an attribute, whose value for each row is in ``values``.

    The groups are the values that occur, as text, sorted. The arrays are fields of
    :class:`~benchmark.metrics.Predictions` by name. A DataError means that a value is missing, or that arrays
    do not fit.
    """
    _check_complete(values)
    codes, names = pd.factorize(values.astype(str).to_numpy(dtype=object), sort=True)
    return Predictions(codes, tuple(names), **arrays)


def _check_rows(predictions: Predictions) -> None:
    if not len(predictions):
        raise DataError("The table has no rows", expected="one row or more", got="none")


def _check_complete(values: pd.Series) -> None:
    if missing := int(values.isna().sum()):
        raise DataError(
            f"The attribute {values.name!r} has missing values",
            expected="a group for each row",
            got=f"{missing} of {len(values)} rows without one",
            remedy="leave these rows out, or give them a group of their own",
        )


def group_table(predictions: Predictions, attribute: str) -> pd.DataFrame:
    """Return counts and rates of each group of an attribute (Saleiro et al. 2018, sections 3.2.1 to 3.2.3).

    A row for each group. Columns ``attribute`` (its name), ``group``, ``n`` (rows), ``labelled_positives``,
    ``labelled_negatives``, ``tp``, ``fp``, ``fn``, ``tn``, ``predicted_positives``, ``predicted_negatives``,
    ``k`` (predicted positives of all groups), ``predicted_positive_share``, and the metrics of the family
    ``rates`` by name. Counts are sums of weights if there are weights. A rate is NaN if its denominator is
    empty; so is every value that needs labels or predictions that are not given. A DataError means that there
    is no row.
    """
    _check_rows(predictions)
    counts = predictions.counts
    cells = counts.rows if predictions.sample_weight is None else counts.weight
    by_label, by_prediction = cells.sum(axis=2), cells.sum(axis=1)
    rates = (_SHARE, *list_families()["rates"])
    measured = pd.DataFrame([(m.group, m.metric, m.value) for m in measure(predictions, rates)])
    table = pd.DataFrame(
        {
            "attribute": attribute,
            "group": counts.names,
            "n": counts.rows.sum(axis=(1, 2)),
            "labelled_positives": by_label[:, 1],
            "labelled_negatives": by_label[:, 0],
            "tp": cells[:, 1, 1],
            "fp": cells[:, 0, 1],
            "fn": cells[:, 1, 0],
            "tn": cells[:, 0, 0],
            "predicted_positives": by_prediction[:, 1],
            "predicted_negatives": by_prediction[:, 0],
            "k": by_prediction[:, 1].sum(),
        }
    )
    # Missing labels and predictions were counted as negative.
    if predictions.y_true is None:
        table[["labelled_positives", "labelled_negatives", *_CELLS]] = math.nan
    if predictions.y_pred is None:
        table[[*_CELLS, "predicted_positives", "predicted_negatives", "k"]] = math.nan
    wide = measured.pivot(index=0, columns=1, values=2).reindex(counts.names)
    return table.assign(**{rate: wide[rate].to_numpy() for rate in rates})


def disparities(
    predictions: Predictions,
    attribute: str,
    *,
    reference: str = "majority",
    unknown: Collection[str] = (),
    conventions: Conventions = "betabench",
) -> pd.DataFrame:
    """Return the comparison of each group's rates with a reference group's rates.

    The reference is ``"majority"`` for the group of most rows, ``"minimum"`` for the group in which a rate is
    smallest, chosen anew for each rate, or the name of a group. Of equal groups, the first in sorted order
    counts. ``unknown`` groups, whose rows have no value of the attribute, are not chosen unless there is no
    other group.

    A row for each group that has rows, and rate. Columns ``attribute``, ``group``, ``metric``, ``value``,
    ``reference``, ``reference_value``, ``disparity`` (value / reference value), ``reason`` (why the disparity
    is NaN), ``n`` and ``n_reference`` (rows of both groups), ``small`` (whether either rate is a share of
    fewer than 30 rows, such as the predicted positives for the precision), ``p_value``, ``p_adjusted``
    and ``significant`` (whether the adjusted p-value is at most 0.05; False where nothing is tested).

    An UnknownNameError means that there is no such group, a DataError that there is no row.

    Notes
    -----
    The p-value tests, with two sides, that two rates are equal: by Fisher's exact test. Shares of the
    predicted positives sum to 1; the exact binomial test compares their numbers. Holm's method adjusts the
    p-values of an attribute, with a rate and its complement (such as TPR and FNR) once. Rows with weights are
    not tested. The ``"minimum"`` reference depends on the tested rates, so that differences to it look more
    certain than they are.

    References
    ----------
    Saleiro et al. (2018), equations 1 and 2. Holm (1979), A simple sequentially rejective multiple test
    procedure, Scandinavian Journal of Statistics 6.
    """
    _check_rows(predictions)
    rows = predictions.counts.rows
    # Rows, not weights: the number of people decides how certain a rate is.
    unweighted = GroupCounts(predictions.names, rows.astype(np.float64), rows)
    groups = {
        name: Group.of(unweighted, [code], name)
        for code, name in enumerate(predictions.names)
        if rows[code].any()
    }
    if reference not in {*groups, *CHOSEN}:
        raise UnknownNameError("group", reference, [*groups, *CHOSEN])
    rates = {(m.metric, m.group): m for m in measure(predictions, _RATES, conventions=conventions)}
    sizes = {name: group.n_rows for name, group in groups.items()}
    chosen = {
        metric: reference_of(reference, sizes, {name: rates[metric, name].value for name in groups}, unknown)
        for metric in _RATES
    }
    ratios = measure(
        predictions,
        [metric + DISPARITY for metric in _RATES],
        reference=lambda item: chosen[item.name.removesuffix(DISPARITY)],
        conventions=conventions,
    )
    disparity = {(m.metric.removesuffix(DISPARITY), m.group): m for m in ratios}
    compared: list[dict[str, Any]] = []
    tests = []
    for name, metric in itertools.product(groups, _RATES):
        rate, ratio, other = rates[metric, name], disparity[metric, name], chosen[metric]
        pair = [groups[name]] if other is None else [groups[name], groups[other]]
        tests.append((frozenset((name, other or "")), frozenset(_COUNTED.get(metric, ()))))
        compared.append(
            {
                "attribute": attribute,
                "group": name,
                "metric": metric,
                "value": rate.value,
                "reference": other or "",
                "reference_value": math.nan if other is None else rates[metric, other].value,
                "disparity": ratio.value,
                "reason": rate.reason or ratio.reason,
                "n": groups[name].n_rows,
                "n_reference": 0 if other is None else groups[other].n_rows,
                "small": min(_denominator(metric, group) for group in pair) < SMALL,
            }
        )
    p_values: dict[Hashable, float] = {}
    for test, row in zip(tests, compared, strict=True):
        testable = row["group"] != row["reference"] and math.isfinite(row["value"] + row["reference_value"])
        if testable and test not in p_values and predictions.sample_weight is None:
            p_values[test] = _p_value(row["metric"], groups[row["group"]], groups[row["reference"]])
    adjusted = dict(zip(p_values, holm(np.array(list(p_values.values()))), strict=True))
    frame = pd.DataFrame(compared)
    frame["p_value"] = [p_values.get(test, math.nan) for test in tests]
    frame["p_adjusted"] = [adjusted.get(test, math.nan) for test in tests]
    frame["significant"] = frame["p_adjusted"] <= ALPHA
    return frame


def reference_of(
    wanted: str, sizes: Mapping[str, int], values: Mapping[str, float], unknown: Collection[str] = ()
) -> str | None:
    """Return the reference group of a rate, or None if ``"minimum"`` is wanted and no group has a rate.

    ``sizes`` are the rows of each group, ``values`` the rate of each, or NaN. Of several groups, none of the
    ``unknown`` ones is chosen.
    """
    known = [name for name in sorted(sizes) if name not in unknown] or sorted(sizes)
    if wanted == "majority":
        return max(known, key=lambda name: sizes[name])
    if wanted == "minimum":
        defined = (name for name in known if not math.isnan(values.get(name, math.nan)))
        return min(defined, key=lambda name: values[name], default=None)
    return wanted


def _denominator(metric: str, group: Group) -> float:
    return sum(getattr(group, cell) for cell in _COUNTED[metric]) if metric in _COUNTED else group.size


def _p_value(metric: str, group: Group, other: Group) -> float:
    """Return the two-sided p-value of the hypothesis that a rate is the same in two groups."""
    from scipy.stats import binomtest, fisher_exact

    if metric == _SHARE:
        number = int(group.predicted_positives)
        total = number + int(other.predicted_positives)
        return float(binomtest(number, total).pvalue) if total else 1.0
    cells = np.array([[getattr(g, cell) for cell in _COUNTED[metric]] for g in (group, other)])
    return float(fisher_exact(cells)[1])


def parity(
    disparities: pd.DataFrame, tau: float = 0.8, *, conventions: Conventions = "betabench"
) -> pd.DataFrame:
    r"""Return verdicts whether disparities are near enough to 1 (Saleiro et al. 2018, equation 3).

    A group has parity in a rate if :math:`\tau \le d \le 1 / \tau`, both ends included. A disparity that
    misses an end by less than one part in 1e9, as by rounding, counts as equal to it.

    The disparities, from :func:`disparities`, may be of several attributes, and of some metrics alone.
    ``tau``, in (0, 1], is the smallest fair ratio; 0.8 is the four-fifths rule, and an ExperimentError means
    that it is out of range. With the conventions ``"aequitas"``, an undefined verdict of a pair counts as
    failed beside a defined one. Otherwise it makes the pair undefined, unless the other verdict fails.

    A row for each attribute, group and parity of :data:`PARITIES` whose metrics are there. Columns
    ``attribute``, ``group``, ``parity``, ``verdict`` (True, False or missing) and ``reason`` (why it is
    missing).
    """
    if not 0 < tau <= 1:
        raise ExperimentError(
            "Disparities cannot be judged with this tau",
            expected="a number above 0 and not above 1",
            got=f"{tau:g}",
            remedy="choose such a number: 0.8 is the four-fifths rule",
        )
    low, high = tau * (1 - _ROUNDING), (1 + _ROUNDING) / tau
    rows = []
    for (attribute, group), measured in disparities.groupby(["attribute", "group"], sort=False):
        verdicts: dict[str, tuple[bool | None, str]] = {
            row["metric"]: (None if math.isnan(d := row["disparity"]) else low <= d <= high, row["reason"])
            for row in measured.to_dict("records")
        }
        for name, parts in PARITIES.items():
            if verdicts.keys() >= set(parts):
                verdicts[name] = _both(verdicts[parts[0]], verdicts[parts[-1]], conventions)
                rows.append((attribute, group, name, *verdicts[name]))
    frame = pd.DataFrame(rows, columns=["attribute", "group", "parity", "verdict", "reason"])
    return frame.astype({"verdict": "boolean"})


def _both(
    first: tuple[bool | None, str], second: tuple[bool | None, str], conventions: Conventions
) -> tuple[bool | None, str]:
    """Return whether two verdicts are both True, or None and the reason why that is undefined."""
    values = (first[0], second[0])
    if None not in values:
        return all(values), ""
    if values != (None, None) and (conventions == "aequitas" or False in values):
        return False, ""
    return None, first[1] or second[1]


def overall_parity(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return verdicts on attributes by all of their groups, from the verdicts of :func:`parity`.

    A row for each attribute and parity. Columns ``attribute``, ``parity``, ``verdict`` (False if a group
    fails, else missing if one has no verdict, else True) and ``failed`` (names of the groups that fail,
    separated by commas).
    """
    rows = []
    for (attribute, name), groups in verdicts.groupby(["attribute", "parity"], sort=False):
        failed = groups.loc[groups["verdict"].eq(False).fillna(False), "group"]
        rows.append((attribute, name, groups["verdict"].all(skipna=False), ", ".join(failed)))
    frame = pd.DataFrame(rows, columns=["attribute", "parity", "verdict", "failed"])
    return frame.astype({"verdict": "boolean"})
