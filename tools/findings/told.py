"""What must you know to undo a bias? Numbers, findings, figure, claims, and the table that the package ships.

``python -m tools.findings.told`` writes all of it anew from the atlas's table of means, and
``tests/findings/test_told.py`` holds it. ``experiments/atlas.toml`` has the rules. Below :data:`FEWEST` sources
no primary contrast is written. Another table of means can be named, to look at a run that goes on.

Columns of ``benchmark/statistics/told.csv`` are :data:`COLUMNS`. A row is a learner, a dose and something that
is known: ``fact`` is of :data:`benchmark.techniques.knowledge.FACTS`, ``m`` how many people were looked at
again, ``factor`` the told gap as a multiple of the planted one. Numbers are means over ``sources`` with label and
borderline bias. ``*_gain`` is how much better ``technique`` is than doing nothing, with its interval. At
``break_even`` times the true gap, telling it gains nothing; it is empty if no measured multiple is so large.
``break_even_low`` is the least that the interval allows. ``harm_*`` is what is lost where nothing was planted and
this gap is feared, or a tenth of the refusals is misjudged: agreement, accuracy, and refusals of the deprived
group that become acceptances.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "benchmark" / "statistics" / "told.csv"
FEWEST = 30
"""Sources without which no primary contrast is written."""

COLUMNS = (
    *("learner", "dose", "fact", "m", "factor", "technique", "sources"),
    *(f"distance_{name}" for name in ("nothing", "refit", "told", "gain", "gain_low", "gain_high")),
    *(f"agreement_{name}" for name in ("nothing", "refit", "told", "gain", "gain_low", "gain_high")),
    *("break_even", "break_even_low", "harm_agreement", "harm_accuracy", "harm_acceptance"),
)
"""Columns of the table that the package ships."""


def pages() -> dict[Path, bytes]:
    """Return the pages, by their files; none before the run."""
    return {}
