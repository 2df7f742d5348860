"""Groups so small that what a run says of them is mostly chance."""

from __future__ import annotations

from collections.abc import Iterator

from benchmark.data.reading import FEW_ROWS, small_group
from benchmark.runs.descriptions import DatasetDescription


def small_groups(dataset: DatasetDescription) -> Iterator[str]:
    """Yield a sentence for the deprived and for the favored group, where it has too few test rows."""
    sizes = dataset.group_sizes
    if sizes is None:
        return
    for role, rows in (("deprived", sizes.deprived), ("favored", sizes.favored)):
        if rows < FEW_ROWS:
            yield small_group(role, rows)
