"""Biased samples as files, for pipelines outside this package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.bias import Bias, Expected, Rows
from benchmark.bias.base import BiasEdit, lacking
from benchmark.bias.borderline import nearness_to_boundary
from benchmark.bias.cpt import CptBias
from benchmark.data import Table
from benchmark.data.card import Card
from benchmark.data.load import load_dataset
from benchmark.data.row_facts import Persons
from benchmark.data.source import Sources
from benchmark.errors import BiasError, ExperimentError
from benchmark.experiment.plan import default_edits, load_bias
from benchmark.experiment.prepare import learned_network
from benchmark.experiment.prepared import describe_bias
from benchmark.experiment.versions import package_versions
from benchmark.network.model import Network
from benchmark.release import RELEASED
from benchmark.seeding import generator
from benchmark.text.croissant import SUFFIX, DescribedTable, croissant
from benchmark.text.words import few
from benchmark.text.writing import write_json

_MOST_STATES = 30


def parse_edit(text: str) -> BiasEdit:
    """Return the edit that ``ATTRIBUTE=GROUP`` or ``ATTRIBUTE=GROUP:favor`` names, or raise a BiasError."""
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


def chosen_bias(card: Card, bias: str | None, edits: Sequence[str], experiment: str | None) -> Bias:
    """Return the bias of a sample: of a kind or file, of edits, or of an experiment's edits.

    Raises the errors of :func:`~benchmark.experiment.plan.load_bias`, and of
    :func:`~benchmark.experiment.plan.default_edits`.
    """
    if bias is not None:
        return load_bias(bias)
    return Bias((CptBias(edits=tuple(map(parse_edit, edits)) or default_edits(card, experiment)),))


@dataclass(frozen=True, eq=False)
class SampleSource:
    """The source of samples: a learned network, or real rows."""

    content: Network | Rows  # without planted bias
    n_rows: int  # number of rows of the real data
    source: str  # origin, for readers
    persons: Persons | None = None  # persons of the real rows, if the card names them

    @classmethod
    def find(cls, card: Card, sources: Sources, *, real: bool = False) -> SampleSource:
        """Return a card's network, shipped or learned, or its real rows.

        A DataError or NetworkError says that the real data are needed and cannot be had.
        """
        if not real:
            network, n_rows, source = learned_network(card, sources)
            return cls(network, n_rows or 0, source)
        dataset = load_dataset(card, sources)
        rows = Rows.of(dataset.table, dataset.score, judged=dataset.judged)
        return cls(rows, len(dataset.table), dataset.source, dataset.persons)


def draw_sample(
    card: Card, origin: SampleSource, *, bias: Bias, beta: float, rows: int | None, seed: int
) -> tuple[Rows, Expected, dict[str, Any]]:
    """Return a biased sample, its expected values, and facts on its origin.

    Parameters and errors are as of :func:`write_sample`.
    """
    if bias.of_audit:  # it chooses the training rows of an experiment, and would change no sample
        raise lacking(next(step.name for step in bias.steps if step.of_audit), "audit")
    rng = generator(seed, purpose="sample file", dataset=card.name, beta=float(beta))
    content, wanted = origin.content, origin.n_rows if rows is None else rows
    if isinstance(content, Network):
        planted = bias.plant(content, beta)
        facts = {
            "planted": bias.description(content),
            "acting_edits": [str(edit) for edit in bias.acting_edits(content)],
            "network": origin.source,
            "network_digest": planted.network.digest,
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
    if origin.persons is None:
        some = np.sort(rng.choice(origin.n_rows, wanted, replace=False))
    else:
        some = _rows_of_some(origin.persons, wanted, rng)
    facts = {"planted": bias.description(None), "real_rows": origin.source}
    return bias.plant_in_rows(content.take(some), beta, rng), expected, facts


def _rows_of_some(persons: Persons, wanted: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return ascending positions of all rows of some persons, drawn at random: at most ``wanted`` rows."""
    order = rng.permutation(len(persons))
    taken = order[np.cumsum(np.bincount(persons.numbers)[order]) <= wanted]
    if not len(taken):
        raise ExperimentError(
            "One person has more rows than the sample",
            expected="a sample of whole persons",
            got=f"{wanted:,} rows",
            remedy="ask for more with --rows, or leave out 'person' in the card",
        )
    return np.flatnonzero(np.isin(persons.numbers, taken))


def write_sample(
    path: Path,
    card: Card,
    origin: SampleSource,
    *,
    bias: Bias,
    beta: float,
    rows: int | None,
    seed: int,
) -> dict[str, Any]:
    """Write a biased sample and its sidecar ``<path>.json``; return the sidecar's content and path.

    The ending of ``path`` chooses the format: ``.csv``, ``.parquet`` or ``.arff``. ``rows`` is the size of
    the sample, by default the data's; a bias may then leave out some real rows. If the card names persons,
    ``rows`` is the most: whole persons are drawn.

    An ExperimentError says that the ending is unknown, or that ``.parquet`` needs pyarrow. A BiasError,
    NetworkError or ExperimentError says that an edit, beta or the number of rows is invalid.
    """
    writers = {".csv": _write_csv, ".parquet": _write_parquet, ".arff": _write_arff}
    if (writer := writers.get(path.suffix.lower())) is None:
        raise ExperimentError(
            "The ending of a file chooses its format",
            expected="a name ending in " + ", ".join(writers),
            got=repr(path.name),
        )
    sample, expected, origin_facts = draw_sample(card, origin, bias=bias, beta=beta, rows=rows, seed=seed)
    table, gap = sample.table, sample.discrimination
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
        **origin_facts,
        **card.roles,
        "expected": asdict(expected),
        "sample_discrimination": None if math.isnan(gap) else gap,
        "sample_digest": table.digest,
        "warning": card.warning,
        "licence_of_the_data": card.licence,
        "citation_of_the_data": card.citation,
        "versions": package_versions(),
    }
    write_json(sidecar, facts)
    write_json(path.with_name(path.name + SUFFIX), _croissant(path, card, table, facts))
    return {**facts, "sidecar": str(sidecar)}


def _croissant(path: Path, card: Card, table: Table, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the Croissant description of a sample: its columns, its planted bias, its limits."""
    expected = facts["expected"]
    columns = {}
    for column in table.schema.columns:
        spec = card.columns.get(column.name)
        about = spec.description if spec is not None else ""
        states = few(column.states, _MOST_STATES, "others")
        columns[column.name] = f"{about}. States: {states}".removeprefix(". ")
    origin = facts.get("real_rows") or facts.get("network")
    return croissant(
        [DescribedTable(path, columns)],
        {
            "dataCollection": f"Drawn by betabench from {origin}, seed {facts['seed']}.",
            "dataBiases": [
                f"Planted on purpose, at level {facts['beta']:g}: {facts['planted']}.",
                f"Expected label gap between the groups: {expected['discrimination']:.4f}.",
                *card.known_problems,
            ],
            "personalSensitiveInformation": [
                f"{card.sensitive_feature}: {facts['deprived_group']} is deprived."
            ],
            "dataUseCases": "To test fairness techniques on a known amount of bias.",
            "dataLimitations": "The bias that the source had before is unknown. Not for decisions on people.",
        },
        name=f"{card.name}_{path.stem}",
        description=f"{card.title}, a sample of {len(table):,} rows with planted bias. {facts['planted']}.",
        license=card.licence or "see the source",
        citeAs=card.bibtex or card.citation,
        version=str(facts["versions"].get("betabench", "")),
        datePublished=RELEASED,
        url=card.homepage,
    )


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
