"""Rates of groups as in Aequitas: their ratios to a reference group, and verdicts on these ratios.

A *positive* is here a person who is selected for the intervention, or should have been, whether it
helps or hurts: ``y_pred`` is True for people who are selected, ``y_true`` for people who should be.

References
----------
Saleiro, Kuester, Hinkson, London, Stevens, Anisfeld, Rodolfa and Ghani (2018), Aequitas: A Bias and Fairness
Audit Toolkit, arXiv:1811.05577.
"""

import functools
import math
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmark.errors import ExperimentError, UnknownNameError
from benchmark.metrics import (
    Conventions,
    Group,
    GroupCounts,
    Metric,
    Predictions,
    list_families,
    list_metrics,
    measure,
)
from benchmark.statistics.across import ALPHA
from benchmark.statistics.hypothesis_tests import holm

_SHARE = "predicted_positive_share"
# The members of a group that a rate counts, and those among whom it counts them.
_COUNTED = {
    _SHARE: ("predicted_positives", "size"),
    "selection_rate": ("predicted_positives", "size"),
    "precision": ("tp", "predicted_positives"),
    "false_discovery_rate": ("fp", "predicted_positives"),
    "false_omission_rate": ("fn", "predicted_negatives"),
    "false_positive_rate": ("fp", "negatives"),
    "false_negative_rate": ("fn", "positives"),
    "true_positive_rate": ("tp", "positives"),
    "true_negative_rate": ("tn", "negatives"),
    "negative_predictive_value": ("tn", "predicted_negatives"),
}
_COMPARED = (
    *("attribute", "group", "metric", "value", "reference", "reference_value", "disparity", "reason"),
    *("n", "n_reference", "small"),
)
_CELLS = ["tp", "fp", "fn", "tn"]
_DISPARITY = "_disparity"
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
_PARITY_OF = {parts[0]: name for name, parts in PARITIES.items() if len(parts) == 1}

