"""Words for numbers from an embedded network, the shipped one, instead of real data."""

from collections.abc import Iterable

SUFFIX = ":embedded"
"""Mark of an embedded dataset's name in every result, because CSV files carry nothing but the name."""

FOLDER_SUFFIX = "_embedded"
"""Ending of a run's folder, so that numbers of embedded datasets do not replace those of real data."""

NOT_REAL = "embedded network, not real data"
NOT_REAL_LOUD = NOT_REAL.upper()
"""The same as tables, figures and the terminal write it, before what was done instead."""

NOT_LEARNED = "EMBEDDED NETWORK as shipped, NOT learned from REAL DATA at hand"
"""Label of figures of a network itself."""

OF_NETWORKS = (
    "training rows are samples of learned networks. They show how techniques respond when the outcome's "
    "probabilities change by a known amount. This run cannot choose a technique for your data: on Adult and "
    "Dutch, techniques rank differently on real rows. For a technique of yours beside others on real rows: "
    "'betabench run --experiment real_rows --plugin FILE.py'. For rows of yours: 'betabench quick FILE.csv'."
)
"""Limits of conclusions from samples of a network."""

REAL, SAMPLED = "real data", "sample of the learned network"
"""Test data of techniques."""


def titled(title: str, embedded: bool) -> str:
    """Return a dataset's title, marked if the dataset is an embedded one: ``"Adult (embedded)"``."""
    return f"{title} (embedded)" if embedded else title


def extent(embedded: Iterable[bool]) -> str:
    """Return a caption's ending that says how many datasets are embedded ones; empty if none is."""
    flags = list(embedded)
    partly = "" if all(flags) else "partly "
    return f" ({partly}embedded networks, not real data)" if any(flags) else ""
