"""Independent random streams from named axes.

A seed is the hash of what it is for, never a running count: adding a dataset, a level of bias or a
technique to an experiment leaves every other number as it was, and the order of execution is irrelevant.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np

__all__ = ["axis_seed", "generator"]


def axis_seed(root: int, **axes: str | int | float) -> int:
    """Derive a 128-bit seed from a root seed and named axes.

    Parameters
    ----------
    root : int
        The experiment's own seed.
    **axes : str, int or float
        What the random numbers are for, by name: ``dataset="adult", beta=0.5, repetition=3``.
        The order of the names does not matter; their values do, exactly (``1`` and ``1.0`` differ).

    Returns
    -------
    int
        A non-negative integer below 2**128.
    """
    text = json.dumps({"root": root, "axes": axes}, sort_keys=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def generator(root: int, **axes: str | int | float) -> np.random.Generator:
    """Return a fresh PCG64 generator for the named axes; see :func:`axis_seed`."""
    return np.random.Generator(np.random.PCG64(axis_seed(root, **axes)))
