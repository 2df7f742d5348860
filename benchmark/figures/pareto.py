"""Pareto fronts: techniques that no other one beats in both a metric and accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from benchmark.columns import ORIGINAL
from benchmark.figures import EVERYTHING, Choice, marks, style
from benchmark.figures.label_places import write_keys
from benchmark.figures.page import Page
from benchmark.figures.style import BLUE, FAINT, GREY, Look
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION, OF_CLEAN_MODEL, undo_of
from benchmark.statistics.cells import distance
from benchmark.statistics.unprocessing import curves_of
from benchmark.tables.numbers import BELOW_CONSTANT, DEGENERATE

_MOST_BETAS = 5
_PANEL = (2.4, 1.95)
_BEYOND = 3.0  # times the interquartile range from the quartiles
_MOST_NAMED = 40  # points of a panel, unless more are on the front; tables have all
# Above the bars of its points, and below the points.
_SWEEP_LINE: Look = {"color": "black", "lw": 1.1, "ls": (0, (1, 1.6)), "zorder": 2.5, "gid": "sweep"}


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

    Each metric has a row of panels, each level of bias, or each of five, a column. Techniques are numbered,
    and named below. Bars are the intervals of both means, as distances to the ideal. A dominated technique
    that lies far off is not drawn; the panel's title counts these.
    """
    run = statistics.run
    rows = scenario.rows(statistics.pareto)
    betas = style.beta_ticks(sorted(rows["beta"].unique()), _MOST_BETAS)
    metrics, titles = choice.of_metrics(rows["first"].unique()), marks.titles_of(rows, run, choice)
    keys = {name: str(number) for number, name in enumerate(titles, 1)}
    signs = marks.signs_of(scenario.rows(statistics.standing), titles)
    present = {name for (name, _), sign in signs.items() if sign == DEGENERATE}
    present |= set(rows.loc[np.isfinite(rows["first_distance"]), "technique"])
    listed = [f"{key}  {titles[n]}" + " (no value)" * (n not in present) for n, key in keys.items()]
    panels: list[_Panel] = []
    for metric in metrics:
        points = _with_intervals(rows[rows["first"] == metric], statistics, scenario, metric)
        useless = _degenerate_points(statistics, scenario, metric)
        for beta in betas:
            near, cross = (f[(f["beta"] == beta) & f["technique"].isin(titles)] for f in (points, useless))
            withheld = _withheld(statistics, scenario, metric, beta)
            panels.append(_Panel(metric, float(beta), near, cross, scenario.constant_accuracy, withheld))
    drawn = any(marks.is_near(panel.constant, panel.rows["y"]) for panel in panels)
    words = [marks.constant_text(scenario.best_constant, drawn=drawn)]
    curves = curves_of(statistics.frontier, scenario.key)
    if len(curves):
        words.append(marks.frontier_text(scenario.best_constant))
    if any(_sweeps(panel, statistics) for panel in panels):
        words.append("Dotted: techniques of one list of values.")
    page = Page(
        len(panels),
        len(betas),
        panel=_PANEL,
        title=f"{scenario.heading}: techniques that no other one beats",
        subtitle="Blue: on the Pareto front of the means, darker if on more repetitions' fronts. "
        f"Gray: beaten by another technique. Bars: 95 % intervals. Best is the upper left. {' '.join(words)}",
        notes=marks.notes(scenario.dataset, signs=signs.values(), look="cross, on no front"),
        panel_titles=[
            run.level_text(panel.beta) + (f" ({panel.n_hidden} far off)" if panel.n_hidden else "")
            for panel in panels
        ],
        choice=choice,
    )
    page.name_axes("", "accuracy", x_alike=False, y_alike=False)
    for axes, panel in zip(page.panels, panels, strict=True):
        _draw_panel(axes, panel)
        for sweep in _sweeps(panel, statistics):
            axes.plot(sweep["x"], sweep["y"], **_SWEEP_LINE)
        if len(curves) and panel.metric == DISCRIMINATION:
            curve = curves[curves["beta"] == panel.beta]
            curve = curve.assign(**{DISCRIMINATION: curve[DISCRIMINATION].abs()})
            marks.draw_frontiers(axes, curve, panel.constant, {panel.beta: GREY})
        x, y = panel.degenerate["x"], panel.degenerate["y"]
        axes.plot(x, y, "x", color=GREY, ms=5, mew=1.2, zorder=2.6, gid="degenerate")
        axes.set_xlabel(_axis_title(statistics, panel.metric))
    page.list_below(listed)
    page.fit()
    below = {cell for cell, sign in signs.items() if sign == BELOW_CONSTANT}
    for axes, panel in zip(page.panels, panels, strict=True):
        marked = {n: key + BELOW_CONSTANT * ((n, panel.beta) in below) for n, key in keys.items()}
        rows, n_front = panel.shown, int(panel.shown["on_front"].sum())
        texts = [marked[name] for name in rows["technique"]][: max(n_front, _MOST_NAMED)]
        write_keys(axes, rows[["x", "y"]], texts, n_front)
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
    rows = scenario.rows(statistics.pareto).query("beta == @beta")
    rows = rows.assign(baseline=statistics.baselines.column(rows))
    return "; ".join(marks.not_weighed(undo_of(rows, statistics.undo)))


