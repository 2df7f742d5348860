"""From a coded table to a fitted network."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from benchmark.data.card_parts import NetworkSettings
from benchmark.data.table import Table
from benchmark.errors import NetworkError
from benchmark.network.model import Network, fit_network
from benchmark.network.pooling import fit_pooled
from benchmark.network.search import learn_structure
from benchmark.seeding import generator

_MANY_COLUMNS = 150  # the time grows with the third power of their number


def merge_settings(settings: NetworkSettings, changes: Mapping[str, Any]) -> NetworkSettings:
    """Return settings with every change that is not None.

    A NetworkError means that a value is invalid.
    """
    changed = {name: value for name, value in changes.items() if value is not None}
    try:
        return NetworkSettings.model_validate({**settings.model_dump(), **changed})
    except ValidationError as error:
        flaws = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}, not {e['input']!r}" for e in error.errors())
        raise NetworkError(
            "The network settings are invalid",
            expected="values that the card's section [network] takes",
            got="; ".join(flaws),
            remedy="correct the option or the section 'network'; docs/adding/dataset.md explains it",
        ) from None


def learn_network(
    table: Table,
    settings: NetworkSettings,
    *,
    required_edges: Sequence[tuple[str, str]] = (),
    forbidden_edges: Sequence[tuple[str, str]] = (),
) -> Network:
    """Return a network with a learned graph and probabilities, equal for equal tables and settings.

    The graph has all required and no forbidden edges (parent, child), named by column. An UnknownNameError
    means that an edge names no column, a NetworkError that edges contradict each other or the settings.
    """
    schema = table.schema
    structure = learn_structure(
        table.codes,
        schema.cardinalities,
        settings,
        required_edges=[(schema.index(a), schema.index(b)) for a, b in required_edges],
        forbidden_edges=[(schema.index(a), schema.index(b)) for a, b in forbidden_edges],
        rng=generator(0, purpose="structure search"),
        names=schema.names,
    )
    if settings.min_count > 1:
        return fit_pooled(
            table, structure.parents, min_count=settings.min_count, pseudo_count=settings.pseudo_count
        )
    return fit_network(table, structure.parents, pseudo_count=settings.pseudo_count)


def announcement(table: Table) -> str:
    """Return a line to show before a table's network is learned."""
    minutes = ", which takes minutes" if len(table.schema.columns) > _MANY_COLUMNS else ""
    return f"learning the network of {len(table.schema.columns)} columns{minutes}"
