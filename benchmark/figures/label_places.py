"""Positions of names beside points, clear of each other and of the points.

adjustText 1.4 put names on points in one to three of five panels of 9 to 39 points, and took 50 times as
long.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from benchmark.figures.style import GREY, Look, text_width

_NEAREST, _STEP = 0.055, 0.045  # inches
_ANGLES = np.deg2rad([45, 135, -45, -135, 0, 180, 90, -90, 22, 158, -22, -158, 68, 112, -68, -112])
_KEY_SIZE = 8.0
_FAR = 0.16  # inches between a name and its point that are joined by a line
_MARKER, _AIR = 0.04, 0.012  # inches


def place_labels(
    points: NDArray[np.float64], sizes: NDArray[np.float64], area: tuple[float, float]
) -> NDArray[np.float64]:
    """Return the centers of names, each as near to its point as there is room, or NaN without room.

    ``points``, shape (n, 2), are inches from the lower left corner of a panel. ``sizes``, shape (m, 2), are
    widths and heights in inches of the names of the first m points. Earlier names have the first choice.
    """
    radii = np.arange(_NEAREST, max(area), _STEP)[:, None, None]
    directions = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])
    names = np.full((len(sizes), 2), np.nan)
    for i, half in enumerate(sizes / 2 + _AIR):
        # The name's edge keeps the distance, so wide names stand farther to the side.
        centers = (points[i] + (radii * directions + directions * half)).reshape(-1, 2)
        centers = centers[((centers - half >= 0) & (centers + half <= area)).all(axis=1)]
        taken = _meet(centers, points, half + _MARKER) | _meet(centers, names[:i], sizes[:i] / 2 + half)
        if len(free := np.flatnonzero(~taken)):
            names[i] = centers[free[0]]
    return names


def _meet(
    centers: NDArray[np.float64], others: NDArray[np.float64], room: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return whether each center is nearer to any of the others than ``room``, across and upwards."""
    across, up = (np.abs(centers[:, None, i] - others[:, i]) < room[..., i] for i in (0, 1))
    overlaps: NDArray[np.bool_] = np.logical_or.reduce(across & up, axis=1)
    return overlaps


def write_keys(axes: Axes, points: ArrayLike, keys: Sequence[str], n_bold: int = 0) -> None:
    """Write keys beside the first points of a panel that has its place, as far as there is room.

    ``points``, shape (n, 2), are in data. The first ``n_bold`` keys are bold, the others gray.
    """
    width, height = axes.get_position().size * axes.figure.get_size_inches()  # type: ignore[union-attr]
    low, high = np.array([axes.get_xlim(), axes.get_ylim()]).T
    inches = (np.asarray(points, dtype=float) - low) / (high - low) * (width, height)
    sizes = [
        (text_width(key, _KEY_SIZE, bold=i < n_bold) + 0.02, 0.8 * _KEY_SIZE / 72 + 0.02)
        for i, key in enumerate(keys)
    ]
    arrow: Look = {"arrowstyle": "-", "color": GREY, "lw": 0.4, "shrinkA": 1, "shrinkB": 2}
    box: Look = {"boxstyle": "square,pad=0.04", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    places = place_labels(inches, np.array(sizes).reshape(-1, 2), (width, height))
    for i, ((x, y), key) in enumerate(zip(places, keys, strict=True)):
        if np.isfinite(x):
            axes.annotate(
                key,
                inches[i] / (width, height),
                xycoords="axes fraction",
                xytext=(x / width, y / height),
                textcoords="axes fraction",
                ha="center",
                va="center_baseline",
                size=_KEY_SIZE,
                weight="bold" if i < n_bold else "normal",
                color="black" if i < n_bold else GREY,
                zorder=4,
                bbox=box,
                arrowprops=arrow if np.hypot(x - inches[i][0], y - inches[i][1]) > _FAR else None,
                gid="key",
            )
