"""Places for names beside points, none on another and none on a point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_NEAREST, _STEP = 0.055, 0.045  # inches
_ANGLES = np.deg2rad([45, 135, -45, -135, 0, 180, 90, -90, 22, 158, -22, -158, 68, 112, -68, -112])
_MARKER, _AIR = 0.04, 0.012  # inches


def place_labels(
    points: NDArray[np.float64], sizes: NDArray[np.float64], area: tuple[float, float]
) -> NDArray[np.float64]:
    """Find a place for the name of each point: as near as there is room, the first ones first.

    ``points``, shape (n, 2), are in inches from the lower left corner of a panel, and all are kept free;
    ``sizes``, shape (m, 2), are widths and heights in inches of the names of the first m of them. The result,
    shape (m, 2), are the names' centers; NaN for one that there is no room for.
    """
    radii = np.arange(_NEAREST, max(area), _STEP)
    directions = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])
    places = np.full((len(sizes), 2), np.nan)
    for i, half in enumerate(sizes / 2 + _AIR):
        # The name's edge, not its centre, keeps the distance: wide names stand farther to the side.
        steps = radii[:, None, None] * directions + directions * half
        centres = (points[i] + steps).reshape(-1, 2)
        inside = ((centres - half >= 0) & (centres + half <= area)).all(axis=1)
        on_point = (np.abs(centres[:, None] - points) < half + _MARKER).all(axis=2).any(axis=1)
        others = sizes[:i] / 2 + half
        on_name = (np.abs(centres[:, None] - places[:i]) < others).all(axis=2).any(axis=1)
        if len(free := np.flatnonzero(inside & ~on_point & ~on_name)):
            places[i] = centres[free[0]]
    return places
