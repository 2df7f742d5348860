"""Discrimination and other metrics against accuracy: the paper's Figure 1, and Pareto fronts."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from numpy.typing import ArrayLike, NDArray

from benchmark.columns import BLIND, ORIGINAL
from benchmark.figures import EVERYTHING, Choice, marks, style
from benchmark.figures.page import Page
from benchmark.figures.style import BETA_COLORS, BLUE, FAINT, GREY, ORANGE, Look, beta_look, text_width
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.finished import RunFrames
from benchmark.runs.report_frames import Scenario, records
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION, OF_CLEAN_MODEL, effect_reasons
from benchmark.statistics.cells import distance, known_of
from benchmark.statistics.unprocessing import curves_of
from benchmark.tables.techniques import BELOW_CONSTANT, DEGENERATE
from benchmark.wording import level_axis

TRADEOFF = ("discrimination", "accuracy")
"""Metrics on the axes of the paper's Figure 1."""

Limits = tuple[tuple[float, float], tuple[float, float]]
"""Lower and upper limit of the discrimination axis, and of the accuracy axis."""

_NARROWEST = 0.04
_MOST_LARGE = 16
_MOST_COLUMNS = 6
_MOST_DOTS = 600  # in vectors, some 120 bytes each
_MOST_BETAS = 5
_BEYOND = 3.0  # times the interquartile range from the quartiles
# Places of names, in inches.
_NEAREST, _STEP = 0.055, 0.045  # inches
_ANGLES = np.deg2rad([45, 135, -45, -135, 0, 180, 90, -90, 22, 158, -22, -158, 68, 112, -68, -112])
_KEY_SIZE = 8.0
_FAR = 0.16  # inches between a name and its point that are joined by a line
_MARKER, _AIR = 0.04, 0.012  # inches
_MOST_NAMED = 40  # points of a panel, unless more are on the front; tables have all
# Above the bars of its points, and below the points.
_SWEEP_LINE: Look = {"color": "black", "lw": 1.1, "ls": (0, (1, 1.6)), "zorder": 2.5, "gid": "sweep"}


def points_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return ``technique, beta, repetition, discrimination, accuracy`` of results with both metrics."""
    rows = rows[rows["metric"].isin(TRADEOFF) & np.isfinite(rows["value"])]
    wide = rows.pivot(index=["technique", "level", "repetition"], columns="metric", values="value")
    points: pd.DataFrame = wide.reindex(columns=list(TRADEOFF)).dropna().reset_index()
    return points


def tradeoff_limits(points: pd.DataFrame, constant: float) -> Limits:
    """Return limits that hold all points, zero discrimination and, if near, a constant answer's accuracy."""
    x, y = np.append(points["discrimination"], 0.0), points["accuracy"].to_numpy()
    y = np.append(y, constant) if marks.is_near(constant, y) else y
    padded = [style.padded(values, 0.06, 0.005, _NARROWEST) for values in (x, y)]
    return padded[0], padded[1] if len(y) else (0.0, 1.0)


