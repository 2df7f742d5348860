"""What grows how: tables and figure, from the CSV files of growth, growth_cells and startup alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.text.markdown import table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIGURE", "draw", "exponent", "section"]

FIGURE = "growth"
"""Name of the figure's files."""

_FILES = ("growth", "growth_workers", "growth_cells", "startup")
_LINEAR = 1.1  # exponents up to here count as linear: a few sizes on a busy machine tell no more
_SPEED_UP, _START = 1.85, 0.4

_SIZES = {
    "rows": "rows",
    "attributes": "attributes",
    "techniques": "techniques in a block",
    "first run": "cells",
    "second start": "cells",
    "folder of results": "cells",
}

_ABOUT = {
    "rows": "Adult's network: draw a training sample, train C4.5 on it, predict a test sample of the same "
    "size, and compute the metrics of five families.",
    "attributes": "A random network of attributes with three states and two parents each: structure search "
    "with the default settings on 20,000 rows, then the same steps as above.",
    "techniques": "One block of Adult (a training sample, the ranker and the test rows are shared) with "
    "massaging under as many names.",
    "first run": "Planning and storing cells that cost nothing, 100 in a block, and reading them back, as a "
    "run does at its end.",
    "second start": "The same command again: every cell is found, and nothing is computed.",
    "folder of results": "Tables and report of these cells, without figures.",
}

_EXPLAINED = {
    (
        "rows",
        "fit",
    ): "a tree from more rows is larger, so that each row passes more splits, and the rows no longer "
    "fit into the processor's caches",
    (
        "rows",
        "metrics",
    ): "rows are counted by an array of their places, which at ten million takes 80 MB of new "
    "memory and no longer fits into the processor's caches",
    ("rows", "predict"): "a larger tree, and rows that no longer fit into the processor's caches",
    (
        "attributes",
        "structure search",
    ): "there are n(n - 1) edges to try, so twice as many attributes make four "
    "times as many candidates at the start, and more steps to the end",
    (
        "attributes",
        "fit",
    ): "every node of the tree tries every attribute, and among more attributes it finds more "
    "that seem to help",
    (
        "first run",
        "writing",
    ): "keys are hashes, so that each cell of a large store changes a page of its own in "
    "each table, while those of a small one share pages; the cost per cell levels off when none shares one",
}
"""Why a step grows faster than linear, where it may."""


def section(folder: Path) -> str:
    """Return the report's section about growth and start-up, in Markdown.

    Parameters
    ----------
    folder : Path
        Has ``growth.csv``, ``growth_cells.csv`` and ``startup.csv``, or some of them.
    """
    rows = _read(folder)
    parts = [
        "## Growth and start-up\n\nMedians of the repetitions, each in a process of its own. An exponent is "
        "the slope of the logarithm of time over that of size, over the larger half of the sizes: 1 is "
        "linear, below 1 what is done once still counts. Rows, attributes and techniques are in processor "
        "time of one thread, which other programs disturb least, everything else by the clock."
    ]
    parts += [
        f"### {case.capitalize()}\n\n{_ABOUT[case]}\n\n{_growth_table(rows, case)}"
        for case in _SIZES
        if (rows["case"] == case).any()
    ]
    if (rows["case"] == "workers").any():
        parts.append(_workers(rows))
    if (rows["case"] == "start").any():
        parts.append(_startup(rows))
    parts.append(f"![Time and memory by size]({FIGURE}.png)")
    return "\n\n".join(parts) + "\n"


def draw(folder: Path) -> list[Path]:
    """Draw time and memory over size, a panel for each growth, into the folder; return the files."""
    from benchmark.figures.style import render
    from benchmark.text.writing import FORMATS, write_atomically

    rows = _read(folder)
    figure = _figure(rows, [case for case in _SIZES if (rows["case"] == case).any()])
    return [write_atomically(folder / f"{FIGURE}.{ending}", render(figure, ending)) for ending in FORMATS]


def exponent(sizes: pd.Series, seconds: pd.Series) -> float:
    """Return the slope of log time over log size, by least squares over the larger half; NaN of one size."""
    half = len(sizes) // 2
    x, y = np.log(sizes.to_numpy(float)[half:]), np.log(seconds.to_numpy(float)[half:])
    return float(np.polyfit(x, y, 1)[0]) if len(x) > 1 else math.nan


def _read(folder: Path) -> pd.DataFrame:
    frames = [pd.read_csv(path) for name in _FILES if (path := folder / f"{name}.csv").is_file()]
    return pd.concat(frames, ignore_index=True)


def _medians(rows: pd.DataFrame, case: str) -> pd.DataFrame:
    """Return median seconds and bytes by step and size, steps in the order of measurement, "total" last."""
    own = rows[rows["case"] == case]
    medians = own.groupby(["contestant", "size"], sort=False)[["seconds", "bytes"]].median().reset_index()
    order = [name for name in medians["contestant"].unique() if name != "total"] + ["total"]
    rank = medians["contestant"].map({name: i for i, name in enumerate(order)})
    return medians.assign(rank=rank).sort_values(["rank", "size"], ignore_index=True)


def _growth_table(rows: pd.DataFrame, case: str) -> str:
    medians = _medians(rows, case)
    sizes = sorted(medians["size"].unique())
    lines = []
    remarks = []
    for step, own in medians.groupby("contestant", sort=False):
        slope = exponent(own["size"], own["seconds"])
        lines.append([str(step), *map(_seconds, own["seconds"]), "" if math.isnan(slope) else f"{slope:.2f}"])
        why = _EXPLAINED.get((case, str(step)))
        if slope > _LINEAR and step != "total" and "," not in str(step):  # parts of a step need no reason
            remarks.append(f"- *{step}* is worse than linear: {why or '**not explained**'}.")
    memory = medians[medians["contestant"] == "total"]["bytes"]
    if memory.notna().all():
        lines.append(["peak memory", *(f"{size / 2**20:,.0f} MiB" for size in memory), ""])
    numbers = table([_SIZES[case], *(f"{size:,.0f}" for size in sizes), "exponent"], lines, named=1)
    return "\n\n".join([numbers, "\n".join(remarks)]) if remarks else numbers


