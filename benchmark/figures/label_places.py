"""Places for names beside points, none on another and none on a point.

adjustText 1.4 puts names on points in one to three of five panels of 9 to 39 points, and takes 50 times as
long.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_NEAREST, _STEP = 0.055, 0.045  # inches
_ANGLES = np.deg2rad([45, 135, -45, -135, 0, 180, 90, -90, 22, 158, -22, -158, 68, 112, -68, -112])
_RINGS = 4  # looked at together
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
    # Most names find room near their points: the places farther off are looked at only where there is none.
    rings = [radii[i : i + _RINGS, None, None] for i in range(0, len(radii), _RINGS)]
    directions = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])
    places = np.full((len(sizes), 2), np.nan)
    for i, half in enumerate(sizes / 2 + _AIR):
        others = sizes[:i] / 2 + half
        for ring in rings:
            # The name's edge, not its centre, keeps the distance: wide names stand farther to the side.
            centres = (points[i] + (ring * directions + directions * half)).reshape(-1, 2)
            centres = centres[((centres - half >= 0) & (centres + half <= area)).all(axis=1)]
            taken = _meet(centres, points, half + _MARKER) | _meet(centres, places[:i], others)
            if len(free := np.flatnonzero(~taken)):
                places[i] = centres[free[0]]
                break
    return places


def _meet(
    centres: NDArray[np.float64], others: NDArray[np.float64], room: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return which centers are nearer to any of the others than some room, across and upwards."""
    across, up = (np.abs(centres[:, None, i] - others[:, i]) < room[..., i] for i in (0, 1))
    met: NDArray[np.bool_] = np.logical_or.reduce(across & up, axis=1)
    return met
