"""One Markdown page for each dataset, from its card and its shipped network, and an index of them.

A page says nothing that card and network do not say: what is wrong with it is corrected in ``datasets/``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmark.data.card import Card, list_cards
from benchmark.data.card_parts import CategoricalColumn, NumericColumn
from benchmark.experiment.prepare import embedded_network_path
from benchmark.figures.network import draw_network
from benchmark.figures.style import render
from benchmark.network.bif import read_bif
from benchmark.network.model import Network, group_rates
from benchmark.runs.manifest import DatasetDescription, LearnedNetwork
from benchmark.text.markdown import code, plain, table
from website.links import link_to

__all__ = ["DATASETS_PAGE", "dataset_figures", "dataset_page", "dataset_pages"]

DATASETS_PAGE = "README.md"


def dataset_pages(folder: Path, root: Path) -> dict[str, str]:
    """Return the pages of all shipped datasets, and the index, by file name.

    Parameters
    ----------
    folder : Path
        Where they are to lie: links start there.
    root : Path
        Source tree.
    """
    cards = list_cards()
    pages = {f"{card.name}.md": dataset_page(card, folder, root) for card in cards}
    return {DATASETS_PAGE: _index_page(cards), **pages}


def dataset_figures() -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files that the pages show: the shipped networks, in PNG."""
    for card in list_cards():
        if (path := embedded_network_path(card)) is not None:
            network = read_bif(path, card.schema())
            yield _figure_name(card), render(draw_network(_described(card, network)), "png")


def _described(card: Card, network: Network) -> DatasetDescription:
    """Return a shipped network without bias, as :func:`~benchmark.figures.network.draw_network` takes it."""
    return DatasetDescription(
        name=card.name,
        title=card.title,
        embedded=False,
        warning=card.warning,
        columns=network.schema.names,
        network=LearnedNetwork(edges=network.edges),
        sensitive_feature=card.sensitive_feature,
        deprived_group=card.roles["deprived_group"],
        label=card.label,
        favorable_label=card.roles["favorable_label"],
    )


def _figure_name(card: Card) -> str:
    return f"{card.name}_network.png"


def dataset_page(card: Card, folder: Path, root: Path) -> str:
    """Return the page of one dataset as Markdown; parameters as for :func:`dataset_pages`."""
    blocks = [f"# {plain(card.title)}"]
    if card.warning:
        blocks.append(f"**Warning.** {plain(card.warning)}")
    blocks += [
        plain(card.description),
        table(("property", "value"), _facts(card, folder, root)),
        "## Roles",
        table(("role", "column", "state"), _roles(card)),
    ]
    if card.known_problems:
        blocks += ["## Known problems", "\n".join(f"- {plain(text)}" for text in card.known_problems)]
    blocks += [
        "## Columns",
        "States in the order of their codes. A bin [a, b) of a number holds a and not b, the last one both.",
        table(("column", "kind", "states", "meaning"), _columns(card)),
    ]
    if card.dropped:
        rows = [(", ".join(map(code, group.columns)), plain(group.reason)) for group in card.dropped]
        blocks += ["## Columns left out", table(("columns", "why"), rows)]
    if card.filter:
        rows = [(code(name), ", ".join(map(code, values))) for name, values in card.filter.items()]
        blocks += ["## Rows kept", table(("column", "values"), rows)]
    if card.exclude:
        rows = [(code(name), ", ".join(map(code, values))) for name, values in card.exclude.items()]
        blocks += ["## Rows left out", table(("column", "values"), rows)]
    if card.first_of:
        blocks += ["## First rows", f"Of the rows with the same {code(card.first_of)} the first counts."]
    blocks += ["## Source", *_source(card), "## Network", *_network(card, folder, root)]
    if card.bibtex:
        blocks += ["## Citation", plain(card.citation), f"```bibtex\n{card.bibtex.strip()}\n```"]
    blocks.append(f"[All datasets]({DATASETS_PAGE})")
    return "\n\n".join(blocks) + "\n"


def _index_page(cards: tuple[Card, ...]) -> str:
    rows = [
        (
            f"[{plain(card.title)}]({card.name}.md)",
            code(card.name),
            "" if card.rows is None else f"{card.rows:,}",
            code(f"{card.label} = {card.favorable_label}"),
            code(f"{card.sensitive_feature} = {card.roles['deprived_group']}"),
            plain(card.licence),
        )
        for card in cards
    ]
    head = ("dataset", "name", "rows", "favorable label", "deprived group", "licence")
    intro = (
        "Each is one TOML card in `datasets/`. Rows are never part of the repository: they are found or "
        "downloaded and verified, and without them the network that was learned from them stands in."
    )
    more = "[All sources](../sources.md) has field, country, years and rates, and what each is not for."
    return "\n\n".join(["# Datasets", intro, more, table(head, rows)]) + "\n"