def _workers(rows: pd.DataFrame) -> str:
    own = rows[rows["case"] == "workers"]
    seconds = own.pivot(index=["repetition", "size"], columns="contestant", values="seconds")
    one, two = seconds.xs(1, level="size"), seconds.xs(2, level="size")
    ratio = (one["total"] / two["total"]).dropna()
    spent = (two["processor time of the workers"] / one["processor time of the workers"]).median()
    # A range on both sides of the target, or beyond the number of workers, tells of noise.
    verdict = "met" if ratio.min() >= _SPEED_UP else "**not met**"
    if ratio.min() < _SPEED_UP <= ratio.max():
        verdict = "neither met nor missed for certain, as rounds differ by that much"
    columns = ["total", *(name for name in seconds.columns if name != "total")]
    lines = [
        [f"{count:.0f}, round {repetition + 1:.0f}", *map(_seconds, of_run)]
        for repetition, count, *of_run in seconds[columns].reset_index().itertuples(index=False)
    ]
    return "\n\n".join(
        [
            "### Workers",
            "The paper's grid without Zafar's techniques, half of its repetitions, start of the workers "
            f"included ({own['note'].iloc[0]}).",
            table(["workers", *columns], lines, named=1),
            f"Two workers are {ratio.median():.2f} times as fast as one ({ratio.min():.2f} to "
            f"{ratio.max():.2f}); the target of at least {_SPEED_UP} is {verdict}. They spend {spent:.2f} "
            "times the processor time of one. Processor time of other programs is what the machine was busy "
            "with otherwise: where it comes near the total, there was no second core to be had.",
        ]
    )


def _startup(rows: pd.DataFrame) -> str:
    own = rows[rows["case"] == "start"]
    grouped = own.groupby("contestant", sort=False)["seconds"]
    lines = []
    for name, seconds in grouped:
        verdict = "met" if seconds.median() < _START else "**not met**"
        verdict = verdict if str(name).startswith("betabench") else ""
        lines.append([f"`{name}`", _seconds(seconds.median()), _seconds(seconds.min()), verdict])
    return "\n\n".join(
        [
            "### Start-up",
            f"Fresh processes, {grouped.count().min()} rounds. The target is a median under {_START} s.",
            table(["command", "median", "fastest", ""], lines, named=1),
        ]
    )


def _figure(rows: pd.DataFrame, cases: list[str]) -> Figure:
    from benchmark.figures.page import Page
    from benchmark.figures.style import line_style, styled

    with styled():
        page = Page(
            len(cases) + 1,
            3,
            panel=(2.3, 1.9),
            title="How time and memory grow",
            subtitle="Medians, both axes logarithmic. Dashed grey: linear growth from the total of the "
            "largest size. Last panel: peak memory of the process.",
            panel_titles=[*(f"{case.capitalize()}: seconds" for case in cases), "Peak memory: MiB"],
        )
        for case, axes in zip(cases, page.panels, strict=False):
            medians = _medians(rows, case)
            for number, (step, own) in enumerate(medians.groupby("contestant", sort=False)):
                style = (
                    {**line_style(number + 1), "color": "black"}
                    if step == "total"
                    else line_style(number + 1)
                )
                axes.plot(own["size"], own["seconds"], label=str(step), ms=3.5, **_thin(style))
            total = medians[medians["contestant"] == "total"]
            _reference(axes, total["size"], total["seconds"])
            axes.set_xlabel(_SIZES[case])
            axes.legend(fontsize=5.5, handlelength=2.4, labelspacing=0.25, borderaxespad=0.1)
        memory = page.panels[-1]
        for number, case in enumerate(cases):
            total = _medians(rows, case).query("contestant == 'total'")
            memory.plot(
                total["size"], total["bytes"] / 2**20, label=case, ms=3.5, **_thin(line_style(number + 1))
            )
        memory.set_xlabel("size, as in the other panels")
        memory.legend(fontsize=5.5, handlelength=2.4, labelspacing=0.25, borderaxespad=0.1)
        for axes, shown in zip(page.panels, [*cases, None], strict=True):
            own = rows[rows["case"].isin(cases if shown is None else [shown])]
            _logarithmic(axes, sorted(own["size"].unique()))
    return page.fit()


def _logarithmic(axes: Axes, sizes: list[float]) -> None:
    """Give axes logarithmic scales with ticks in plain numbers, those of sizes where they were measured."""
    from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks: list[float] = []
    apart = (sizes[-1] / sizes[0]) ** (1 / 7)  # leaves room for the labels
    for size in sizes:
        if not ticks or size >= apart * ticks[-1]:
            ticks.append(size)
    axes.set_xticks(ticks)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    low, high = axes.get_ylim()
    if high < 100 * low:  # one or two powers of ten are too few ticks
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _thin(style: dict[str, Any]) -> dict[str, Any]:
    return {**style, "linewidth": 1.1}


def _reference(axes: Axes, sizes: pd.Series, seconds: pd.Series) -> None:
    from benchmark.figures.style import GREY

    last_size, last = sizes.iloc[-1], seconds.iloc[-1]
    axes.plot(sizes, last * sizes / last_size, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)


def _seconds(value: float) -> str:
    if pd.isna(value):
        return ""
    return f"{value:.1f} s" if value >= 10 else f"{value:.2f} s" if value >= 1 else f"{value * 1000:.3g} ms"
