"""What is drawn for a block: its random streams, its training sample, and what is observed of the test rows.

All numbers pass through here, so it is part of :data:`benchmark.experiment.versions.HARNESS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.data.table import Table
from benchmark.seeding import generator

if TYPE_CHECKING:
    from benchmark.experiment.plan import Block
    from benchmark.experiment.world import Scene


def axes(scene: Scene, block: Block) -> dict[str, str | int | float]:
    """Return what the random numbers of a block are for; see :func:`benchmark.seeding.axis_seed`."""
    return {"dataset": scene.name, "beta": block.beta, "repetition": block.repetition}


def draw_training_sample(scene: Scene, block: Block, seed: int) -> Table:
    """Return the rows that the techniques of a block are trained on."""
    planted, _ = scene.planted(block.bias, block.beta)
    return planted.draw(scene.n_train, generator(seed, purpose="sample", **axes(scene, block)))


def observe_test_rows(scene: Scene, block: Block, seed: int) -> Table:
    """Return the rows that the techniques of a block are tested on, as the planted bias lets them be seen."""
    planted, _ = scene.planted(block.bias, block.beta)
    if planted.observe is None:
        return scene.test
    return planted.observe(scene.test, generator(seed, purpose="observe", **axes(scene, block)))
