"""The words that say that numbers come from an embedded network, the shipped one, and not from real data."""

from collections.abc import Iterable

SUFFIX = ":embedded"
"""Marks the name of a dataset in every result, because CSV files carry nothing but the name."""

FOLDER_SUFFIX = "_embedded"
"""Ends the name of a run's folder, so that these numbers do not take the place of those of real data."""

NOT_REAL = "embedded network, not real data"
NOT_REAL_LOUD = NOT_REAL.upper()
"""As tables, figures and the terminal say it before what was done instead."""

NOT_LEARNED = "EMBEDDED NETWORK as shipped, NOT learned from REAL DATA at hand"
"""What figures of a network itself say."""

OF_NETWORKS = (
    "training rows are samples of learned networks. They show how techniques respond when the outcome's "
    "probabilities change by a known amount. To choose a technique, train on real rows instead "
    '(train = "data" and a holdout): on Adult and Dutch, techniques rank differently there.'
)
"""What samples of a network are good for, and what they are not."""

REAL, SAMPLED = "real data", "sample of the learned network"
"""What techniques were tested on."""


def titled(title: str, embedded: bool) -> str:
    """Return a dataset's title, marked where it is an embedded one: ``"Adult (embedded)"``."""
    return f"{title} (embedded)" if embedded else title


def extent(embedded: Iterable[bool]) -> str:
    """Return how many of several datasets are embedded ones, to follow a caption; "" if none is."""
    flags = list(embedded)
    partly = "" if all(flags) else "partly "
    return f" ({partly}embedded networks, not real data)" if any(flags) else ""