@style.styled()
def draw_tradeoff(
    run: RunFrames,
    scenario: Scenario,
    curves: pd.DataFrame | None = None,
    choice: Choice = EVERYTHING,
) -> Page:
    """Draw discrimination against accuracy, a panel per technique, as in the paper's Figure 1.

    Limits are those of all techniques, so that figures of a scenario compare. ``curves`` are the unprocessing
    frontiers of :func:`~benchmark.statistics.unprocessing.mean_frontiers`.
    """
    manifest, summary, constant = run.manifest, scenario.rows(run.summary), scenario.constant_accuracy
    points = points_of(scenario.rows(run.results))
    limits = tradeoff_limits(points, constant)
    choice.of_metrics(TRADEOFF)
    titles = marks.titles_of(summary, manifest, choice)
    single = len(titles) == 1
    baseline = points[points["technique"] == scenario.baseline]
    words = [f"Dots: single repetitions; outlined: the mean of each {manifest.level_sign}."]
    if len(baseline):
        words.append(f"Gray line: the baseline ({manifest.titles[scenario.baseline]}).")
    words.append(marks.constant_text(scenario.best_constant, drawn=_within(constant, limits)))
    curves = None if curves is None else curves_of(curves, scenario.key)
    if curves is not None and len(curves):
        words.append(marks.frontier_text(scenario.best_constant, f", one for each {manifest.level_sign}"))
    hollow = marks.signs_of(scenario.rows(run.standing), titles, [DEGENERATE])
    n = len(titles)
    page = Page(
        n,
        n if n <= 3 else min(math.ceil(math.sqrt(n)), _MOST_COLUMNS),
        panel=(3.9, 2.9) if single else (2.1, 1.7) if n <= _MOST_LARGE else (1.65, 1.3),
        title=f"{next(iter(titles.values()))} on {scenario.heading}"
        if single
        else f"{scenario.heading}: discrimination (demographic parity difference) against accuracy",
        subtitle=marks.subtitle(scenario, manifest, " ".join(filter(None, words))),
        notes=[
            *marks.told_notes(titles, manifest, "Tinted"),
            *marks.notes(
                scenario,
                signs=hollow.values(),
                look="hollow",
                missing=marks.lacking(summary[summary["metric"].isin(TRADEOFF)], titles, manifest),
            ),
        ],
        panel_titles=[] if single else list(titles.values()),
        choice=choice,
    )
    for name, axes in zip(titles, page.panels, strict=True):
        if manifest.knowledge[name] != BLIND:
            axes.set_facecolor(marks.TOLD)
        draw_tradeoff_panel(
            axes,
            points[points["technique"] == name],
            baseline[baseline["technique"] != name],
            limits,
            constant,
            hollow,
            curves,
            rasterized=len(points) > _MOST_DOTS and not single,
            limit=manifest.level_limit,
        )
    page.name_axes(*TRADEOFF)
    page.add_beta_colorbar(manifest.levels, limit=manifest.level_limit, label=level_axis(manifest))
    return page.fit()


def draw_tradeoff_panel(
    axes: Axes,
    points: pd.DataFrame,
    baseline: pd.DataFrame,
    limits: Limits,
    constant: float,
    hollow: Collection[tuple[str, float]] = (),
    curves: pd.DataFrame | None = None,
    *,
    rasterized: bool = False,
    limit: float = 1.0,
) -> None:
    """Draw the points of one technique, and behind them the means of the baseline, which may have no rows.

    ``constant`` is the accuracy of the best constant answer, which has a line within the limits. ``hollow``
    has technique and level of bias of hollow means. ``curves`` are the scenario's frontiers; the answer by
    lot is drawn beside them. ``rasterized`` dots are pixels in PDF and SVG. ``limit`` is the level of the
    last color.
    """
    if points.empty:
        axes.text(0.5, 0.5, "no value, see below", transform=axes.transAxes, ha="center", color=GREY)
    if len(baseline):
        x, y, _ = _means(baseline)
        axes.plot(x, y, color=FAINT, lw=1.6, marker="o", ms=3.4, zorder=1.5, gid="baseline")
    dots: Look = {"s": 9, "alpha": 0.55, "lw": 0, "rasterized": rasterized}
    axes.scatter(points["discrimination"], points["accuracy"], c=points["level"], **dots, **beta_look(limit))
    x, y, betas = _means(points)
    axes.plot(x, y, color=GREY, lw=0.8, zorder=2.5)
    axes.scatter(x, y, c=betas, s=34, edgecolors="black", lw=1.0, zorder=3, **beta_look(limit))
    degenerate = {beta for technique, beta in hollow if technique in set(points["technique"])}
    if (empty := np.isin(betas, list(degenerate))).any():
        edges = BETA_COLORS(betas[empty] / limit)
        look: Look = {"s": 34, "c": "white", "edgecolors": edges, "lw": 1.5, "zorder": 3.2}
        axes.scatter(x[empty], y[empty], gid="degenerate", **look)
    if curves is not None and len(curves):
        colors = {beta: BETA_COLORS(beta / limit) for beta in curves["level"]}
        marks.draw_frontiers(axes, curves, constant, colors)
    _frame(axes, limits, constant)


def _within(constant: float, limits: Limits) -> bool:
    return limits[1][0] <= constant <= limits[1][1]


