"""The contract of every kind of planted bias."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from benchmark.bias.edits import BiasEdit, check_beta
from benchmark.data.table import Table
from benchmark.errors import BiasError
from benchmark.network.model import Network

AKPINAR = (
    "Akpinar, Nagireddy, Stapleton, Cheng, Zhu, Wu and Heidari (2022), A sandbox tool to bias(stress)-test "
    "fairness algorithms, arXiv:2204.10233"
)
NOTHING_ACTS = "none, because no edited attribute is a parent of the label"
"""Description of a bias whose edits have no effect in a network."""


@dataclass(frozen=True, eq=False)
class Planted:
    """A network with bias of one level planted.

    Parameters
    ----------
    network : Network
        What rows are drawn from; the learned one itself where bias acts on the drawn rows.
    draw : callable(n_rows, rng) -> Table
        Draws a biased sample of ``n_rows`` rows.
    discrimination : float
        P(y+ | favored) - P(y+ | deprived) in such samples, in expectation.
    observe : callable(Table, rng) -> Table, optional
        What becomes of the rows that techniques are tested on, where bias acts on what is known of people:
        the same rows with the same labels and groups, in the schema of the training rows. Else they stay as
        they are.
    """

    network: Network
    draw: Callable[[int, np.random.Generator], Table]
    discrimination: float
    observe: Callable[[Table, np.random.Generator], Table] | None = None


class BiasKind(ABC):
    """A way of planting a known amount of bias.

    Parameters
    ----------
    edits : tuple of BiasEdit
        Which probabilities to scale, for kinds that edit the network; all others take none.

    Attributes
    ----------
    name : str
        Name in the registry and in experiment files.
    summary, reference : str
        One line for lists, and where it comes from.
    version : str
        Changed whenever the same input and seed would give other samples.
    takes_edits : bool
        Whether it edits the network.

    Raises
    ------
    BiasError
        If edits are missing, or given to a kind that takes none.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    reference: ClassVar[str]
    version: ClassVar[str]
    takes_edits: ClassVar[bool] = False

    def __init__(self, edits: tuple[BiasEdit, ...] = ()) -> None:
        if bool(edits) != self.takes_edits:
            raise BiasError(
                f"The bias kind {self.name!r} " + ("needs edits" if self.takes_edits else "takes no edits"),
                expected="at least one edit" if self.takes_edits else "none",
                got=", ".join(map(str, edits)) or "none",
                remedy="docs/adding/experiment.md shows some" if self.takes_edits else "leave 'edits' out",
            )
        self.edits = edits

    def plant(self, network: Network, beta: float) -> Planted:
        """Plant bias of level ``beta``, from 0 (none) to 1.

        Raises
        ------
        BiasError
            If beta is out of range, or the network has nothing that the kind could act on.
        """
        return self._plant(network, check_beta(beta))

    @abstractmethod
    def _plant(self, network: Network, beta: float) -> Planted:
        """Plant bias; beta is already checked."""

    def acting_edits(self, network: Network) -> tuple[BiasEdit, ...]:
        """Return the edits that act on this network."""
        return ()

    def description(self, network: Network) -> str:
        """Say in words what is planted in this network."""
        return self.summary