# Rounding must not decide at the ends: 0.6 / 0.75 is a little less than 0.8 in floating point.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class GroupRates:
    r"""Rates of the groups of an attribute, compared with a reference group, and verdicts.

    The reference is ``"majority"`` for the group of most rows, ``"minimum"`` for the group in which a rate is
    smallest, chosen anew for each rate, or the name of a group. Of equal groups, the first in sorted order
    counts. ``unknown`` groups, whose rows have no value of the attribute, are not chosen unless there is no
    other group.

    A group has parity in a rate if its ratio :math:`d` to the reference's is :math:`\tau \le d \le 1 / \tau`,
    both ends included (Saleiro et al. 2018, equation 3). A ratio that misses an end by less than one part in
    1e9, as by rounding, counts as equal to it. ``tau``, in (0, 1], is the smallest fair ratio; 0.8 is the
    four-fifths rule.

    An UnknownNameError means that there is no such reference group, an ExperimentError that ``tau`` is out of
    range.
    """

    predictions: Predictions  # one row or more of each group
    attribute: str  # its name
    reference: str = "majority"
    unknown: Collection[str] = ()
    tau: float = 0.8
    conventions: Conventions = "betabench"

    def __post_init__(self) -> None:
        if self.reference not in (names := (*self.predictions.names, *CHOSEN)):
            raise UnknownNameError("group", self.reference, names)
        if not 0 < self.tau <= 1:
            raise ExperimentError(
                "Disparities cannot be judged with this tau",
                expected="a number above 0 and not above 1",
                got=f"{self.tau:g}",
                remedy="choose such a number: 0.8 is the four-fifths rule",
            )

    @functools.cached_property
    def groups(self) -> pd.DataFrame:
        """Counts and rates of each group (Saleiro et al. 2018, sections 3.2.1 to 3.2.3).

        A row for each group. Columns ``attribute``, ``group``, ``n`` (rows), ``labelled_positives``,
        ``labelled_negatives``, ``tp``, ``fp``, ``fn``, ``tn``, ``predicted_positives``,
        ``predicted_negatives``, ``k`` (predicted positives of all groups), ``predicted_positive_share``, the
        metrics of the family ``rates`` by name, ``auc`` if there are labels and scores, and ``small`` (fewer
        than :data:`~benchmark.audit.rates.SMALL` rows). Counts are sums of weights if there are weights. A
        rate is NaN if its denominator is empty; so is every value that needs labels or predictions that are
        not given.
        """
        counts = self.predictions.counts
        cells = counts.rows if self.predictions.sample_weight is None else counts.weight
        (tn, fp), (fn, tp) = cells.transpose(1, 2, 0)
        counted = {
            "attribute": self.attribute,
            "group": counts.names,
            "n": counts.rows.sum(axis=(1, 2)),
            "labelled_positives": tp + fn,
            "labelled_negatives": fp + tn,
            **{"tp": tp, "fp": fp, "fn": fn, "tn": tn},
            "predicted_positives": tp + fp,
            "predicted_negatives": fn + tn,
            "k": (tp + fp).sum(),
        }
        with_auc = ["auc"] * (self.predictions.given >= {"y_true", "y_score"})
        for rate in (_SHARE, *list_families()["rates"], *with_auc):
            counted[rate] = [m.value for m in measure(self.predictions, [rate])]
        table = pd.DataFrame(counted | {"small": counted["n"] < SMALL})
        # Missing labels and predictions were counted as negative.
        if self.predictions.y_true is None:
            table[["labelled_positives", "labelled_negatives", *_CELLS]] = math.nan
        if self.predictions.y_pred is None:
            table[[*_CELLS, "predicted_positives", "predicted_negatives", "k"]] = math.nan
        return table

    def reference_of(self, metric: Metric) -> str | None:
        """Return the reference group of a rate or of its disparity.

        It is None if ``"minimum"`` is wanted and no group has a rate.
        """
        names, sizes = self.predictions.names, self.predictions.counts.rows.sum(axis=(1, 2))
        known = sorted({*names}.difference(self.unknown)) or sorted(names)
        if self.reference == "majority":
            return max(known, key=lambda name: int(sizes[names.index(name)]))
        if self.reference != "minimum":
            return self.reference
        rate = list_metrics().keys() & {metric.name.removesuffix(_DISPARITY)}
        values = {m.group: m.value for m in measure(self.predictions, rate, conventions=self.conventions)}
        defined = (name for name in known if not math.isnan(values.get(name, math.nan)))
        return min(defined, key=values.__getitem__, default=None)

    def metrics(self, names: Collection[str] | None = None) -> pd.DataFrame:
        """Return the values of metrics and families, by default of all that the predictions allow.

        Columns ``attribute``, ``metric``, ``group`` (empty if a metric looks at all groups), ``reference``
        (empty if none), ``value``, ``reason`` (why there is no value; else empty) and ``n`` (rows of the
        group, or of all).
        """
        given = self.predictions.given
        names = names or [name for name, item in list_metrics().items() if given.issuperset(item.needs)]
        measured = pd.DataFrame(
            measure(self.predictions, names, reference=self.reference_of, conventions=self.conventions)
        )
        measured.insert(0, "attribute", self.attribute)
        return measured.rename(columns={"n_rows": "n"})

    @functools.cached_property
    def disparities(self) -> pd.DataFrame:
        """The comparison of each group's rates with the reference group's rates.

        A row for each group and rate. Columns ``attribute``, ``group``, ``metric``, ``value``,
        ``reference``, ``reference_value``, ``disparity`` (value / reference value), ``reason`` (why the
        disparity is NaN), ``n`` and ``n_reference`` (rows of both groups), ``small`` (whether either rate is
        a share of fewer than 30 rows, such as the predicted positives for the precision), ``p_value``,
        ``p_adjusted``, ``significant`` (whether the adjusted p-value is at most 0.05; False where nothing is
        tested), ``parity`` (the name of its verdict) and ``verdict`` (whether the disparity lies within tau;
        missing where there is none).

        Notes
        -----
        The p-value tests, with two sides, that two rates are equal: by Fisher's exact test. Shares of the
        predicted positives sum to 1; the exact binomial test compares their numbers. Holm's method adjusts
        the p-values of an attribute, with a rate and its complement (such as TPR and FNR) once. Rows with
        weights are not tested. The ``"minimum"`` reference depends on the tested rates, so that differences
        to it look more certain than they are.

        References
        ----------
        Saleiro et al. (2018), equations 1 and 2. Holm (1979), A simple sequentially rejective multiple test
        procedure, Scandinavian Journal of Statistics 6.
        """
        names, rows = self.predictions.names, self.predictions.counts.rows
        # Rows, not weights: the number of people decides how certain a rate is.
        counts = GroupCounts(names, rows.astype(np.float64), rows)
        groups = {name: Group.of(counts, [code], name) for code, name in enumerate(names)}
        rates = self.metrics(_COUNTED)[["group", "metric", "value", "reason"]]
        ratios = self.metrics([rate + _DISPARITY for rate in _COUNTED]).rename(columns={"value": "disparity"})
        ratios["metric"] = ratios["metric"].str.removesuffix(_DISPARITY)
        others = rates.rename(columns={"group": "reference", "value": "reference_value"})
        frame = ratios.merge(rates, on=["group", "metric"], suffixes=("", "_of_rate"))
        frame = frame.merge(others.drop(columns="reason"), how="left")
        frame = frame.sort_values(
            "group", key=lambda own: own.map(names.index), kind="stable", ignore_index=True
        )
        frame["reason"] = frame["reason_of_rate"].where(frame["reason_of_rate"].ne(""), frame["reason"])
        frame["n_reference"] = [groups[other].n_rows if other else 0 for other in frame["reference"]]
        tests: list[Hashable] = []
        p_values: dict[Hashable, float] = {}
        small = []
        tested = frame[["group", "reference", "metric", "value", "reference_value"]]
        for name, other, metric, *values in tested.to_numpy().tolist():
            pair, among = [groups[own] for own in (name, other) if own], _COUNTED[metric][1]
            small.append(min(getattr(group, among) for group in pair) < SMALL)
            # A rate and its complement are one test, as are a group against another and the other way round.
            tests.append(test := (frozenset((name, other)), among, metric == _SHARE))
            testable = name != other and math.isfinite(sum(values))
            if testable and test not in p_values and self.predictions.sample_weight is None:
                p_values[test] = _p_value(metric, *pair)
        adjusted = dict(zip(p_values, holm(np.array(list(p_values.values()))), strict=True))
        frame = frame.assign(small=small)[list(_COMPARED)]
        frame["p_value"] = [p_values.get(test, math.nan) for test in tests]
        frame["p_adjusted"] = [adjusted.get(test, math.nan) for test in tests]
        frame["significant"] = frame["p_adjusted"] <= ALPHA
        frame["parity"] = frame["metric"].map(_PARITY_OF)
        fair = frame["disparity"].between(self.tau * (1 - _ROUNDING), (1 + _ROUNDING) / self.tau)
        frame["verdict"] = fair.astype("boolean").mask(frame["disparity"].isna())
        return frame

    @functools.cached_property
    def verdicts(self) -> pd.DataFrame:
        """Verdicts on each group.

        With the conventions ``"aequitas"``, an undefined verdict of a pair counts as failed beside a defined
        one. Otherwise it makes the pair undefined, unless the other verdict fails.

        A row for each group and parity of :data:`~benchmark.audit.PARITIES`. Columns ``attribute``,
        ``group``, ``parity``, ``verdict`` (True, False or missing) and ``reason`` (why it is missing).
        """
        found = []
        for group, rows in self.disparities.groupby("group", sort=False):
            with_reasons = zip(rows["verdict"], rows["reason"], strict=True)
            verdicts = dict(zip(rows["metric"], with_reasons, strict=True))
            for name, parts in PARITIES.items():
                verdicts[name] = self._both(*verdicts[parts[0]], *verdicts[parts[-1]])
                found.append((self.attribute, group, name, *verdicts[name]))
        frame = pd.DataFrame(found, columns=["attribute", "group", "parity", "verdict", "reason"])
        return frame.astype({"verdict": "boolean"})

    def _both(self, first: Any, why: str, second: Any, also_why: str) -> tuple[Any, str]:
        """Return whether two verdicts are both True, or NA and the reason why that is undefined."""
        if self.conventions == "aequitas" and (first is pd.NA) != (second is pd.NA):
            return False, ""
        both = first & second  # NA beside False is False
        return both, (why or also_why) if both is pd.NA else ""

    @functools.cached_property
    def parity(self) -> pd.DataFrame:
        """Verdicts on the attribute by all of its groups.

        A row for each parity. Columns ``attribute``, ``parity``, ``verdict`` (False if a group fails, else
        missing if one has no verdict, else True) and ``failed`` (names of the groups that fail, separated by
        commas).
        """
        found = []
        for name, groups in self.verdicts.groupby("parity", sort=False):
            failed = groups.loc[groups["verdict"].eq(False).fillna(False), "group"]
            found.append((self.attribute, name, groups["verdict"].all(skipna=False), ", ".join(failed)))
        frame = pd.DataFrame(found, columns=["attribute", "parity", "verdict", "failed"])
        return frame.astype({"verdict": "boolean"})


def _p_value(metric: str, group: Group, other: Group) -> float:
    """Return the two-sided p-value of the hypothesis that a rate is the same in two groups."""
    from scipy.stats import binomtest, fisher_exact

    if metric == _SHARE:
        number = int(group.predicted_positives)
        total = number + int(other.predicted_positives)
        return float(binomtest(number, total).pvalue) if total else 1.0
    part, whole = _COUNTED[metric]
    cells = np.array([[getattr(g, part), getattr(g, whole) - getattr(g, part)] for g in (group, other)])
    return float(fisher_exact(cells)[1])
