"""Independent random streams from named axes.

A seed is the hash of its purpose, never a running count. So a new dataset, level of bias or technique leaves
every other number as it was, and the order of execution is irrelevant.
"""

import hashlib
import json

import numpy as np
from numpy.typing import NDArray


def axis_seed(root: int, **axes: str | int | float) -> int:
    """Return a seed, from 0 to 2**128 - 1, derived from an experiment's seed and named axes.

    The axes say what the random numbers are for: ``dataset="adult", beta=0.5, repetition=3``. The order of
    the names does not matter. Values must be equal exactly: ``1`` and ``1.0`` differ.
    """
    text = json.dumps({"root": root, "axes": axes}, sort_keys=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def generator(root: int, **axes: str | int | float) -> np.random.Generator:
    """Return a fresh PCG64 generator for the named axes; see :func:`axis_seed`."""
    return np.random.Generator(np.random.PCG64(axis_seed(root, **axes)))


def lots_of_rows(codes: NDArray[np.int16], seed: int, n_lots: int) -> NDArray[np.float64]:
    """Return random numbers from [0, 1), shape (n_rows, n_lots), which are the same for equal rows.

    They are a hash of the row's codes and of ``seed`` (0 to 2**64 - 1), so they do not depend on the table.
    """
    start = hashlib.shake_256(seed.to_bytes(8, "little"))
    digests = bytearray()
    for row in np.ascontiguousarray(codes, dtype="<i2"):
        hashed = start.copy()
        hashed.update(row)
        digests += hashed.digest(4 * n_lots)
    return np.frombuffer(bytes(digests), dtype="<u4").reshape(len(codes), n_lots) / 2.0**32
