"""The audit of a table of predictions: rates of groups, all metrics that apply, disparities and verdicts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pandas as pd

from benchmark.audit.predictions import Columns, ReadyTable, group_name, prepare
from benchmark.audit.rates import CHOSEN, GroupRates
from benchmark.audit.remarks import remarks_on_groups
from benchmark.errors import ExperimentError, UnknownNameError
from benchmark.metrics import Conventions, metric_names
from benchmark.release import VERSION
from benchmark.text.words import values_in_list


@dataclass(frozen=True, eq=False)
class AuditResult:
    """Results of an audit, as tidy frames of all attributes."""

    groups: pd.DataFrame  # counts and rates, from :attr:`benchmark.audit.GroupRates.groups`
    metrics: pd.DataFrame  # from :meth:`benchmark.audit.GroupRates.metrics`
    disparities: pd.DataFrame  # and verdicts on them, from :attr:`benchmark.audit.GroupRates.disparities`
    verdicts: pd.DataFrame  # on each group, from :attr:`benchmark.audit.GroupRates.verdicts`
    parity: pd.DataFrame  # verdicts on each attribute, from :attr:`benchmark.audit.GroupRates.parity`
    missing: pd.DataFrame  # missing values, as in :class:`benchmark.audit.predictions.ReadyTable`
    notes: tuple[str, ...]  # remarks for readers
    # The facts of :class:`benchmark.audit.predictions.ReadyTable`, and ``metrics`` (the given names; empty if
    # none were given), ``tau``, ``conventions``, ``reference`` (by attribute), ``unknown`` (by attribute the
    # groups without a value of it, where there are any) and ``versions``.
    facts: Mapping[str, Any]


def audit_predictions(
    frame: pd.DataFrame,
    columns: Columns,
    *,
    reference: str | Mapping[Any, Any] | None = None,
    tau: float = 0.8,
    metrics: Iterable[str] | None = None,
    conventions: Conventions = "betabench",
) -> AuditResult:
    """Return the audit of a table of predictions, as by Saleiro et al. (2018), with all metrics that apply.

    The table has one row per person. The reference, ``tau`` and the conventions are those of
    :class:`benchmark.audit.GroupRates`. The reference may also be a group by attribute, or as text:
    ``"sex=Male,race=White"``. Other attributes then have the largest group, and the cross of attributes has
    the cross of their groups, if it has rows. Rows without a value of the attribute are a group that is
    chosen only by name. Metrics are names of metrics and families; by default all that can be computed from
    the given columns.

    An UnknownNameError means that a column, value, group or metric is unknown. An ExperimentError means that
    it is not clear who is selected, that a column has two roles, or that ``tau`` is not in (0, 1]. A
    DataError means that a column has values that do not fit its role, or that no row is left.

    Examples
    --------
    >>> frame = pd.DataFrame({"hired": [1, 0, 1, 1], "fit": [1, 1, 0, 1], "sex": ["f", "f", "m", "m"]})
    >>> columns = Columns(label="fit", prediction="hired", sensitive="sex")
    >>> audit = audit_predictions(frame, columns, reference={"sex": "m"})
    >>> audit.groups[["group", "n", "selection_rate"]].values.tolist()
    [['f', 2, 0.5], ['m', 2, 1.0]]
    """
    if conventions not in get_args(Conventions):
        raise UnknownNameError("convention", conventions, get_args(Conventions))
    names = None if metrics is None else metric_names(metrics)
    if names == ():
        raise ExperimentError(
            "No metric is named",
            expected="names of metrics or families, or None for all that apply",
            got="an empty list",
            remedy="name one, or leave the list out",
        )
    prepared = prepare(frame, columns)
    references = _references(reference, prepared)
    rates = [
        GroupRates(rows, attribute, references[attribute], prepared.unknown[attribute], tau, conventions)
        for attribute, rows in prepared.predictions.items()
    ]
    notes = [*prepared.notes]
    if columns.weight is not None:
        notes.append("rows have weights: whether differences are due to chance is not tested")
    for own in rates:
        notes += remarks_on_groups(own.groups, own.attribute)
    return AuditResult(
        groups=pd.concat([own.groups for own in rates], ignore_index=True),
        metrics=pd.concat([own.metrics(names) for own in rates], ignore_index=True),
        disparities=pd.concat([own.disparities for own in rates], ignore_index=True),
        verdicts=pd.concat([own.verdicts for own in rates], ignore_index=True),
        parity=pd.concat([own.parity for own in rates], ignore_index=True),
        missing=prepared.missing,
        notes=tuple(notes),
        facts={
            **prepared.facts,
            "metrics": list(names or ()),
            "tau": tau,
            "conventions": conventions,
            "reference": references,
            "unknown": {attribute: sorted(names) for attribute, names in prepared.unknown.items() if names},
            "versions": {"betabench": VERSION, "numpy": np.__version__, "pandas": pd.__version__},
        },
    )


def _references(reference: str | Mapping[Any, Any] | None, prepared: ReadyTable) -> dict[str, str]:
    """Return the reference group of each attribute, or the way of choosing it."""
    predictions = prepared.predictions
    if reference is None or reference in CHOSEN:
        return dict.fromkeys(predictions, str(reference or "majority"))
    if isinstance(reference, str):
        named = _named_in(reference, {name: rows.names for name, rows in predictions.items()})
    else:
        named = {str(attribute): group_name(group) for attribute, group in reference.items()}
    for attribute, group in named.items():
        if attribute not in predictions:
            raise UnknownNameError("sensitive attribute", attribute, predictions)
        if group in CHOSEN and group in predictions[attribute].names:
            raise ExperimentError(
                f"The reference of {attribute!r} can mean two things",
                expected="a group that is not called 'majority' or 'minimum', which are ways of choosing one",
                got=f"{group!r}, which is both",
                remedy="rename the group",
            )
    references = {attribute: named.get(attribute, "majority") for attribute in predictions}
    if prepared.crossed:
        *parts, crossed = references
        cell = prepared.crossed.get(tuple(named.get(part, "") for part in parts), "majority")
        references[crossed] = named.get(crossed, cell)
    return references


def _named_in(text: str, groups: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return the reference groups that a text names; names and groups may have commas and equals signs."""
    pairs: dict[str, set[tuple[str, str]]] = {}
    for name, group in ((name, group) for name, own in groups.items() for group in (*own, *CHOSEN)):
        pairs.setdefault(f"{name}={group}", set()).add((name, group))
    chosen: dict[str, str] = {}
    for pair in values_in_list(text, pairs.__contains__, "reference") or [text]:
        if pair not in pairs:
            raise UnknownNameError("reference group", pair, (*CHOSEN, *pairs))
        [(name, group), *others] = sorted(pairs[pair])
        if others or name in chosen:
            raise ExperimentError(
                "The reference groups cannot be read",
                expected="majority, minimum, or COLUMN=GROUP,COLUMN=GROUP,... with one group for a column",
                got=repr(text),
                remedy="in Python, give audit_predictions a dictionary as reference" if others else None,
            )
        chosen[name] = group
    return chosen
