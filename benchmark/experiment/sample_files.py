"""Biased samples as files, for pipelines outside this package."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmark.bias import Bias, Expected, Rows
from benchmark.bias.base import no_audit
from benchmark.bias.borderline import nearness_to_boundary
from benchmark.bias.edits import BiasEdit
from benchmark.data import Table
from benchmark.data.card import Card
from benchmark.data.load import load_dataset
from benchmark.data.source import Sources
from benchmark.errors import BiasError, ExperimentError
from benchmark.experiment.prepare import describe_bias, learned_network, network_digest
from benchmark.experiment.versions import package_versions
from benchmark.network.model import Network
from benchmark.seeding import generator
from benchmark.text.writing import write_json


def parse_edit(text: str) -> BiasEdit:
    """Parse ``ATTRIBUTE=GROUP`` or ``ATTRIBUTE=GROUP:favor``; a BiasError says that it is neither."""
    attribute, equals, rest = text.partition("=")
    group, _, direction = rest.rpartition(":")
    if direction not in {"deprive", "favor"} or not group:
        group, direction = rest, "deprive"
    if not (attribute and equals and group):
        raise BiasError(
            "A bias edit cannot be read",
            expected="ATTRIBUTE=GROUP, ATTRIBUTE=GROUP:deprive or ATTRIBUTE=GROUP:favor",
            got=repr(text),
        )
    return BiasEdit(attribute, group, "favor" if direction == "favor" else "deprive")


@dataclass(frozen=True, eq=False)
class Origin:
    """What a sample is drawn from: a learned network, or real rows."""

    content: Network | Rows  # the network, nothing planted, or the rows
    n_rows: int  # how many rows the real data have
    source: str  # where it comes from, for readers

    @classmethod
    def find(cls, card: Card, sources: Sources, *, real: bool = False) -> Origin:
        """Return a card's network, learned or shipped, or its real rows.

        DataError and NetworkError say that there is no shipped network, or rows are asked for, and the data
        cannot be had.
        """
        if not real:
            network, n_rows, source = learned_network(card, sources)
            return cls(network, n_rows or 0, source)
        dataset = load_dataset(card, sources)
        return cls(
            Rows.of(dataset.table, dataset.score, judged=dataset.judged), len(dataset.table), dataset.source
        )


def draw_sample(
    card: Card, origin: Origin, *, bias: Bias, beta: float, rows: int | None, seed: int
) -> tuple[Rows, Expected, dict[str, Any]]:
    """Draw a biased sample; return what is expected of such, too, and what is known of its origin.

    Parameters and errors are those of :func:`write_sample`.
    """
    if bias.of_audit:  # which rows are trained on, an experiment chooses: in a sample nothing would happen
        raise no_audit(next(step.name for step in bias.steps if step.of_audit))
    rng = generator(seed, purpose="sample file", dataset=card.name, beta=float(beta))
    content, wanted = origin.content, origin.n_rows if rows is None else rows
    if isinstance(content, Network):
        planted = bias.plant(content, beta)
        facts = {
            "planted": bias.description(content),
            "acting_edits": [str(edit) for edit in bias.acting_edits(content)],
            "network": origin.source,
            "network_digest": network_digest(planted.network),
        }
        return planted.draw_rows(wanted, rng), planted.expected, facts
    if not 2 <= wanted <= origin.n_rows:
        raise ExperimentError(
            "There are not as many real rows",
            expected=f"2 to {origin.n_rows:,} rows, some of which the bias may leave out",
            got=f"{wanted:,}",
            remedy="ask for fewer with --rows, or draw from the network",
        )
    if bias.needs_boundary:
        lots = generator(seed, purpose="borderline", dataset=card.name)
        content = replace(content, boundary=nearness_to_boundary(content.table, lots))
    expected = bias.expected_in_rows(content, beta)
    some = np.sort(rng.choice(origin.n_rows, wanted, replace=False))
    facts = {"planted": bias.description(None), "real_rows": origin.source}
    return bias.plant_in_rows(content.take(some), beta, rng), expected, facts


def write_sample(
    path: Path,
    card: Card,
    origin: Origin,
    *,
    bias: Bias,
    beta: float,
    rows: int | None,
    seed: int,
) -> dict[str, Any]:
    """Draw a biased sample, write it, and write beside it how it was made.

    The ending of ``path`` chooses the format: ``.csv``, ``.parquet`` or ``.arff``. ``rows`` is the size of a
    sample of a network, that of the data if it is None; of real rows as many are taken, all if it is None,
    before the bias leaves any out. Returns what the sidecar ``<path>.json`` holds, and its path under
    ``sidecar``. An ExperimentError says that the ending is unknown, or that pyarrow is missing for
    ``.parquet``; BiasError, NetworkError and ExperimentError, that an edit, beta or the number of rows is
    invalid.
    """
    writers = {".csv": _write_csv, ".parquet": _write_parquet, ".arff": _write_arff}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise ExperimentError(
            "The ending of a file tells its format",
            expected="a name ending in " + ", ".join(writers),
            got=repr(path.name),
        )
    sample, expected, known = draw_sample(card, origin, bias=bias, beta=beta, rows=rows, seed=seed)
    table, found = sample.table, sample.discrimination
    path.parent.mkdir(parents=True, exist_ok=True)
    writer(table, path)
    sidecar = path.with_name(path.name + ".json")
    facts = {
        "file": path.name,
        "dataset": card.name,
        "rows": len(table),
        "seed": seed,
        "beta": float(beta),
        "bias": describe_bias(bias),
        "edits": [str(edit) for edit in bias.edits],
        **known,
        **card.roles,
        "expected": asdict(expected),
        "sample_discrimination": None if math.isnan(found) else found,
        "sample_digest": table.digest,
        "warning": card.warning,
        "licence_of_the_data": card.licence,
        "citation_of_the_data": card.citation,
        "versions": package_versions(),
    }
    write_json(sidecar, facts)
    return {**facts, "sidecar": str(sidecar)}


def _write_csv(table: Table, path: Path) -> None:
    table.to_frame().to_csv(path, index=False, lineterminator="\n")


def _write_parquet(table: Table, path: Path) -> None:
    try:
        table.to_frame().to_parquet(path, index=False)
    except ImportError as error:
        remedy = "pip install 'betabench[parquet]', or write .csv"
        raise ExperimentError("Writing Parquet files needs pyarrow", got=str(error), remedy=remedy) from error


def _write_arff(table: Table, path: Path) -> None:
    def quoted(text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"

    states = [[quoted(state) for state in column.states] for column in table.schema.columns]
    columns = [pd.Series(names).take(table.codes[:, i]).to_numpy() for i, names in enumerate(states)]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"@relation {quoted(table.schema.label)}\n\n")
        for column, names in zip(table.schema.columns, states, strict=True):
            file.write(f"@attribute {quoted(column.name)} {{{','.join(names)}}}\n")
        file.write("\n@data\n")
        file.writelines(",".join(row) + "\n" for row in zip(*columns, strict=True))
