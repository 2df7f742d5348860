"""Random tables, textbook scores, and the oracle tables with other programs' answers."""

import functools
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.data.card_parts import NetworkSettings, ScoreName
from benchmark.network.search import Structure, learn_structure
from benchmark.network.structure_scores import SetScores, collapse

TABLES = ("compas", "adult", "dutch")
BESIDE = ("required_edges", "forbidden_edges", "rng", "names")


def learn(codes: NDArray[np.int16], cardinalities: Any, **given: Any) -> Structure:
    """Call :func:`learn_structure`, its settings by name."""
    beside = {"rng": np.random.default_rng(0)} | {name: given.pop(name) for name in BESIDE if name in given}
    return learn_structure(codes, cardinalities, NetworkSettings(**given), **beside)


def edges_of(structure: Structure) -> tuple[tuple[int, int], ...]:
    """Return the edges as (parent, child), ascending."""
    return tuple(sorted((p, child) for child, parents in enumerate(structure.parents) for p in parents))


@functools.cache
def oracle_table(oracle_dir: Path, name: str) -> tuple[NDArray[np.int16], tuple[int, ...], tuple[str, ...]]:
    """Return codes, cardinalities and column names of a table; states in sorted order."""
    frame = pd.read_csv(oracle_dir / "tables" / f"{name}.csv.gz", dtype=str, keep_default_na=False)
    codes = np.empty(frame.shape, dtype=np.int16, order="F")
    cardinalities = []
    for i, column in enumerate(frame):
        states, codes[:, i] = np.unique(frame[column].to_numpy(dtype=str), return_inverse=True)
        cardinalities.append(len(states))
    codes.flags.writeable = False
    return codes, tuple(cardinalities), tuple(frame.columns)


def oracle_parents(oracle_dir: Path, arcs: str, names: tuple[str, ...]) -> list[list[int]]:
    """Return the parents of each column in a published arc list."""
    parents: list[list[int]] = [[] for _ in names]
    for row in pd.read_csv(oracle_dir / "networks" / f"{arcs}.arcs.csv", dtype=str).itertuples(index=False):
        parents[names.index(row[1])].append(names.index(row[0]))
    return parents


def oracle_score(oracle_dir: Path, table: str, engine: str, algorithm: str, score: str) -> pd.Series:
    """Return one row of the published scores."""
    rows = pd.read_csv(oracle_dir / "networks" / "scores.csv")
    found = rows[
        (rows["table"] == table)
        & rows["engine"].str.startswith(engine)
        & (rows["algorithm"] == algorithm)
        & (rows["score"] == score)
    ]
    assert len(found) == 1
    return found.iloc[0]


def random_codes(seed: int, n_rows: int, cardinalities: list[int]) -> NDArray[np.int16]:
    """Draw dependent columns: each repeats the one before in half of the rows."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, r, n_rows) for r in cardinalities], axis=1)
    for i in range(1, len(cardinalities)):
        copied = rng.random(n_rows) < 0.5
        codes[copied, i] = codes[copied, i - 1] % cardinalities[i]
    return codes.astype(np.int16)


def textbook_score(
    codes: NDArray[np.int16], cardinalities: list[int], child: int, parents: list[int], score: str, ess: float
) -> float:
    """Score a family by the printed formulas, configuration by configuration."""
    q = math.prod(cardinalities[p] for p in parents)
    r = cardinalities[child]
    counts: dict[tuple[int, ...], list[int]] = {}
    for row in codes.tolist():
        counts.setdefault(tuple(row[p] for p in parents), [0] * r)[row[child]] += 1
    total = 0.0
    for cell in counts.values():
        n = sum(cell)
        if score == "bic":
            total += sum(k * math.log(k / n) for k in cell if k)
        else:
            total += math.lgamma(ess / q) - math.lgamma(ess / q + n)
            total += sum(math.lgamma(ess / (q * r) + k) - math.lgamma(ess / (q * r)) for k in cell)
    return total - (math.log(len(codes)) / 2 * (r - 1) * q if score == "bic" else 0.0)


def structure_score(
    codes: NDArray[np.int16],
    cardinalities: Any,
    parents: Sequence[Iterable[int]],
    *,
    score: ScoreName = "bic",
) -> float:
    """Return the score of a structure in nats, of which each column has these parents."""
    masks = [sum(1 << parent for parent in own) for own in parents]
    return SetScores(collapse(codes, cardinalities), score).structure(masks)