def _with_intervals(
    rows: pd.DataFrame, statistics: RunStatistics, scenario: Scenario, name: str
) -> pd.DataFrame:
    """Return the rows with coordinates and intervals of both distances."""
    rows = rows[np.isfinite(rows["first_distance"]) & np.isfinite(rows["second_distance"])]
    intervals = scenario.rows(statistics.intervals)[["metric", "beta", "technique", "ci_low", "ci_high"]]
    bars = {}
    for which, metric in (("first", statistics.metrics[name]), ("second", statistics.metrics[ACCURACY])):
        keys = rows[[which, "beta", "technique"]].rename(columns={which: "metric"})
        ends = keys.merge(intervals, how="left")[["ci_low", "ci_high"]].to_numpy()
        gaps = np.sort(distance(ends, metric), axis=1)
        # An interval that holds the ideal has distance 0.
        if metric.direction == "closer_to_ideal" and metric.ideal is not None:
            gaps[(ends[:, 0] <= metric.ideal) & (metric.ideal <= ends[:, 1]), 0] = 0.0
        center = rows[f"{which}_distance"].to_numpy()
        bars[which] = np.fmin(gaps[:, 0], center), center, np.fmax(gaps[:, 1], center)
    (x_low, x, x_high), (y_low, y, y_high) = bars["first"], bars["second"]
    return rows.assign(
        x_low=x_low, x=x, x_high=x_high, y_low=1 - y_high, y=1 - y, y_high=1 - y_low
    ).reset_index(drop=True)


def _degenerate_points(statistics: RunStatistics, scenario: Scenario, name: str) -> pd.DataFrame:
    """Return the points of degenerate techniques: columns beta, technique, x and y."""
    where, metrics = ["beta", "technique"], (name, ACCURACY)
    means = scenario.rows(statistics.intervals).pivot(index=where, columns="metric", values="mean")
    standing = scenario.rows(statistics.standing).query("n_degenerate > 0").set_index(where)
    points = means.reindex(index=standing.index, columns=[*metrics])
    x, y = (distance(points[metric].to_numpy(), statistics.metrics[metric]) for metric in metrics)
    return points.assign(x=x, y=1 - y)[["x", "y"]].dropna().reset_index()


def _draw_panel(axes: Axes, panel: _Panel) -> None:
    rows = panel.shown
    if rows.empty:
        style.say_empty(axes, panel.withheld or "no value")
        axes.set(yticks=[])
        return
    front = rows[rows["on_front"]]
    axes.step(front["x"], front["y"], where="post", color=BLUE, lw=1.0, zorder=2, gid="front")
    for part, color, width in ((rows[~rows["on_front"]], FAINT, 0.8), (front, BLUE, 1.1)):
        x, y = part["x"], part["y"]
        x_reach, y_reach = ([part[at] - part[f"{at}_low"], part[f"{at}_high"] - part[at]] for at in "xy")
        axes.errorbar(x, y, y_reach, x_reach, fmt="none", ecolor=color, elinewidth=width, zorder=2.2)
        share = part["share_on_front"].fillna(0.0).to_numpy()[:, None]
        fill = share * np.array(to_rgb(BLUE)) + (1 - share) * 1.0
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
