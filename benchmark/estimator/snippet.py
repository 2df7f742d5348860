"""The lines of Python on pages and in terminals that apply a technique to data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from benchmark.data.card import Card
from benchmark.data.card_parts import CategoricalColumn, ColumnCard
from benchmark.techniques import find_technique
from benchmark.text.words import as_number

_WIDTH = 100
_MERGED = re.compile(r".* and \d+ more|other|missing")  # a draft's names for several values


def snippet(
    technique: str,
    data: str,
    *,
    label: str,
    favorable: str | Sequence[str],
    sensitive: str,
    deprived: str | Sequence[str],
    parameters: Mapping[str, Any] | None = None,
    classifier: str | Mapping[str, Any] = "c45",
    reading: Mapping[str, str] | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
    without: Sequence[str] = (),
) -> str:
    """Return about ten lines of Python that apply a technique to a data frame.

    ``data`` is a CSV file, or a dataset's card: a shipped card (``"adult"``) or a file (``"card.toml"``).
    ``label`` and ``sensitive`` are columns, ``favorable`` and ``deprived`` some of their values.
    ``parameters`` are the technique's, if not at their defaults. ``classifier`` is as of
    :class:`~benchmark.estimator.fair_classifier.FairClassifier`; "" leaves it out. ``reading`` are further
    arguments of pandas' ``read_csv``. ``only`` limits the rows to values by column. ``without`` are columns
    that are no features.
    """
    lines = ["from benchmark import FairClassifier", ""]
    if PurePath(data).suffix in ("", ".toml"):
        lines[:1] = ["from benchmark import FairClassifier, load_dataset"]
        lines.append(f"frame = load_dataset({_text(data)}).to_frame()")
    else:
        lines[:0] = ["import pandas", ""]
        options = "".join(f", {name}={_text(value)}" for name, value in (reading or {}).items())
        lines.append(f"frame = pandas.read_csv({_text(data)}, dtype=str{options})")
    for column, values in (only or {}).items():
        lines.append(f"frame = frame[frame[{_text(column)}].isin({_texts(values)})]")
    lines += [
        f"X = frame.drop(columns={_texts([label, *without])})",
        f"y = frame[{_text(label)}].isin({_texts(_several(favorable))})  # True is favorable",
    ]
    members = _several(deprived)
    settings = {"sensitive": _text(sensitive)}
    settings["deprived"] = _text(members[0]) if len(members) == 1 else _texts(members)
    if parameters:
        settings["parameters"] = _value(parameters)
    if classifier:
        settings["classifier"] = _value(classifier)
    given = [_text(technique), *(f"{name}={value}" for name, value in settings.items())]
    whole = ", ".join(given)
    if len(call := f"model = FairClassifier({whole})") <= _WIDTH:
        lines.append(call)
    else:
        rows = [whole] if len(whole) <= _WIDTH - 4 else [f"{argument}," for argument in given]
        lines += ["model = FairClassifier(", *(f"    {row}" for row in rows), ")"]
    lines += ["model.fit(X, y)", "decisions = model.predict(X)  # or of new rows with the same columns"]
    technique_class = find_technique(technique)
    if technique_class is not None and technique_class.stage == "pre":
        lines.append("rows, labels, weights = model.prepare(X, y)  # to train something else on")
    return "\n".join(lines) + "\n"


def card_snippet(card: Card, name: str, technique: str, **settings: Any) -> str:
    """Return the lines for a dataset with a card, which is loaded by ``name``.

    The lines read a single CSV file if the card names its path, and its values follow from the states. Else
    they load the card. ``settings`` are further arguments of :func:`snippet`. The result is empty if the
    deprived group is an intersection of several columns, which the estimator does not take.
    """
    if len(dict(card.schema().deprived_states)) > 1:
        return ""
    label, sensitive, source = card.label, card.sensitive_feature, card.source
    members = dict(card.schema().deprived_states).get(sensitive, (card.roles["deprived_group"],))
    favorable, deprived = _values(card, label, [card.favorable_label]), _values(card, sensitive, members)
    file, *more = source.files
    plain = (
        source.format == "csv"
        and source.join is None
        and source.decimal == "."
        and source.column_names is None
        and all(_is_plain(column, spec) for column, spec in card.columns.items())
    )
    if file.path is None or file.skip_lines or more or not (plain and favorable and deprived):
        columns: dict[str, Any] = {"label": label, "sensitive": sensitive}
        return snippet(
            technique, name, favorable=card.favorable_label, deprived=members, **columns, **settings
        )
    reading = {"sep": source.delimiter} if source.delimiter != "," else {}
    if source.encoding not in ("utf-8-sig", "utf-8"):
        reading["encoding"] = source.encoding
    return snippet(
        technique,
        PurePath(file.path).name,
        label=label,
        favorable=favorable,
        sensitive=sensitive,
        deprived=deprived,
        reading=reading,
        only=card.filter,
        without=[*card.behind, *(column for group in card.dropped for column in group.columns)],
        **settings,
    )


def _is_plain(column: str, spec: ColumnCard) -> bool:
    """Return whether the file has a column under its name, with numbers that Python reads."""
    if spec.source not in (None, column) or isinstance(spec, CategoricalColumn):
        return spec.source in (None, column)
    # A numeric code for a missing value would be taken for a number.
    written = spec.decimal in (None, ".") and spec.thousands is None and spec.unit is None
    return written and all(as_number(value) is None for value in spec.values)


def _values(card: Card, column: str, states: Sequence[str]) -> list[str]:
    """Return the file's values of a column with one of the states; [] if the card does not list them."""
    spec = card.columns[column]
    if not isinstance(spec, CategoricalColumn) or spec.others in states:
        return []
    values: list[str] = []
    for state in states:
        listed = [value for value, assigned in spec.values.items() if assigned == state]
        merged = _MERGED.fullmatch(state) is not None or {*state.split(" or ")} == {*listed}
        values += listed if listed and merged else [state, *listed]
    return values


def _several(values: str | Sequence[str]) -> list[str]:
    return [values] if isinstance(values, str) else list(values)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(str(key))}: {_value(item)}" for key, item in value.items()) + "}"
    return _text(value) if isinstance(value, str) else repr(value)


def _texts(values: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, values))}]"
