"""Pages about kinds of bias, from their docstrings and from what they make of the shipped networks."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from benchmark.bias import BiasKind, list_bias_kinds, make_bias
from benchmark.data.card import load_card
from benchmark.errors import BiasError
from benchmark.experiment.plan import default_edits
from benchmark.experiment.prepare import learned_network
from benchmark.network.model import Network
from benchmark.text.markdown import code, plain, table
from benchmark.text.words import number
from website.comments import field_comments
from website.docstrings import in_markdown

__all__ = ["bias_pages", "parameter_rows"]

_SHOWN = ("adult", "compas", "dutch")
_BETAS = (0.0, 0.25, 0.5, 0.75, 1.0)


def bias_pages() -> dict[str, str]:
    """Return the pages of all kinds of this package and their index, by file name."""
    package = BiasKind.__module__.rpartition(".")[0] + "."
    ours = {name: kind for name, kind in list_bias_kinds().items() if kind.__module__.startswith(package)}
    networks = {name: learned_network(load_card(name))[0] for name in _SHOWN}
    rows = [(f"[{code(name)}]({name}.md)", plain(kind.summary)) for name, kind in ours.items()]
    index = [
        "# Kinds of bias",
        "What they are for, how they compose, and how to add one: [Plant another bias](../adding/bias.md).",
        table(("kind", "what it does with its default parameters"), rows),
    ]
    pages = {f"{name}.md": "\n\n".join(_page(kind, networks)) + "\n" for name, kind in ours.items()}
    return {"README.md": "\n\n".join(index) + "\n", **pages}


def _page(kind: type[BiasKind], networks: dict[str, Network]) -> Iterator[str]:
    yield f"# {kind.name}"
    yield in_markdown(inspect.getdoc(kind) or "")
    yield f"With its defaults: {plain(kind.summary)}. Version {plain(kind.version)}."
    if rows := list(parameter_rows(kind)):
        yield "## Parameters"
        yield table(("name", "default", "meaning"), rows)
    yield "## What it makes of the shipped networks"
    yield (
        "Discrimination expected in samples of the embedded networks, "
        "P(favorable label | favored) - P(favorable label | deprived), at each β:"
    )
    yield table(("dataset", *(f"β = {beta:g}" for beta in _BETAS)), list(_expected(kind, networks)))
    yield "## Citation"
    yield plain(kind.reference) + "."
    yield "[All kinds of bias](README.md)"


def parameter_rows(kind: type[BiasKind]) -> Iterator[tuple[str, ...]]:
    """Yield name, default and meaning of each parameter; the meaning is the field's comment."""
    for name, comment in field_comments(kind).items():
        meaning = in_markdown(" ".join(comment.split()))
        yield code(name), code(repr(kind.model_fields[name].default)), meaning[:1].upper() + meaning[1:]


def _expected(kind: type[BiasKind], networks: dict[str, Network]) -> Iterator[tuple[str, ...]]:
    for name, network in networks.items():
        step = kind.example(network.schema)
        if "edits" in kind.model_fields:
            step = step.model_copy(update={"edits": default_edits(load_card(name))})
        try:
            shown = [make_bias(step).plant(network, beta).expected for beta in _BETAS]
        except BiasError as error:
            yield (code(name), f"not on a network: {plain(error.what)}", *[""] * (len(_BETAS) - 1))
        else:
            yield (code(name), *(number(expected.discrimination) for expected in shown))
