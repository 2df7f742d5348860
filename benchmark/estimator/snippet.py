"""The lines of Python on pages and in terminals that apply a technique to data."""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from benchmark.data.card import Card
from benchmark.techniques import find_technique

_WIDTH = 100


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
    told: Mapping[str, Any] | None = None,
    plugins: Sequence[str] = (),
) -> str:
    """Return about ten lines of Python that apply a technique to data.

    ``data`` is a CSV file, or a dataset's card: a shipped card (``"adult"``) or a file (``"card.toml"``).
    ``label`` and ``sensitive`` are columns, ``favorable`` and ``deprived`` some of their values.
    ``parameters`` are the technique's, if not at their defaults. ``classifier`` is as of
    :class:`~benchmark.estimator.fair_classifier.FairClassifier`, and so is what the technique is ``told``; ""
    leaves the classifier out. ``plugins`` are files that register the technique.
    """
    loading = ["from benchmark.techniques import load_plugin"] if plugins else []
    loads = [f"load_plugin({plugin!r})" for plugin in plugins]
    if by_card := PurePath(data).suffix in ("", ".toml"):
        lines = [*loading, "from benchmark import FairClassifier, load_dataset", "", *loads]
        lines += [f"dataset = load_dataset({_code(data)})", "frame = dataset.to_frame()"]
    else:
        lines = ["import pandas", "", *loading, "from benchmark import FairClassifier", "", *loads]
        lines.append(f"frame = pandas.read_csv({_code(data)}, dtype=str, keep_default_na=False)")
    lines += [
        f"X = frame.drop(columns={_code([label])})",
        f"y = frame[{_code(label)}].isin({_code(_several(favorable))})  # True is favorable",
    ]
    members = _several(deprived)
    settings = {
        "sensitive": sensitive,
        "deprived": members[0] if len(members) == 1 else members,
        "parameters": parameters,
        "classifier": classifier,
        "told": told,
    }
    given = [_code(technique), *(f"{name}={_code(value)}" for name, value in settings.items() if value)]
    whole = ", ".join(given)
    if len(call := f"model = FairClassifier({whole})") <= _WIDTH:
        lines.append(call)
    else:
        rows = [whole] if len(whole) <= _WIDTH - 4 else [f"{argument}," for argument in given]
        lines += ["model = FairClassifier(", *(f"    {row}" for row in rows), ")"]
    new = "of the file: dataset.states(new)" if by_card else "with the same columns"
    lines += ["model.fit(X, y)", f"decisions = model.predict(X)  # or of new rows {new}"]
    technique_class = find_technique(technique)
    if technique_class is not None and technique_class.stage == "pre":
        lines.append("rows, labels, weights = model.prepare(X, y)  # to train something else on")
    return "\n".join(lines) + "\n"


def card_snippet(card: Card, name: str, technique: str, **settings: Any) -> str:
    """Return the lines for a dataset with a card, which is loaded by ``name``, so that its file is read once.

    ``settings`` are further arguments of :func:`snippet`. The result is empty if the deprived group is an
    intersection of several columns, which the estimator does not take.
    """
    states = dict(card.schema().deprived_states)
    if len(states) > 1:
        return ""
    sensitive = card.sensitive_feature
    deprived = states.get(sensitive, (card.roles["deprived_group"],))
    roles: dict[str, Any] = {"label": card.label, "sensitive": sensitive, "deprived": deprived}
    return snippet(technique, name, favorable=card.favorable_label, **roles, **settings)


def _several(values: str | Sequence[str]) -> list[str]:
    return [values] if isinstance(values, str) else list(values)


def _code(value: object) -> str:
    """Return a value as Python, with texts in double quotes."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_code(str(key))}: {_code(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        items = ", ".join(map(_code, value))
        return f"[{items}]" if isinstance(value, list) else f"({items})"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
