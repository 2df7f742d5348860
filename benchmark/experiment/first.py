"""The experiment of ``betabench quick``: a first look at data that nobody has tried."""

from __future__ import annotations

import json

MOST_ROWS = 50_000
"""Rows of a training sample, of a larger table."""

_TECHNIQUES = (
    *("none", "drop_sensitive", "reweighing", "massaging", "preferential_sampling"),
    *("exponentiated_gradient", "equalized_odds", "threshold_optimizer"),
)

REPETITIONS = 10
"""Samples at each level of bias: the fewest that can be sure of seven techniques at three levels."""

_FILE = """\
# Written by betabench quick; "betabench run --experiment experiment.toml --output ." goes on from here.
name = {name}
title = {title}
seed = 1
repetitions = {repetitions}
betas = [0.0, 0.25, 0.5]
{rows}# Seconds for one technique on one sample: what takes longer has no result.
time_limit = 60.0
datasets = [{{ card = "card.toml", name = {name} }}]
techniques = [{techniques}]

# The paper's bias: the learned probability of the favorable label falls for the deprived group.
[bias]
kind = "cpt"
edits = [{{ attribute = {sensitive}, group = {deprived} }}]
"""


def first_experiment(
    name: str, title: str, sensitive: str, deprived: str, n_rows: int, repetitions: int = REPETITIONS
) -> str:
    """Return the experiment's file, for a card ``card.toml`` beside it."""
    rows = (
        f"# Of {n_rows:,}, so that it takes minutes.\ntrain_rows = {MOST_ROWS}\n"
        if n_rows > MOST_ROWS
        else ""
    )
    named = {"name": name, "title": title, "sensitive": sensitive, "deprived": deprived}
    quoted = {
        key: json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F") for key, value in named.items()
    }
    return _FILE.format(
        rows=rows, repetitions=repetitions, techniques=", ".join(f'"{t}"' for t in _TECHNIQUES), **quoted
    )
