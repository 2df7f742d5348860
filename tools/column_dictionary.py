"""Dictionaries of columns in ``results/README.md`` and ``docs/atlas.md``: this tool writes both.

Which files have a column comes from the code. ``tools/column_dictionary.toml`` has the meanings of a run's
columns, and :data:`studies.atlas.description.MEANINGS` those of an atlas's columns.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmark import columns
from benchmark.audit.alternation import ALTERNATION_COLUMNS
from benchmark.runs.analysis import GAP_COLUMNS, folder_statistics
from benchmark.runs.finished import SUMMARY_COLUMNS
from benchmark.statistics.cells import PLANTED
from benchmark.statistics.restoration import RESTORATION_COLUMNS
from benchmark.statistics.tuning import REGRET_COLUMNS
from benchmark.statistics.unprocessing import FRONTIER_GAP_COLUMNS
from benchmark.text.markdown import table as as_table
from benchmark.text.words import few
from studies.atlas import description as atlas
from studies.pages import with_part

__all__ = ["ATLAS_PAGE", "MEANINGS", "PAGE", "atlas_dictionary", "dictionary", "files", "unexplained"]

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "results" / "README.md"
ATLAS_PAGE = ROOT / "docs" / "atlas.md"
MEANINGS = Path(__file__).with_suffix(".toml")
SMALL = ROOT / "results" / "auc_gap"
"""A committed run; its statistics have the columns of files that no constant lists."""

MOST_NAMED = 4
"""Files that are named beside a column; of more, their number."""

_BEGIN, _END = "<!-- columns: python -m tools.column_dictionary -->", "<!-- columns end -->"


@cache
def files() -> Mapping[str, Sequence[str]]:
    """Return the columns of each file of a run, by its name; those of statistics stand in a folder."""
    counts = (*columns.DECISION_COLUMNS[: -len(columns.DECISION_COUNTS)], "deprived_0000", "favored_1111")
    run = {
        "results.csv": columns.RESULT_COLUMNS,
        "metrics.csv": columns.METRIC_COLUMNS,
        "failures.csv": columns.FAILURE_COLUMNS,
        "summary.csv": SUMMARY_COLUMNS,
        "convergence.csv": columns.CONVERGENCE_COLUMNS,
        columns.FOLDS_NAME: columns.FOLD_COLUMNS,
        columns.FRONTIER_NAME: columns.FRONTIER_COLUMNS,
        columns.GROUPS_NAME: columns.GROUP_COLUMNS,
        columns.DECISIONS_NAME: counts,
        columns.DOSES_NAME: columns.DOSE_COLUMNS,
        columns.TUNING_NAME: columns.TUNING_COLUMNS,
    }
    statistics = {name: tuple(frame.columns) for name, frame in folder_statistics(SMALL).frames.items()}
    statistics |= {
        "restoration": RESTORATION_COLUMNS,
        "groups": GAP_COLUMNS,
        "regret": REGRET_COLUMNS,
        "frontier_gaps": FRONTIER_GAP_COLUMNS,
    }
    run |= {f"statistics/{name}.csv": found for name, found in statistics.items()}
    for (
        name,
        held,
    ) in run.items():  # what a file has besides where an experiment has doses, hides bias, and tells
        solved = ("beta",) * ({*PLANTED} <= {*held} and "beta" not in held)
        hidden = (columns.HIDDEN,) * ("bias" in held)
        knows = (columns.KNOWS,) * ("technique" in held)
        run[name] = (*held, *solved, *hidden, *knows)
    summary = ("case", "change", "folds_up", "folds_down", "folds", "kl_folds", "kl_min", "kl_max")
    run["alternation/*.csv"] = tuple(dict.fromkeys((*summary, *ALTERNATION_COLUMNS)))
    return run


class _Meaning(NamedTuple):
    """Columns with one meaning, and the files that it is for; without files, all that no other names."""

    names: tuple[str, ...]
    meaning: str
    files: tuple[str, ...] = ()


@cache
def _meanings() -> tuple[_Meaning, ...]:
    entries = tomllib.loads(MEANINGS.read_text(encoding="utf-8"))["column"]
    return tuple(_Meaning(tuple(e["names"]), e["meaning"], tuple(e.get("files", ()))) for e in entries)


def _explaining(file: str, name: str) -> list[_Meaning]:
    """Return the meanings of a file's column: those that name the file, or else those that name none."""
    entries = [entry for entry in _meanings() if name in entry.names]
    return [e for e in entries if file in e.files] or [e for e in entries if not e.files]


def unexplained() -> list[str]:
    """Return what is wrong: columns without a meaning or with two, and meanings of no column."""
    found = {(file, name): _explaining(file, name) for file, held in files().items() for name in held}
    wrong = [
        f"{file}, {name}: {len(those)} meanings" for (file, name), those in found.items() if len(those) != 1
    ]
    used = {(entry, name) for (_, name), those in found.items() for entry in those}
    return wrong + [f"{name}: no column" for e in _meanings() for name in e.names if (e, name) not in used]


def _where(places: Sequence[str]) -> str:
    if len(places) > MOST_NAMED:
        return f"{len(places)} files"
    short = {file: file.removeprefix("statistics/") for file in places}
    return ", ".join(f"`{file if name in files() else name}`" for file, name in short.items())


def dictionary() -> str:
    """Return the table of all columns, by name."""
    places = {
        entry: [file for file, held in files().items() if any(entry in _explaining(file, n) for n in held)]
        for entry in _meanings()
    }
    rows = [
        (", ".join(f"`{name}`" for name in entry.names), _where(places[entry]), entry.meaning)
        for entry in sorted(_meanings(), key=lambda entry: entry.names[0])
    ]
    return as_table(["column", "in", "meaning"], rows)


def atlas_dictionary() -> str:
    """Return the table of the columns of an atlas, by its tables."""
    rows = [
        (f"`{name}`", few([f"`{file}`" for file, held in atlas.TABLES.items() if name in held], 3), meaning)
        for name, meaning in atlas.MEANINGS.items()
    ]
    return as_table(["column", "in", "meaning"], rows)


def main() -> None:
    """Write the dictionaries into their pages."""
    if wrong := unexplained():
        raise SystemExit("\n".join(wrong))
    for path, content in ((PAGE, dictionary()), (ATLAS_PAGE, atlas_dictionary())):
        page = path.read_text(encoding="utf-8")
        path.write_text(with_part(page, _BEGIN, f"\n{content}\n", _END), encoding="utf-8")


if __name__ == "__main__":
    main()
