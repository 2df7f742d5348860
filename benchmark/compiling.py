"""Compiled loops: the first call imports numba, so that listing names stays fast."""

from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loop over arrays and numbers as machine code, which is cached on disk for later processes.

    The loop must be a function at the top of a module, in the part of Python that numba compiles.
    """
    import numba

    code: Callable[..., Any] = numba.njit(cache=True, nogil=True)(loop)
    return code
