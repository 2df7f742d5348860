"""Biased samples as files, for pipelines outside this package."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark.bias import Bias, Planted, Rows
from benchmark.bias.edits import BiasEdit
from benchmark.data import Table
from benchmark.data.card import Card
from benchmark.errors import BiasError, ExperimentError
from benchmark.experiment.versions import package_versions
from benchmark.experiment.world import describe_bias, network_digest
from benchmark.network.model import Network
from benchmark.seeding import generator
from benchmark.text.files import write_json


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


def draw_sample(
    card: Card, network: Network, *, bias: Bias, beta: float, rows: int, seed: int
) -> tuple[Rows, Planted]:
    """Draw a biased sample of a network; parameters and errors as for :func:`write_sample`."""
    rng = generator(seed, purpose="sample file", dataset=card.name, beta=float(beta))
    planted = bias.plant(network, beta)
    return planted.draw_rows(rows, rng), planted


def write_sample(
    path: Path,
    card: Card,
    network: Network,
    *,
    bias: Bias,
    beta: float,
    rows: int,
    seed: int,
    network_source: str,
) -> dict[str, Any]:
    """Draw a sample of a biased network, write it, and write beside it how it was made.

    The ending of ``path`` chooses the format: ``.csv``, ``.parquet`` or ``.arff``. ``network`` is the learned
    one, and ``network_source`` says for the sidecar where it comes from. Returns what the sidecar
    ``<path>.json`` holds, and its path under ``sidecar``. An ExperimentError says that the ending is unknown,
    or that pyarrow is missing for ``.parquet``; BiasError and NetworkError, that an edit, beta or the number
    of rows is invalid.
    """
    writers = {".csv": _write_csv, ".parquet": _write_parquet, ".arff": _write_arff}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise ExperimentError(
            "The ending of a file tells its format",
            expected="a name ending in " + ", ".join(writers),
            got=repr(path.name),
        )
    sample, planted = draw_sample(card, network, bias=bias, beta=beta, rows=rows, seed=seed)
    table, found = sample.table, sample.discrimination
    path.parent.mkdir(parents=True, exist_ok=True)
    writer(table, path)
    sidecar = path.with_name(path.name + ".json")
    facts = {
        "file": path.name,
        "dataset": card.name,
        "rows": rows,
        "seed": seed,
        "beta": float(beta),
        "bias": describe_bias(bias),
        "planted": bias.description(network),
        "edits": [str(edit) for edit in bias.edits],
        "acting_edits": [str(edit) for edit in bias.acting_edits(network)],
        **card.roles,
        "network": network_source,
        "network_digest": network_digest(planted.network),
        "expected": asdict(planted.expected),
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
