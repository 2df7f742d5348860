"""The lines of Python that apply a technique to data, as pages and terminals print them."""

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
_MERGED = re.compile(r".* and \d+ more|other|missing")  # names that a draft gives to several values


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

    Parameters
    ----------
    technique : str
        Its registered name.
    data : str
        The name of a CSV file, or of a dataset's card, shipped (``"adult"``) or a file (``"card.toml"``).
    label, sensitive : str
        Columns of the outcome and of the groups.
    favorable, deprived : str or sequence of str
        Values of these that are favorable, and deprived.
    parameters : mapping, optional
        The technique's parameters that are not left at their defaults.
    classifier : str or mapping, default "c45"
        As :class:`~benchmark.estimator.fair_classifier.FairClassifier` takes it; "" to leave it out.
    reading : mapping of str to str, optional
        How a CSV file is read, by pandas' names, where that is not the usual way.
    only : mapping of str to sequence of str, optional
        By column, the values of the rows that are kept.
    without : sequence of str, default ()
        Columns that are no features.
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
    if len(made := f"model = FairClassifier({whole})") <= _WIDTH:
        lines.append(made)
    else:
        rows = [whole] if len(whole) <= _WIDTH - 4 else [f"{one}," for one in given]
        lines += ["model = FairClassifier(", *(f"    {row}" for row in rows), ")"]
    lines += ["model.fit(X, y)", "decisions = model.predict(X)  # or of new rows with the same columns"]
    found = find_technique(technique)
    if found is not None and found.stage == "pre":
        lines.append("rows, labels, weights = model.prepare(X, y)  # to train something else on")
    return "\n".join(lines) + "\n"


def card_snippet(card: Card, name: str, technique: str, **settings: Any) -> str:
    """Return the lines for a dataset that has a card, ``name`` being what the card is found by.

    A single CSV file that the card names by its path is read as it is, if values of the file can be told from
    the states; other data are read by the card. ``settings`` are others of :func:`snippet`. Empty where the
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
    )
    plain = plain and all(_is_plain(column, spec) for column, spec in card.columns.items())
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
    """Whether a column is in the file under its name, and its numbers are written as Python reads them."""
    if spec.source not in (None, column) or isinstance(spec, CategoricalColumn):
        return spec.source in (None, column)
    # A number that stands for a missing value would be taken for one.
    written = spec.decimal in (None, ".") and spec.thousands is None and spec.unit is None
    return written and all(as_number(value) is None for value in spec.values)


def _values(card: Card, column: str, states: Sequence[str]) -> list[str]:
    """Return the values of a column of the file that have one of the states; none if they are not listed."""
    spec = card.columns[column]
    if not isinstance(spec, CategoricalColumn) or spec.others in states:
        return []
    found: list[str] = []
    for state in states:
        listed = [value for value, own in spec.values.items() if own == state]
        merged = _MERGED.fullmatch(state) is not None or {*state.split(" or ")} == {*listed}
        found += listed if listed and merged else [state, *listed]
    return found


def _several(values: str | Sequence[str]) -> list[str]:
    return [values] if isinstance(values, str) else list(values)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(str(key))}: {_value(own)}" for key, own in value.items()) + "}"
    return _text(value) if isinstance(value, str) else repr(value)


def _texts(values: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, values))}]"