def _facts(card: Card, folder: Path, root: Path) -> Iterator[tuple[str, str]]:
    yield "name", code(card.name)
    if card.rows is not None:
        yield "rows", f"{card.rows:,}"
    about = {"field": card.field, "country": card.country, "years": card.years, "not for": card.not_for}
    yield from ((name, plain(text)) for name, text in about.items() if text)
    yield "licence", plain(card.licence)
    if card.homepage:
        yield "described at", f"<{card.homepage}>"
    if link := card.path and link_to(card.path, folder, root):
        yield "card", f"[{code(card.path.name)}]({link})"
    yield "digest of the card", code(card.digest)


def _roles(card: Card) -> Iterator[tuple[str, ...]]:
    yield "favorable label", code(card.label), code(card.favorable_label)
    yield "deprived group", code(card.sensitive_feature), code(card.roles["deprived_group"])
    if card.score is not None:
        behind = f"{card.score.threshold:g} and more are favorable; no feature"
        yield "number behind the label", code(card.score.column), behind
    if card.judged is not None:
        yield "label as people judged it", code(card.judged.label.source or ""), "no feature"
        yield "who judged, who was judged", ", ".join(map(code, card.judged.sources[1:])), "no features"


def _columns(card: Card) -> Iterator[tuple[str, ...]]:
    for name, column in card.columns.items():
        yield code(name), *_kind_and_states(column), plain(column.description)


def _kind_and_states(column: CategoricalColumn | NumericColumn) -> tuple[str, str]:
    if isinstance(column, CategoricalColumn):
        kind = "ordered" if column.ordered else "categories"
        return f"{kind}, {len(column.states)}", ", ".join(map(code, column.states))
    cuts: dict[str, list[str]] = {state: [] for state in column.states}
    for state, low, high in zip(column.bin_names, column.bins, column.bins[1:], strict=False):
        cuts[state].append(f"[{low:g}, {high:g})")
    # States without a bin are those of values that are no numbers.
    named = [f"{code(state)} {plain(' '.join(own) or 'no number')}" for state, own in cuts.items()]
    return f"number in {len(column.bins) - 1} bins", ", ".join(named)


def _source(card: Card) -> Iterator[str]:
    for file in card.source.all_files:
        rows = [("file", code(file.name or file.path))]
        if file.url:
            rows.append(("address", f"<{file.url}>"))
        if file.member:
            rows.append(("in the archive", " → ".join(map(code, file.member))))
        if file.sha256:
            rows.append(("SHA-256", code(file.sha256)))
        if file.size:
            rows.append(("bytes", f"{file.size:,}"))
        yield table(("property", "value"), rows)
    if card.source.instructions:
        yield plain(card.source.instructions)


def _network(card: Card, folder: Path, root: Path) -> Iterator[str]:
    settings = card.network
    yield f"Learned by {code(settings.algorithm)} search with the score {code(settings.score)}."
    if settings.min_count > 1:
        pooling = link_to(root / "benchmark" / "network" / "learn.py", folder, root)
        how = f"[pooled]({pooling})" if pooling else "pooled"
        yield (
            f"No probability rests on fewer than {settings.min_count} rows: rarer combinations of the "
            f"parents' states, and rarer states under each, are {how}."
        )
    for edges, what in ((card.required_edges, "Required"), (card.forbidden_edges, "Forbidden")):
        if edges:
            yield f"{what} edges: {', '.join(code(f'{parent} → {child}') for parent, child in edges)}."
    path = embedded_network_path(card)
    if path is None:
        return
    network = read_bif(path, card.schema())
    link = link_to(path, folder, root)
    yield f"The learned network is shipped: {f'[{code(path.name)}]({link})' if link else code(path.name)}."
    yield table(("property", "value"), _network_facts(network))
    yield f"![{plain(card.title)}: the learned network]({_figure_name(card)})"


def _network_facts(network: Network) -> Iterator[tuple[str, str]]:
    schema = network.schema
    parents = [schema.names[parent] for parent in network.parents[schema.label_index]]
    favored, deprived = group_rates(network)
    yield "edges", str(len(network.edges))
    yield "free parameters", f"{network.n_parameters:,}"
    yield "parents of the label", ", ".join(map(code, parents)) or "none"
    yield "P(y+ | favored), P(y+ | deprived)", f"{favored:.4f}, {deprived:.4f}"
    yield "discrimination, equation 1", f"{favored - deprived:.4f}"
