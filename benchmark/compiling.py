"""Compiled loops: numba is imported when one is first called, as whoever lists names needs none."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loop over arrays as machine code, which is kept on disk for the next process.

    Parameters
    ----------
    loop : callable
        A function of a module, of arrays and numbers, in the part of Python that numba compiles.
    """
    import numba

    code: Callable[..., Any] = numba.njit(cache=True, nogil=True)(loop)
    return code