def _frame(axes: Axes, limits: Limits, constant: float) -> None:
    """Set the limits of a panel, and draw its lines of reference."""
    if _within(constant, limits):
        axes.axhline(constant, **marks.CONSTANT_LINE, gid="constant")
    axes.axvline(0, **style.DASHED_RULE)
    axes.set(xlim=limits[0], ylim=limits[1])


def _means(points: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means of both metrics at each level of bias, and the levels, ascending."""
    means = points.groupby("level", sort=True)[list(TRADEOFF)].mean()
    return means[TRADEOFF[0]].to_numpy(), means[TRADEOFF[1]].to_numpy(), means.index.to_numpy(dtype=float)


@dataclass(frozen=True)
class _Panel:
    """A metric at a level of bias, with its points near the front and the degenerate ones."""

    metric: str
    beta: float
    rows: pd.DataFrame
    degenerate: pd.DataFrame
    constant: float  # accuracy of the best constant answer
    withheld: str  # why the metric's values are not weighed here; empty if they are

    @cached_property
    def shown(self) -> pd.DataFrame:
        """The rows that lie on the front, and then those not far from the others."""
        if self.rows.empty:
            return self.rows
        on_front = self.rows["on_front"].to_numpy(dtype=bool)
        near = np.ones(len(on_front), dtype=bool)
        for column, sign in (("x", 1), ("y", -1)):
            values = sign * self.rows[column].to_numpy()
            low, high = np.quantile(values, [0.25, 0.75])
            near &= values <= max(high + _BEYOND * (high - low), values[on_front].max())
        shown = self.rows[on_front | near]
        return shown.sort_values(["on_front", "x"], ascending=[False, True], kind="stable")

    @cached_property
    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Limits of the axes, which hold the intervals and a near constant answer."""
        x, (low, high) = (style.padded(self.shown[[f"{at}_low", f"{at}_high"]], 0.1, 0.004) for at in "xy")
        if marks.is_near(self.constant, self.rows["y"]):
            low, high = min(low, self.constant - 0.04 * (high - low)), max(high, self.constant)
        return x, (low, high)

    @property
    def n_hidden(self) -> int:
        """The number of points beyond the axes."""
        (left, right), (low, high) = self.limits
        inside = self.degenerate["x"].between(left, right) & self.degenerate["y"].between(low, high)
        n_crosses = 0 if self.shown.empty else int(inside.sum())
        return len(self.rows) - len(self.shown) + len(self.degenerate) - n_crosses


@style.styled()
def draw_pareto(statistics: RunStatistics, scenario: Scenario, choice: Choice = EVERYTHING) -> Page:
    """Draw the trade-off of each metric with accuracy at each level of bias, and its Pareto front.

    Each metric has a row of panels, each level of bias, or each of five, a column. Axes are distances to the
    ideal. A dominated technique that lies far off is not drawn; the panel's title counts these.
    """
    run = statistics.run
    rows = scenario.rows(statistics.pareto)
    betas = style.beta_ticks(sorted(rows["level"].unique()), _MOST_BETAS)
    metrics, titles = choice.of_metrics(rows["first"].unique()), marks.titles_of(rows, run, choice)
    keys = {name: str(number) for number, name in enumerate(titles, 1)}
    signs = marks.signs_of(scenario.rows(statistics.standing), titles)
    present = {name for (name, _), sign in signs.items() if sign == DEGENERATE}
    present |= set(rows.loc[np.isfinite(rows["first_distance"]), "technique"])
    listed = [f"{key}  {titles[n]}" + " (no value)" * (n not in present) for n, key in keys.items()]
    panels: list[_Panel] = []
    for metric in metrics:
        points = _with_intervals(rows[rows["first"] == metric], statistics, scenario, metric)
        crosses = _degenerate_points(statistics, scenario, metric)
        for beta in betas:
            near, cross = (f[(f["level"] == beta) & f["technique"].isin(titles)] for f in (points, crosses))
            withheld = _withheld(statistics, scenario, metric, beta)
            panels.append(_Panel(metric, float(beta), near, cross, scenario.constant_accuracy, withheld))
    drawn = any(marks.is_near(panel.constant, panel.rows["y"]) for panel in panels)
    words = [marks.constant_text(scenario.best_constant, drawn=drawn)]
    curves = curves_of(statistics.frontier, scenario.key)
    if len(curves):
        words.append(marks.frontier_text(scenario.best_constant))
    if any(panel.n_hidden for panel in panels):
        words.append("Far off: on no front, and beyond the panel.")
    sweeps = [_sweeps(panel, statistics) for panel in panels]
    if any(sweeps):
        words.append("Dotted: techniques of one list of values.")
    page = Page(
        len(panels),
        len(betas),
        panel=(2.4, 1.95),
        title=f"{scenario.heading}: techniques that no other one beats",
        subtitle="Blue: on the Pareto front of the means, darker if on more repetitions' fronts. "
        f"Gray: beaten by another technique. Bars: 95 % intervals. Best is the upper left. {' '.join(words)}",
        notes=[
            *marks.told_notes(titles, run, "Orange"),
            *marks.notes(scenario, signs=signs.values(), look="cross, on no front"),
        ],
        panel_titles=[
            run.level_text(panel.beta) + (f" ({panel.n_hidden} far off)" if panel.n_hidden else "")
            for panel in panels
        ],
        choice=choice,
    )
    page.name_axes("", "accuracy", x_alike=False, y_alike=False)
    for axes, panel, of_panel in zip(page.panels, panels, sweeps, strict=True):
        _draw_fronts(axes, panel, run.knowledge)
        for sweep in of_panel:
            axes.plot(sweep["x"], sweep["y"], **_SWEEP_LINE)
        if len(curves) and panel.metric == DISCRIMINATION:
            curve = curves[curves["level"] == panel.beta]
            curve = curve.assign(**{DISCRIMINATION: curve[DISCRIMINATION].abs()})
            marks.draw_frontiers(axes, curve, panel.constant, {panel.beta: GREY})
        x, y = panel.degenerate["x"], panel.degenerate["y"]
        axes.plot(x, y, "x", color=GREY, ms=5, mew=1.2, zorder=2.6, gid="degenerate")
        axes.set_xlabel(_axis_title(statistics, panel.metric))
    page.list_below(listed)
    page.fit()
    for axes, panel in zip(page.panels, panels, strict=True):
        rows, n_front = panel.shown, int(panel.shown["on_front"].sum())
        texts = [keys[row.technique] + BELOW_CONSTANT * row.below_constant for row in records(rows)]
        write_keys(axes, rows[["x", "y"]], texts[: max(n_front, _MOST_NAMED)], n_front)
    return page


def _axis_title(statistics: RunStatistics, metric: str) -> str:
    ideal = statistics.metrics[metric].ideal
    nearest = ideal if ideal is not None and np.isfinite(ideal) else 0.0
    title = statistics.title(metric)
    title = title[:1].lower() + title[1:] if title[1:2].islower() else title  # "accuracy", but "AUC gap"
    return f"{title}: distance to {nearest:g}"


def _withheld(statistics: RunStatistics, scenario: Scenario, metric: str, beta: float) -> str:
    """Return why values that compare with a clean model are not weighed at a level of bias."""
    if metric not in OF_CLEAN_MODEL:
        return ""
    if beta == 0:
        return "nothing is planted"
    if scenario.test != ORIGINAL:
        return "no clean model on these rows"
    rows = scenario.rows(statistics.pareto).query("level == @beta")
    rows = rows.assign(baseline=statistics.baselines.column(rows))
    return "; ".join(marks.not_weighed(effect_reasons(rows, statistics.effects)))


def _with_intervals(
    rows: pd.DataFrame, statistics: RunStatistics, scenario: Scenario, name: str
) -> pd.DataFrame:
    """Return the rows with coordinates and intervals of both distances."""
    rows = rows.dropna(subset=["first_distance", "second_distance"]).reset_index(drop=True)
    intervals = scenario.rows(statistics.intervals).set_index(["metric", "level", "technique"])
    for axis, which, metric in (
        ("x", "first", statistics.metrics[name]),
        ("y", "second", statistics.metrics[ACCURACY]),
    ):
        cells = pd.MultiIndex.from_frame(rows[[which, "level", "technique"]])
        ends = intervals.reindex(cells)[["ci_low", "ci_high"]].to_numpy()
        gaps = np.sort(distance(ends, metric), axis=1)
        # An interval that holds the ideal has distance 0.
        if metric.direction == "closer_to_ideal" and metric.ideal is not None:
            gaps[(ends[:, 0] <= metric.ideal) & (metric.ideal <= ends[:, 1]), 0] = 0.0
        center = rows[f"{which}_distance"]
        low, high = np.fmin(gaps[:, 0], center), np.fmax(gaps[:, 1], center)
        rows[[f"{axis}_low", axis, f"{axis}_high"]] = np.column_stack([low, center, high])
    return rows.assign(y=1 - rows["y"], y_low=1 - rows["y_high"], y_high=1 - rows["y_low"])


def _degenerate_points(statistics: RunStatistics, scenario: Scenario, name: str) -> pd.DataFrame:
    """Return the points of degenerate techniques: columns beta, technique, x and y."""
    where, metrics = ["level", "technique"], (name, ACCURACY)
    means = scenario.rows(statistics.intervals).pivot(index=where, columns="metric", values="mean")
    standing = scenario.rows(statistics.standing).query("n_degenerate > 0").set_index(where)
    points = means.reindex(index=standing.index, columns=[*metrics])
    x, y = (distance(points[metric].to_numpy(), statistics.metrics[metric]) for metric in metrics)
    return points.assign(x=x, y=1 - y)[["x", "y"]].dropna().reset_index()


def _draw_fronts(axes: Axes, panel: _Panel, knowledge: Mapping[str, str]) -> None:
    """Draw the front of the techniques that know nothing, and one for each other state of knowledge."""
    rows = panel.shown
    if rows.empty:
        style.say_empty(axes, panel.withheld or "no value")
        axes.set(yticks=[])
        return
    told = known_of(rows, knowledge)
    parts = [(rows[~rows["on_front"]], FAINT, 0.8)]
    for own, front in rows[rows["on_front"]].groupby(told, sort=False):
        color = BLUE if own == BLIND else ORANGE
        axes.step(front["x"], front["y"], where="post", color=color, lw=1.0, zorder=2, gid="front")
        parts.append((front, color, 1.1))
    for part, color, width in parts:
        x, y = part["x"], part["y"]
        x_reach, y_reach = ([part[at] - part[f"{at}_low"], part[f"{at}_high"] - part[at]] for at in "xy")
        axes.errorbar(x, y, y_reach, x_reach, fmt="none", ecolor=color, elinewidth=width, zorder=2.2)
        share = part["share_on_front"].fillna(0.0).to_numpy()[:, None]
        fill = share * np.array(to_rgb(BLUE if color == FAINT else color)) + (1 - share) * 1.0
        axes.scatter(x, y, s=22, c=np.clip(fill, 0, 1), edgecolors=color, lw=1.0, zorder=3)
    if marks.is_near(panel.constant, panel.rows["y"]):
        axes.axhline(panel.constant, **marks.CONSTANT_LINE, gid="constant")
    axes.set(xlim=panel.limits[0], ylim=panel.limits[1])


def _sweeps(panel: _Panel, statistics: RunStatistics) -> list[pd.DataFrame]:
    """Return the points of each list of values with several techniques, in its order."""
    shown = panel.shown.set_index("technique")
    sweeps: dict[str, list[str]] = {}
    for technique in statistics.run.techniques:
        if technique.sweep and technique.name in shown.index:
            sweeps.setdefault(technique.sweep, []).append(technique.name)
    return [shown.loc[names] for names in sweeps.values() if len(names) > 1]


def place_labels(
    points: NDArray[np.float64], sizes: NDArray[np.float64], area: tuple[float, float]
) -> NDArray[np.float64]:
    """Return the centers of names, each as near to its point as there is room, or NaN without room.

    ``points``, shape (n, 2), are inches from the lower left corner of a panel. ``sizes``, shape (m, 2), are
    widths and heights in inches of the names of the first m points. Earlier names have the first choice.
    adjustText 1.4 put names on points in one to three of five panels of 9 to 39 points, and took 50 times as
    long.
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
